// atom and red. Blocks run on several host threads, so each update is also an atomic operation of the host.
#include "atomic.h"

#include "spaces.h"
#include "wide_atomic.h"

#include "../lanes/half.h"
#include "../machine/block.h"

#include <string.h>

static float as_float(uint64_t bits) {
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, 4);
    return value;
}

static double as_double(uint64_t bits) {
    double value;
    memcpy(&value, &bits, 8);
    return value;
}

// atom.add.f32 flushes subnormals on global memory, but not on shared memory (PTX ISA, atom).
static uint64_t add_float(uint64_t x, uint64_t y, bool flushes) {
    uint32_t one[LANES] = {(uint32_t)x}, two[LANES] = {(uint32_t)y}, sum[LANES];
    const struct lanes *lanes = lanes_table();
    (flushes ? lanes->add_ftz_f32 : lanes->add_f32)(sum, one, two, two, 0);
    return sum[0];
}

static uint64_t half_update(enum ptx_variant what, enum ptx_type type, uint64_t x, uint64_t y) {
    uint32_t one[LANES] = {(uint32_t)x}, two[LANES] = {(uint32_t)y}, result[LANES];
    const struct lanes *lanes = lanes_table();
    uint32_t how = (type == PTX_BF16 || type == PTX_BF16X2 ? HALF_BF16 : 0) |
                   (type == PTX_F16X2 || type == PTX_BF16X2 ? HALF_PAIR : 0);
    lane_operation *operation = what == PTX_V_MIN   ? lanes->half_min
                                : what == PTX_V_MAX ? lanes->half_max
                                                    : lanes->half_add;
    operation(result, one, two, two, how);
    return result[0];
}

// Returns a random number with mean `times`: with a constant one, work that is laid out in rows of that length would
// always be of one column.
static uint64_t randomized(uint64_t times, uint64_t old) {
    return times > 1 ? times / 2 + 1 + (old * 2654435761u >> 7) % times : times;
}

// times: the number of blocks that a counter's update represents, see execution/order.h.
static uint64_t updated(enum ptx_variant what, enum ptx_type t, uint64_t old, uint64_t b, uint64_t c, bool flushes,
                        uint64_t times) {
    times = randomized(times, old);
    bool narrow = type_bits(t) == 32;
    switch (what) {
    case PTX_V_EXCH:
        return b;
    case PTX_V_CAS:
        return old == b ? c : old;
    case PTX_V_AND:
        return old & b;
    case PTX_V_OR:
        return old | b;
    case PTX_V_XOR:
        return old ^ b;
    case PTX_V_INC:
        if (times > 1) // the limit does not apply if not all blocks reach the counter
            return old + times;
        return old >= b ? 0 : old + 1;
    case PTX_V_DEC:
        return old == 0 || old > b ? b : old - 1;
    default:
        break;
    }
    if (t == PTX_F16 || t == PTX_F16X2 || t == PTX_BF16 || t == PTX_BF16X2)
        return half_update(what, t, old, b);
    if (t == PTX_F32) {
        return what == PTX_V_ADD   ? add_float(old, b, flushes)
               : what == PTX_V_MIN ? (as_float(old) < as_float(b) ? old : b)
                                   : (as_float(old) > as_float(b) ? old : b);
    }
    if (t == PTX_F64) {
        // NaN operands are returned unchanged, not quieted; of two NaNs, the second one (measured on an H200).
        double x = as_double(old), y = as_double(b), sum = x + y;
        memcpy(&c, &sum, 8);
        return y != y ? b : x != x ? old : sum != sum ? 0xfff8000000000000u : c;
    }
    if (what == PTX_V_ADD)
        return old + b * times;
    bool less = !is_signed_type(t) ? old < b : narrow ? (int32_t)old < (int32_t)b : (int64_t)old < (int64_t)b;
    return less == (what == PTX_V_MIN) ? old : b;
}

// Updates one element and returns its old value; *changes: whether the value has changed.
static uint64_t update(uint8_t *where, enum ptx_variant what, enum ptx_type type, uint64_t b, uint64_t c, bool flushes,
                       bool *changes, uint64_t times) {
    if (type_bits(type) == 64) {
        uint64_t *word = (uint64_t *)(void *)where, old = __atomic_load_n(word, __ATOMIC_SEQ_CST), new;
        do
            new = updated(what, type, old, b, c, flushes, times);
        while (!__atomic_compare_exchange_n(word, &old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
        *changes |= new != old;
        return old;
    }
    if (type_bits(type) == 16) {
        uint16_t *word = (uint16_t *)(void *)where, old = __atomic_load_n(word, __ATOMIC_SEQ_CST), new;
        do
            new = (uint16_t)updated(what, type, old, b, c, flushes, times);
        while (!__atomic_compare_exchange_n(word, &old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
        *changes |= new != old;
        return old;
    }
    uint32_t *word = (uint32_t *)(void *)where, old = __atomic_load_n(word, __ATOMIC_SEQ_CST), new;
    do
        new = (uint32_t)updated(what, type, old, b, c, flushes, times);
    while (!__atomic_compare_exchange_n(word, &old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    *changes |= new != old;
    return old;
}

static uint64_t operand(const struct warp *warp, const struct bound *bound, operand_ref where, int lane) {
    return bound->width == 64 ? cells64(warp, where)[lane] : cells32(warp, where)[lane];
}

static void update_lanes(struct warp *warp, const struct bound *bound, const struct access *access, uint8_t *origin) {
    struct access filled = *access;
    bool flushes = access->space == PTX_GLOBAL, changes = false;
    uint64_t times = access->space == PTX_GLOBAL && access->kind == ACCESS_ATOMIC ? warp->run->represented_blocks : 1;
    access_fill(&filled);
    for (int k = 0; k < bound->vector; k++) {
        uint64_t wide[LANES] = {0};
        uint32_t narrow[LANES] = {0};
        for (uint32_t left = access->mask; left; left &= left - 1) {
            int lane = first_lane(left);
            uint64_t b = operand(warp, bound, bound->elements[k], lane);
            uint64_t c = bound->ptx->variant == PTX_V_CAS ? operand(warp, bound, bound->c, lane) : 0;
            wide[lane] = update(origin + filled.address[lane] + (unsigned)k * bound->bytes, bound->ptx->variant,
                                bound->ptx->type, b, c, flushes, &changes, times);
            narrow[lane] = (uint32_t)wide[lane];
        }
        operand_ref to = bound->elements[bound->vector + k];
        if (bound->width == 64)
            warp_write64(warp, to, wide, access->mask);
        else
            warp_write32(warp, to, narrow, access->mask);
    }
    warp->block->changed |= changes && access->space == PTX_GLOBAL;
}

// exch and cas of 128 bits. bound->elements: the halves of b, of the result, and of the value that cas stores.
static void exchange_lanes(struct warp *warp, const struct bound *bound, const struct access *access, uint8_t *origin) {
    struct access filled = *access;
    bool compares = bound->ptx->variant == PTX_V_CAS, changes = false;
    uint64_t result[2][LANES] = {0};
    access_fill(&filled);
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int lane = first_lane(left);
        uint64_t operands[3][2] = {0}, old[2];
        for (int k = 0; k < (compares ? 6 : 2); k++)
            if (k / 2 != 1)
                operands[k / 2][k % 2] = cells64(warp, bound->elements[k])[lane];
        changes |= wide_atomic_exchange(origin + filled.address[lane], operands[compares ? 2 : 0],
                                        compares ? operands[0] : NULL, old);
        result[0][lane] = old[0];
        result[1][lane] = old[1];
    }
    for (int k = 0; k < 2; k++)
        warp_write64(warp, bound->elements[2 + k], result[k], access->mask);
    warp->block->changed |= changes && access->space == PTX_GLOBAL;
}

void atomic_apply(uint8_t *to, const uint8_t *from, uint32_t bytes, enum ptx_variant what, enum ptx_type type,
                  bool flushes) {
    uint32_t size = (uint32_t)ptx_type_size(type);
    bool changes = false;
    for (uint32_t i = 0; i + size <= bytes; i += size) {
        uint64_t value = 0;
        memcpy(&value, from + i, size);
        update(to + i, what, type, value, 0, flushes, &changes, 1);
    }
}

// A loop of failed attempts must not run for long while the lane that it waits for is delayed.
#define ATTEMPT 64

enum step run_atomic(struct warp *warp, const struct bound *bound, uint32_t mask) {
    warp->turn_budget -= ATTEMPT;
    bool wide = bound->vector == 2 && bound->width == 64, before = warp->block->changed;
    warp->block->changed = false;
    enum step step = access_run(warp, bound, mask, bound->ptx->opcode == PTX_OP_RED ? ACCESS_REDUCTION : ACCESS_ATOMIC,
                                wide ? exchange_lanes : update_lanes);
    bool changed = warp->block->changed;
    warp->block->changed |= before;
    if (step != STEP_NEXT || !changed || !warp->block->pauses)
        return step;
    // A block that has taken a lock or raised a flag may stop there for long, while other blocks run.
    warp->block->pauses--;
    warp->block->paused = true;
    warp->block->polls += POLLS_A_TURN;
    warp->turn_budget = 0;
    warp->now->yielded = true;
    warp->now->pc++;
    return STEP_MOVED;
}
