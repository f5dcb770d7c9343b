// Values exchanged between the lanes of a warp: shfl, vote, match, redux, activemask, elect.
#include "../analyses/validity.h"
#include "../machine/warp.h"
#include "families.h"
#include "sync.h"

// The lane whose value a lane reads, by the rule of the PTX ISA; *valid: that lane is within the segment.
static int source_lane(enum ptx_variant how, int lane, uint32_t b, uint32_t c, bool *valid) {
    int step = b & 31, clamp = c & 31, segment = c >> 8 & 31;
    int most = (lane & segment) | (clamp & ~segment), least = lane & segment, from;
    switch (how) {
    case PTX_V_UP:
        from = lane - step;
        *valid = from >= most;
        break;
    case PTX_V_DOWN:
        from = lane + step;
        *valid = from <= most;
        break;
    case PTX_V_BFLY:
        from = lane ^ step;
        *valid = from <= most;
        break;
    default:
        from = least | (step & ~segment);
        *valid = from <= most;
    }
    return *valid ? from : lane;
}

static enum step run_shuffle(struct warp *warp, const struct bound *bound, uint32_t mask) {
    enum step step;
    operand_ref members = bound->elements[0];
    if (!sync_converge(warp, bound, &mask, members, &step))
        return step;
    const uint32_t *a = cells32(warp, bound->a), *b = cells32(warp, bound->b), *c = cells32(warp, bound->c);
    uint32_t result[LANES] = {0}, inside = 0;
    uint8_t source[LANES] = {0};
    for (uint32_t left = mask; left; left &= left - 1) {
        int lane = first_lane(left);
        bool valid;
        int from = source_lane(bound->ptx->variant, lane, b[lane], c[lane], &valid);
        if (!(mask >> from & 1)) {
            warp_report(warp, SIM_FINDING_INACTIVE_LANES, bound, NULL, lane,
                        "{op} reads the value of lane %d, which %s; the result is undefined", from,
                        warp->live >> from & 1 ? "does not execute the shuffle" : "has exited or does not exist");
        }
        result[lane] = a[from];
        source[lane] = (uint8_t)from;
        inside |= (uint32_t)valid << lane;
    }
    if (validity_holds_any(warp)) {
        if (bound->d != NO_OPERAND)
            validity_exchange(warp, bound->d, bound->a, source, mask);
        if (bound->elements[1] != NO_OPERAND)
            validity_exchange(warp, bound->elements[1], 1, source, mask); // the predicate is always valid
    }
    warp_write32(warp, bound->d, result, mask);
    warp_write_predicate(warp, bound->elements[1], inside, mask);
    return STEP_NEXT;
}

static uint32_t members_of(const struct warp *warp, operand_ref members, int lane, uint32_t mask) {
    return members == NO_OPERAND ? mask : cells32(warp, members)[lane] & mask;
}

static enum step run_vote(struct warp *warp, const struct bound *bound, uint32_t mask) {
    enum step step;
    if (bound->b != NO_OPERAND && !sync_converge(warp, bound, &mask, bound->b, &step))
        return step;
    uint32_t votes = *predicate(warp, bound->a) ^ (bound->ptx->src[0].negated ? ALL_LANES : 0);
    uint32_t ballot[LANES] = {0}, bits = 0;
    for (uint32_t left = mask; left; left &= left - 1) {
        int lane = first_lane(left);
        uint32_t members = members_of(warp, bound->b, lane, mask), yes = votes & members;
        bool holds = bound->ptx->variant == PTX_V_ALL   ? yes == members
                     : bound->ptx->variant == PTX_V_ANY ? yes != 0
                                                        : yes == 0 || yes == members;
        ballot[lane] = yes;
        bits |= (uint32_t)holds << lane;
    }
    if (bound->ptx->variant == PTX_V_BALLOT)
        warp_write32(warp, bound->d, ballot, mask);
    else
        warp_write_predicate(warp, bound->d, bits, mask);
    return STEP_NEXT;
}

static enum step run_match(struct warp *warp, const struct bound *bound, uint32_t mask) {
    enum step step;
    if (!sync_converge(warp, bound, &mask, bound->b, &step))
        return step;
    uint32_t result[LANES] = {0}, bits = 0;
    for (uint32_t left = mask; left; left &= left - 1) {
        int lane = first_lane(left);
        uint32_t members = members_of(warp, bound->b, lane, mask), equal = 0;
        for (uint32_t others = members; others; others &= others - 1) {
            int other = first_lane(others);
            bool same = bound->width == 64 ? cells64(warp, bound->a)[other] == cells64(warp, bound->a)[lane]
                                           : cells32(warp, bound->a)[other] == cells32(warp, bound->a)[lane];
            equal |= (uint32_t)same << other;
        }
        bool all = equal == members;
        result[lane] = bound->ptx->variant == PTX_V_ALL ? (all ? members : 0) : equal;
        bits |= (uint32_t)all << lane;
    }
    warp_write32(warp, bound->d, result, mask);
    warp_write_predicate(warp, bound->elements[1], bits, mask);
    return STEP_NEXT;
}

static uint32_t reduce(const struct ptx_instruction *ptx, uint32_t x, uint32_t y) {
    bool is_signed = is_signed_type(ptx->type);
    switch (ptx->variant) {
    case PTX_V_ADD:
        return x + y;
    case PTX_V_MIN:
        return is_signed ? ((int32_t)x < (int32_t)y ? x : y) : (x < y ? x : y);
    case PTX_V_MAX:
        return is_signed ? ((int32_t)x > (int32_t)y ? x : y) : (x > y ? x : y);
    case PTX_V_AND:
        return x & y;
    case PTX_V_OR:
        return x | y;
    default:
        return x ^ y;
    }
}

static enum step run_redux(struct warp *warp, const struct bound *bound, uint32_t mask) {
    enum step step;
    if (!sync_converge(warp, bound, &mask, bound->b, &step))
        return step;
    const uint32_t *value = cells32(warp, bound->a);
    uint32_t result[LANES] = {0};
    for (uint32_t left = mask; left; left &= left - 1) {
        int lane = first_lane(left);
        uint32_t members = members_of(warp, bound->b, lane, mask) | 1u << lane, sum = value[first_lane(members)];
        for (uint32_t others = members & (members - 1); others; others &= others - 1)
            sum = reduce(bound->ptx, sum, value[first_lane(others)]);
        result[lane] = sum;
    }
    warp_write32(warp, bound->d, result, mask);
    return STEP_NEXT;
}

static enum step run_activemask(struct warp *warp, const struct bound *bound, uint32_t mask) {
    uint32_t result[LANES];
    for (int i = 0; i < LANES; i++)
        result[i] = mask;
    warp_write32(warp, bound->d, result, mask);
    return STEP_NEXT;
}

static enum step run_elect(struct warp *warp, const struct bound *bound, uint32_t mask) {
    enum step step;
    if (!sync_converge(warp, bound, &mask, bound->b, &step))
        return step;
    uint32_t result[LANES] = {0}, bits = 0;
    for (uint32_t left = mask; left; left &= left - 1) {
        int lane = first_lane(left), leader = first_lane(members_of(warp, bound->b, lane, mask) | 1u << lane);
        result[lane] = (uint32_t)leader;
        bits |= (uint32_t)(leader == lane) << lane;
    }
    warp_write32(warp, bound->d, result, mask);
    warp_write_predicate(warp, bound->elements[1], bits, mask);
    return STEP_NEXT;
}

// Binds the common operands: both results, and the width of the values. elements[0] is for the mask.
static operand_ref *bind_exchange(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound,
                                  bound_run *run) {
    operand_ref *places = bind_allocate(binder, 2 * sizeof *places);
    if (!places)
        return NULL;
    bound->kind = BOUND_RUN;
    bound->run = run;
    bound->elements = places;
    places[1] = bind_result(binder, &ptx->dst[1]);
    bound->d = bind_result(binder, &ptx->dst[0]);
    bound->width = (uint8_t)type_bits(ptx->type);
    return places;
}

bool bind_shuffle(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    operand_ref *places = bind_exchange(binder, ptx, bound, run_shuffle);
    bound->a = bind_source(binder, &ptx->src[0], PTX_B32);
    bound->b = bind_source(binder, &ptx->src[1], PTX_B32);
    bound->c = bind_source(binder, &ptx->src[2], PTX_B32);
    if (places)
        places[0] = bind_source(binder, &ptx->src[3], PTX_B32);
    return bound->a != NO_OPERAND && bound->b != NO_OPERAND && bound->c != NO_OPERAND;
}

bool bind_vote(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    bind_exchange(binder, ptx, bound, run_vote);
    bound->a = bind_source(binder, &ptx->src[0], PTX_PRED);
    bound->b = bind_source(binder, &ptx->src[1], PTX_B32);
    return bound->a != NO_OPERAND;
}

bool bind_match(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    bind_exchange(binder, ptx, bound, run_match);
    bound->a = bind_source(binder, &ptx->src[0], ptx->type);
    bound->b = bind_source(binder, &ptx->src[1], PTX_B32);
    return bound->a != NO_OPERAND;
}

bool bind_redux(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    bind_exchange(binder, ptx, bound, run_redux);
    bound->a = bind_source(binder, &ptx->src[0], ptx->type);
    bound->b = bind_source(binder, &ptx->src[1], PTX_B32);
    return bound->a != NO_OPERAND && bound->width == 32 && ptx->type != PTX_F32;
}

bool bind_activemask(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    return bind_exchange(binder, ptx, bound, run_activemask);
}

bool bind_elect(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    bound->b = bind_source(binder, &ptx->src[0], PTX_B32);
    return bind_exchange(binder, ptx, bound, run_elect);
}
