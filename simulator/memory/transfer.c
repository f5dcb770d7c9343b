// ld and st: values between memory and registers.
#include "spaces.h"
#include "wide_atomic.h"

#include "../analyses/validity.h"

#include <string.h>

// Reads an element from memory and extends it to its register.
static uint64_t read_element(const uint8_t *bytes, const struct bound *bound) {
    uint64_t value = 0;
    memcpy(&value, bytes, bound->bytes);
    unsigned have = bound->bytes * 8u;
    if (bound->is_signed && have < 64 && value >> (have - 1) & 1)
        value |= ~0ull << have;
    return bound->width >= 64 ? value : value & ((1ull << bound->width) - 1);
}

static void write_value(struct warp *warp, operand_ref where, const uint64_t values[LANES], unsigned width,
                        uint32_t mask) {
    if (width > 32) {
        warp_write64(warp, where, values, mask);
        return;
    }
    uint32_t narrow[LANES];
    for (int i = 0; i < LANES; i++)
        narrow[i] = (uint32_t)values[i];
    warp_write32(warp, where, narrow, mask);
}

static bool is_whole(const struct bound *bound, const struct access *access) {
    return bound->is_volatile && bound->vector > 1 && access->space == PTX_GLOBAL;
}

static void load_whole(struct warp *warp, const struct bound *bound, const struct access *access, uint8_t *origin) {
    struct access filled = *access;
    uint64_t values[8][LANES] = {0};
    access_fill(&filled);
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int lane = first_lane(left);
        uint8_t element[32], *from = origin + filled.address[lane];
        wide_atomic_copy(element, from, from, access->bytes);
        for (int k = 0; k < bound->vector; k++)
            values[k][lane] = read_element(element + k * bound->bytes, bound);
    }
    for (int k = 0; k < bound->vector; k++)
        write_value(warp, bound->elements[k], values[k], bound->width, access->mask);
}

static void load_any(struct warp *warp, const struct bound *bound, const struct access *access, uint8_t *origin) {
    struct access filled = *access;
    access_fill(&filled);
    for (int k = 0; k < bound->vector; k++) {
        uint64_t values[LANES] = {0};
        for (uint32_t left = access->mask; left; left &= left - 1) {
            int lane = first_lane(left);
            values[lane] = read_element(origin + filled.address[lane] + (unsigned)k * bound->bytes, bound);
        }
        write_value(warp, bound->elements[k], values, bound->width, access->mask);
    }
}

// All lanes load the same value: read it once.
static void load_uniform(struct warp *warp, const struct bound *bound, const struct access *access, uint8_t *origin) {
    for (int k = 0; k < bound->vector; k++) {
        operand_ref where = bound->elements[k];
        uint64_t value = read_element(origin + access->span.low + (unsigned)k * bound->bytes, bound);
        if (where == NO_OPERAND)
            continue;
        if (bound->width > 32) {
            uint64_t wide[LANES];
            uint64_t *to = access->mask == ALL_LANES ? cells64(warp, where) : wide;
            for (int i = 0; i < LANES; i++)
                to[i] = value;
            if (to == wide)
                warp_write64(warp, where, wide, access->mask);
        } else {
            uint32_t narrow[LANES];
            uint32_t *to = access->mask == ALL_LANES ? cells32(warp, where) : narrow;
            for (int i = 0; i < LANES; i++)
                to[i] = (uint32_t)value;
            if (to == narrow)
                warp_write32(warp, where, narrow, access->mask);
        }
    }
}

// 32-bit elements into 32-bit registers, all lanes: the case of nearly every load.
static inline __attribute__((always_inline)) void load_words(struct warp *warp, const struct bound *bound,
                                                             const struct access *access, const uint8_t *origin,
                                                             int vector) {
    uint32_t values[4][LANES];
    if (access->span.pattern == LANES_CONTIGUOUS) {
        const uint8_t *from = origin + access->span.low;
        if (vector == 1 && bound->elements[0] != NO_OPERAND) {
            memcpy(operand_data(warp, bound->elements[0]), from, 4 * LANES);
            return;
        }
        for (int i = 0; i < LANES; i++)
            for (int k = 0; k < vector; k++)
                memcpy(&values[k][i], from + 4 * (i * vector + k), 4);
    } else {
        for (int i = 0; i < LANES; i++) {
            const uint8_t *from = origin + access->address[i];
            for (int k = 0; k < vector; k++)
                memcpy(&values[k][i], from + 4 * k, 4);
        }
    }
    for (int k = 0; k < vector; k++)
        if (bound->elements[k] != NO_OPERAND)
            memcpy(operand_data(warp, bound->elements[k]), values[k], 4 * LANES);
}

static void load_values(struct warp *warp, const struct bound *bound, const struct access *access, uint8_t *origin) {
    if (is_whole(bound, access)) {
        load_whole(warp, bound, access, origin);
    } else if (access->span.pattern == LANES_UNIFORM) {
        load_uniform(warp, bound, access, origin);
    } else if (access->mask == ALL_LANES && bound->bytes == 4 && bound->width == 32) {
        switch (bound->vector) {
        case 1:
            load_words(warp, bound, access, origin, 1);
            break;
        case 2:
            load_words(warp, bound, access, origin, 2);
            break;
        case 4:
            load_words(warp, bound, access, origin, 4);
            break;
        default:
            load_any(warp, bound, access, origin);
        }
    } else {
        load_any(warp, bound, access, origin);
    }
}

static void load(struct warp *warp, const struct bound *bound, const struct access *access, uint8_t *origin) {
    load_values(warp, bound, access, origin);
    if (warp->read_uninitialized)
        validity_load(warp, bound, access);
}

static void store_values(struct warp *warp, const struct bound *bound, const struct access *access, uint8_t *origin) {
    if (access->span.pattern == LANES_CONTIGUOUS && bound->vector == 1 && bound->bytes == 4 && bound->width == 32) {
        memcpy(origin + access->span.low, operand_data(warp, bound->elements[0]), 4 * LANES);
        return;
    }
    struct access filled = *access;
    access_fill(&filled);
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int lane = first_lane(left);
        uint8_t *to = origin + filled.address[lane], whole[32], *each = is_whole(bound, access) ? whole : to;
        for (int k = 0; k < bound->vector; k++) {
            const void *from = bound->width > 32 ? (const void *)&cells64(warp, bound->elements[k])[lane]
                                                 : (const void *)&cells32(warp, bound->elements[k])[lane];
            memcpy(each + (unsigned)k * bound->bytes, from, bound->bytes);
        }
        if (each == whole)
            wide_atomic_copy(to, whole, to, access->bytes);
    }
}

static void store(struct warp *warp, const struct bound *bound, const struct access *access, uint8_t *origin) {
    store_values(warp, bound, access, origin);
    if (validity_holds_any(warp))
        validity_store(warp, bound, access);
}

enum step run_load(struct warp *warp, const struct bound *bound, uint32_t mask) {
    bool held = validity_holds_any(warp);
    enum step step = access_run(warp, bound, mask, ACCESS_LOAD, load);
    if (step != STEP_NEXT || held == validity_holds_any(warp))
        return step;
    warp->now->pc++; // from here on the interpreter tracks the uninitialized value
    return STEP_MOVED;
}

enum step run_store(struct warp *warp, const struct bound *bound, uint32_t mask) {
    return access_run(warp, bound, mask, ACCESS_STORE, store);
}
