// Chooses the build of the lane operations that fits this host.
#include "lanes.h"

#include "table.h"

#include <stdlib.h>
#include <string.h>

const struct lanes *lanes_table(void) {
#if defined(__x86_64__)
    const char *wanted = getenv("SIMULATOR_LANES");
    bool generic = wanted && strcmp(wanted, "generic") == 0;
    if (!generic && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &lanes_avx2;
#endif
    return &lanes_generic;
}
