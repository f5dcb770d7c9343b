#include "overlap.h"

#include "trace.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_ullong counts[OVERLAP_KINDS];

void overlap_count(enum overlap kind) {
    if (trace_mode() != TRACE_OFF)
        atomic_fetch_add(&counts[kind], 1);
}

bool overlap_write(void) {
    static const char *const name[OVERLAP_KINDS] = {"mma.sync with cp.async in flight",
                                                    "waits that leave wgmma in flight", "turns at named barriers"};
    const char *path = getenv("SIMULATOR_OVERLAP_CSV");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file)
        return !path;
    fprintf(file, "what,count\n");
    for (int kind = 0; kind < OVERLAP_KINDS; kind++)
        fprintf(file, "%s,%llu\n", name[kind], (unsigned long long)atomic_load(&counts[kind]));
    const bool failed = ferror(file);
    return fclose(file) == 0 && !failed;
}
