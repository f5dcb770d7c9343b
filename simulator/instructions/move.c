// Moves that are not plain copies: see move.h.
#include "move.h"

#include "../machine/cluster.h"
#include "../memory/spaces.h"

#include <time.h>

bool special_changes(enum ptx_special special) {
    return special >= PTX_CLOCK && special <= PTX_GLOBALTIMER_HI;
}

// mov.b64 {lo, hi}, a and the reverse. bound->elements: the parts; bytes: the width of one.
static enum step run_pack(struct warp *warp, const struct bound *bound, uint32_t mask) {
    uint64_t joined[LANES] = {0};
    for (int k = 0; k < bound->vector; k++) {
        for (int i = 0; i < LANES; i++) {
            uint64_t part =
                bound->bytes > 4 ? cells64(warp, bound->elements[k])[i] : cells32(warp, bound->elements[k])[i];
            joined[i] |= part << (8 * bound->bytes * k & 63);
        }
    }
    if (bound->width == 64) {
        warp_write64(warp, bound->d, joined, mask);
        return STEP_NEXT;
    }
    uint32_t narrow[LANES];
    for (int i = 0; i < LANES; i++)
        narrow[i] = (uint32_t)joined[i];
    warp_write32(warp, bound->d, narrow, mask);
    return STEP_NEXT;
}

static enum step run_unpack(struct warp *warp, const struct bound *bound, uint32_t mask) {
    uint64_t whole[LANES];
    for (int i = 0; i < LANES; i++)
        whole[i] = bound->width == 64 ? cells64(warp, bound->a)[i] : cells32(warp, bound->a)[i];
    for (int k = 0; k < bound->vector; k++) {
        uint32_t part[LANES];
        for (int i = 0; i < LANES; i++) {
            part[i] =
                (uint32_t)(whole[i] >> 8 * bound->bytes * k) & (bound->bytes == 4 ? ~0u : (1u << 8 * bound->bytes) - 1);
        }
        warp_write32(warp, bound->elements[k], part, mask);
    }
    return STEP_NEXT;
}

// mov.b128: to halves or quarters from halves or quarters.
static enum step run_halves(struct warp *warp, const struct bound *bound, uint32_t mask) {
    const struct ptx_operand *to = &bound->ptx->dst[0], *from = &bound->ptx->src[0];
    uint64_t half[2][LANES];
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < LANES; i++) {
            half[k][i] = from->count == 2 ? cells64(warp, bound->elements[k])[i]
                                          : cells32(warp, bound->elements[2 * k])[i] |
                                                (uint64_t)cells32(warp, bound->elements[2 * k + 1])[i] << 32;
        }
    }
    for (int k = 0; k < to->count; k++) {
        operand_ref where = bound->elements[from->count + k];
        uint32_t quarter[LANES];
        if (to->count == 2) {
            warp_write64(warp, where, half[k], mask);
            continue;
        }
        for (int i = 0; i < LANES; i++)
            quarter[i] = (uint32_t)(half[k / 2][i] >> (k % 2 ? 32 : 0));
        warp_write32(warp, where, quarter, mask);
    }
    return STEP_NEXT;
}

static bool bind_halves(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    const struct ptx_operand *to = &ptx->dst[0], *from = &ptx->src[0];
    operand_ref *places = bind_allocate(binder, (size_t)(to->count + from->count) * sizeof *places);
    bound->kind = BOUND_RUN;
    bound->run = run_halves;
    bound->space = PTX_PARAM; // not an access, as in bind_pack
    bound->elements = places;
    for (int i = 0; places && i < from->count; i++)
        if ((places[i] = bind_source(binder, &from->elements[i], from->count == 2 ? PTX_B64 : PTX_B32)) == NO_OPERAND)
            return false;
    for (int i = 0; places && i < to->count; i++)
        places[from->count + i] = bind_result(binder, &to->elements[i]);
    return true;
}

bool bind_pack(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    bool packs = ptx->src[0].kind == PTX_OPERAND_VECTOR;
    const struct ptx_operand *vector = packs ? &ptx->src[0] : &ptx->dst[0];
    int bits = type_bits(ptx->type);
    if (bits == 128)
        return bind_halves(binder, ptx, bound);
    if ((bits != 16 && bits != 32 && bits != 64) || vector->count < 1 || bits / vector->count < 8 ||
        bits / vector->count > 32)
        return false;
    bound->kind = BOUND_RUN;
    bound->vector = (uint8_t)vector->count;
    bound->width = (uint8_t)bits;
    bound->run = packs ? run_pack : run_unpack;
    enum ptx_type part = bits / vector->count == 32 ? PTX_B32 : bits / vector->count == 16 ? PTX_B16 : PTX_B8;
    bound->bytes = (uint8_t)ptx_type_size(part);
    bound->elements = bind_operands(binder, vector, part, !packs);
    bound->space = PTX_PARAM; // not an access: keeps it out of shared memory's shadow
    bound->d = packs ? bind_result(binder, &ptx->dst[0]) : NO_OPERAND;
    bound->a = packs ? 0 : bind_source(binder, &ptx->src[0], ptx->type);
    return bound->a != NO_OPERAND;
}

static uint64_t nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

// The clock of a simulated SM counts the instructions of its warp: it increases, and has no other meaning. globaltimer
// is the host's time.
static enum step run_clock(struct warp *warp, const struct bound *bound, uint32_t mask) {
    uint64_t clock = warp->run->lane_instructions + warp->lane_instructions + (warp->ticks += 4), value = clock;
    enum ptx_special special = bound->ptx->src[0].special;
    uint64_t wide[LANES];
    uint32_t narrow[LANES];
    if (special >= PTX_GLOBALTIMER)
        value = nanoseconds();
    if (special == PTX_CLOCK_HI || special == PTX_GLOBALTIMER_HI)
        value >>= 32;
    for (int i = 0; i < LANES; i++) {
        wide[i] = value;
        narrow[i] = (uint32_t)value;
    }
    if (bound->result_cell == 8)
        warp_write64(warp, bound->d, wide, mask);
    else
        warp_write32(warp, bound->d, narrow, mask);
    return STEP_NEXT;
}

bool bind_clock(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    bound->kind = BOUND_RUN;
    bound->run = run_clock;
    bound->d = bind_result(binder, &ptx->dst[0]);
    bound->result_cell = is_64_bit(ptx->dst[0].reg_type) ? 8 : 4;
    return bound->d != NO_OPERAND;
}

// A recursive function has its local variables at each call depth.
static enum step run_local_address(struct warp *warp, const struct bound *bound, uint32_t mask) {
    uint64_t value = (uint64_t)bound->offset + (uint64_t)warp->now->depth * warp->run->kernel->ptx->local_bytes;
    uint64_t wide[LANES];
    for (int i = 0; i < LANES; i++)
        wide[i] = value;
    warp_write64(warp, bound->d, wide, mask);
    return STEP_NEXT;
}

bool bind_local_address(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    bound->kind = BOUND_RUN;
    bound->run = run_local_address;
    bound->offset = ptx->src[0].offset;
    bound->d = bind_result(binder, &ptx->dst[0]);
    return bound->d != NO_OPERAND && is_64_bit(ptx->type);
}

static uint64_t window_of(enum ptx_space space) {
    return space == PTX_SHARED  ? SIM_SHARED_WINDOW
           : space == PTX_LOCAL ? SIM_LOCAL_WINDOW
           : space == PTX_PARAM ? PARAM_WINDOW
                                : 0;
}

// A generic address is the offset in its space plus the space's window; global addresses are already generic.
bool bind_cvta(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    enum ptx_type t = ptx->type;
    const struct lanes *l = binder->lanes;
    uint64_t window = window_of(ptx->space);
    if (!is_64_bit(t))
        return false;
    if (!window)
        return bind_lanes(binder, bound, l->mov_b64, t, t, PTX_NO_TYPE, PTX_NO_TYPE);
    bool to = ptx->flags & PTX_TO;
    if (!bind_lanes(binder, bound, to ? l->and_b64 : l->or_b64, t, t, PTX_NO_TYPE, PTX_NO_TYPE))
        return false;
    bound->b = bind_constant(binder, to ? ~WINDOW_MASK : window, PTX_B64);
    return true;
}

static enum step run_isspacep(struct warp *warp, const struct bound *bound, uint32_t mask) {
    const uint64_t *address = cells64(warp, bound->a);
    uint64_t window = (uint64_t)bound->offset;
    bool own_only = window == SIM_SHARED_WINDOW && !bound->ptx->in_cluster;
    uint32_t bits = 0;
    for (int i = 0; i < LANES; i++) {
        uint64_t own = address[i] & WINDOW_MASK;
        bool other = own == SIM_SHARED_WINDOW || own == SIM_LOCAL_WINDOW || own == PARAM_WINDOW;
        bool inside = !own_only || cluster_block_of(warp->block, address[i] & ~WINDOW_MASK) == warp->block;
        bits |= (uint32_t)(window ? own == window && inside : !other) << i;
    }
    warp_write_predicate(warp, bound->d, bits, mask);
    return STEP_NEXT;
}

bool bind_isspacep(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    bound->kind = BOUND_RUN;
    bound->run = run_isspacep;
    bound->offset = (int64_t)window_of(ptx->space);
    bound->a = bind_source(binder, &ptx->src[0], PTX_U64);
    bound->d = bind_result(binder, &ptx->dst[0]);
    return bound->a != NO_OPERAND && bound->d != NO_OPERAND && ptx->src[0].reg_type != PTX_B32 &&
           ptx->src[0].reg_type != PTX_U32;
}
