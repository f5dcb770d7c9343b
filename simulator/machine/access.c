#include "access.h"

void access_fill(struct access *access) {
    if (access->span.pattern != LANES_SCATTERED) {
        uint64_t step = access->span.pattern == LANES_CONTIGUOUS ? access->bytes : 0;
        for (uint64_t i = 0; i < LANES; i++)
            access->address[i] = access->span.low + i * step;
    }
}
