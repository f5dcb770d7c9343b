// Operations of memory instructions on all 32 lanes.
#include "build.h"
#include "table.h"

struct lane_span LANE(span32)(const uint32_t address[LANES], uint32_t bytes) {
    uint32_t first = address[0], low = first, high = first, unaligned = 0, step = 0, apart = 0;
    for (uint32_t i = 0; i < LANES; i++) {
        uint32_t a = address[i];
        low = a < low ? a : low;
        high = a > high ? a : high;
        unaligned |= a;
        apart |= a ^ first;
        step |= a ^ (first + i * bytes);
    }
    return (struct lane_span){low, high, unaligned & (bytes - 1),
                              step == 0    ? LANES_CONTIGUOUS
                              : apart == 0 ? LANES_UNIFORM
                                           : LANES_SCATTERED};
}

// Addresses are below 2^63, so that signed comparison, which the host supports for vectors, orders them.
struct lane_span LANE(span64)(const uint64_t address[LANES], uint32_t bytes) {
    uint64_t first = address[0], unaligned = 0, step = 0, apart = 0;
    for (uint64_t i = 0; i < LANES; i++) {
        uint64_t a = address[i];
        unaligned |= a;
        apart |= a ^ first;
        step |= a ^ (first + i * bytes);
    }
    uint32_t low_bits = (uint32_t)unaligned & (bytes - 1);
    if (step == 0)
        return (struct lane_span){first, first + (LANES - 1) * bytes, low_bits, LANES_CONTIGUOUS};
    if (apart == 0)
        return (struct lane_span){first, first, low_bits, LANES_UNIFORM};
    int64_t low = (int64_t)first, high = (int64_t)first;
    for (int i = 0; i < LANES; i++) {
        int64_t a = (int64_t)address[i];
        low = a < low ? a : low;
        high = a > high ? a : high;
    }
    return (struct lane_span){(uint64_t)low, (uint64_t)high, low_bits, LANES_SCATTERED};
}

void LANE(offset32)(uint32_t d[LANES], const uint32_t *a, uint32_t offset) {
    EACH_LANE {
        d[i] = a[i] + offset;
    }
}

uint32_t LANE(equal64)(const uint64_t a[LANES], uint64_t value) {
    uint32_t equal = 0;
    for (int i = 0; i < LANES; i++)
        equal |= (uint32_t)(a[i] == value) << i;
    return equal;
}

void LANE(offset64)(uint64_t d[LANES], const uint64_t *a, uint64_t offset) {
    EACH_LANE {
        d[i] = a[i] + offset;
    }
}

void LANE(blend32)(uint32_t *d, const uint32_t *s, uint32_t mask) {
    EACH_LANE {
        d[i] = CHOSEN32(s[i], d[i], mask, i);
    }
}

void LANE(blend64)(uint64_t *d, const uint64_t *s, uint32_t mask) {
    EACH_LANE {
        d[i] = CHOSEN64(s[i], d[i], mask, i);
    }
}
