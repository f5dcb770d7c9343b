#include "access.h"

#include "warp.h"

#include <string.h>

void access_fill(struct access *access) {
    if (access->span.pattern != LANES_SCATTERED) {
        uint64_t step = access->span.pattern == LANES_CONTIGUOUS ? access->bytes : 0;
        for (uint64_t i = 0; i < LANES; i++)
            access->address[i] = access->span.low + i * step;
    }
}

const char *access_kind_name(enum access_kind kind) {
    switch (kind) {
    case ACCESS_LOAD:
        return "load";
    case ACCESS_STORE:
        return "store";
    case ACCESS_ATOMIC:
        return "atomic";
    case ACCESS_REDUCTION:
        return "reduction";
    case ACCESS_ASYNC_COPY:
        return "async copy";
    case ACCESS_MATRIX_LOAD:
        return "matrix load";
    case ACCESS_MATRIX_STORE:
        return "matrix store";
    case ACCESS_BULK_LOAD:
        return "bulk load";
    case ACCESS_BULK_REDUCTION:
        return "bulk reduction";
    case ACCESS_BULK_STORE:
        return "bulk store";
    }
    return "";
}

void access_copy(const struct access *access, uint8_t *origin, uint8_t *lanes, size_t stride, bool to_lanes) {
    struct access filled = *access;
    access_fill(&filled);
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int lane = first_lane(left);
        uint8_t *memory = origin + filled.address[lane], *own = lanes + (size_t)lane * stride;
        memcpy(to_lanes ? own : memory, to_lanes ? memory : own, access->bytes);
    }
}
