// SIMULATOR_STATUS=n: a process that would exit with 0 exits with n if the simulator reported a finding, the program
// made an unsupported call, or a launch failed and the program did not check its error.
//
// The library registers its exit handler when it is loaded, before main(), because exit handlers run in reverse order:
// all handlers of the program have run before it.
#include "api.h"

#include "../analyses/host_access.h"
#include "../simulator.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int failure_status;

static void replace_exit_status(int status, void *unused) {
    (void)unused;
    host_access_report();
    unsigned findings = simulator_findings();
    char counted[64];
    snprintf(counted, sizeof counted, "%u finding%s reported", findings, findings == 1 ? " was" : "s were");
    const char *reason = findings                           ? counted
                         : api_has_unsupported_call()       ? "an unsupported call was made"
                         : api_has_unchecked_launch_error() ? "a launch failed and its error was not checked"
                                                            : NULL;
    if (status != 0 || !reason)
        return;
    fflush(NULL);
    fprintf(stderr, "simulator: the program exited with status 0, but %s (above): exit status %d\n", reason,
            failure_status);
    _exit(failure_status);
}

__attribute__((constructor)) static void read_failure_status(void) {
    const char *text = getenv("SIMULATOR_STATUS");
    char *rest;
    long value = text ? strtol(text, &rest, 10) : 0;
    if (!text || !*text)
        return;
    if (*rest || value < 0 || value > 255)
        fprintf(stderr, "simulator: invalid SIMULATOR_STATUS=%s: an exit status is 0 to 255\n", text);
    else if (value > 0 && on_exit(replace_exit_status, NULL) == 0)
        failure_status = (int)value;
}
