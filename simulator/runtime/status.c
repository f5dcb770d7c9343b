// SIMULATOR_STATUS=n: a process that would end with 0 ends with n where the simulator has something against that: a
// finding, a call that it lacks, or a launch that failed and whose error nobody has asked for.
//
// The handler is registered when the library is loaded, before main(), so that it runs after all that the program
// registers.
#include "api.h"

#include "../simulator.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int wanted;

static void end(int status, void *unused) {
    (void)unused;
    unsigned findings = simulator_findings();
    char counted[64];
    snprintf(counted, sizeof counted, "%s%u finding%s", findings == 1 ? "was " : "were ", findings,
             findings == 1 ? "" : "s");
    const char *what = findings        ? counted
                       : api_lacked()  ? "was a call that the simulator lacks"
                       : api_unasked() ? "was a launch that failed, and nothing asked for its error"
                                       : NULL;
    if (status != 0 || !what)
        return;
    fflush(NULL);
    fprintf(stderr, "simulator: the program ends with status 0, but there %s (above): status %d\n", what, wanted);
    _exit(wanted);
}

__attribute__((constructor)) static void begin(void) {
    const char *text = getenv("SIMULATOR_STATUS");
    char *rest;
    long value = text ? strtol(text, &rest, 10) : 0;
    if (!text || !*text)
        return;
    if (*rest || value < 0 || value > 255)
        fprintf(stderr, "simulator: SIMULATOR_STATUS=%s is no exit status; it is 0 to 255\n", text);
    else if (value > 0 && on_exit(end, NULL) == 0)
        wanted = (int)value;
}
