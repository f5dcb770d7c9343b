// Matrices distributed over the registers of a warp: ldmatrix, stmatrix, movmatrix, mma.
#include "families.h"

#include "../lanes/fragment.h"
#include "../memory/async.h"
#include "../memory/spaces.h"
#include "../traffic/overlap.h"
#include "matrix.h"
#include "sync.h"

#include <string.h>

// Lane 8 m + i provides the address of row i of matrix m.
static void load_matrices(struct warp *warp, const struct bound *bound, const struct access *access, uint8_t *origin) {
    struct access filled = *access;
    access_fill(&filled);
    for (int m = 0; m < bound->vector; m++) {
        uint32_t values[LANES] = {0};
        for (int lane = 0; lane < LANES; lane++) {
            for (int half = 0; half < 2; half++) {
                struct fragment_element of = fragment_m(lane, half, bound->ptx->flags & PTX_TRANS);
                uint16_t element;
                memcpy(&element, origin + filled.address[8 * m + of.row] + 2 * of.column, 2);
                values[lane] |= (uint32_t)element << 16 * half;
            }
        }
        warp_write32(warp, bound->elements[m], values, ALL_LANES);
    }
}

static void store_matrices(struct warp *warp, const struct bound *bound, const struct access *access, uint8_t *origin) {
    struct access filled = *access;
    access_fill(&filled);
    for (int m = 0; m < bound->vector; m++) {
        const uint32_t *values = cells32(warp, bound->elements[m]);
        for (int lane = 0; lane < LANES; lane++) {
            for (int half = 0; half < 2; half++) {
                struct fragment_element of = fragment_m(lane, half, bound->ptx->flags & PTX_TRANS);
                uint16_t element = (uint16_t)(values[lane] >> 16 * half);
                memcpy(origin + filled.address[8 * m + of.row] + 2 * of.column, &element, 2);
            }
        }
    }
}

static enum step run_move_matrices(struct warp *warp, const struct bound *bound, uint32_t mask) {
    enum step step;
    if (!sync_whole_warp(warp, bound, mask, &step))
        return step;
    bool loads = bound->ptx->opcode == PTX_OP_LDMATRIX;
    struct access access = {
        .space = (enum ptx_space)bound->space,
        .kind = loads ? ACCESS_MATRIX_LOAD : ACCESS_MATRIX_STORE,
        .mask = bound->vector == 4 ? ALL_LANES : (1u << 8 * bound->vector) - 1,
        .bytes = 16, // a row
    };
    access_find(warp, &access, bound->a, bound->address_cell, bound->offset);
    step = access_check_alignment(warp, bound, &access);
    return step == STEP_NEXT ? access_run_at(warp, bound, &access, loads ? load_matrices : store_matrices) : step;
}

static enum step run_movmatrix(struct warp *warp, const struct bound *bound, uint32_t mask) {
    enum step step;
    if (!sync_whole_warp(warp, bound, mask, &step))
        return step;
    const uint32_t *from = cells32(warp, bound->a);
    uint32_t values[LANES] = {0};
    for (int lane = 0; lane < LANES; lane++) {
        for (int half = 0; half < 2; half++) {
            struct fragment_element of = fragment_m(lane, half, true);
            values[lane] |= (from[4 * of.row + of.column / 2] >> 16 * (of.column % 2) & 0xffff) << 16 * half;
        }
    }
    warp_write32(warp, bound->d, values, ALL_LANES);
    return STEP_NEXT;
}

// bound->elements: D, A, B, C, four operands each.
static enum step run_mma(struct warp *warp, const struct bound *bound, uint32_t mask) {
    static const uint32_t nothing[LANES]; // the lower half of m8n8k
    enum step step;
    uint32_t result[4][LANES];
    uint32_t *const d[4] = {result[0], result[1], result[2], result[3]};
    const uint32_t *operand[3][4];
    const struct lane_mma *what = operand_data(warp, bound->b);
    if (!sync_whole_warp(warp, bound, mask, &step))
        return step;
    if (async_in_flight(warp->block, warp->index))
        overlap_count(OVERLAP_CP_ASYNC);
    for (int i = 0; i < 12; i++) {
        operand_ref where = bound->elements[4 + i];
        operand[i / 4][i % 4] = where == NO_OPERAND ? nothing : cells32(warp, where);
    }
    if (what->element >= ELEMENT_S4)
        warp->lanes->mma_each(what, d, operand[0], operand[1], operand[2], NULL);
    else
        warp->lanes->mma(what, d, operand[0], operand[1], operand[2]);
    for (int i = 0; i < bound->vector; i++)
        warp_write32(warp, bound->elements[i], result[i], ALL_LANES);
    return STEP_NEXT;
}

bool bind_fragment(struct binder *binder, const struct ptx_operand *operand, operand_ref places[4], bool result) {
    int count = operand->kind == PTX_OPERAND_VECTOR ? operand->count : 1;
    for (int i = 0; i < 4; i++) {
        const struct ptx_operand *one =
            operand->kind == PTX_OPERAND_VECTOR && i < count ? &operand->elements[i] : operand;
        places[i] = i >= count ? NO_OPERAND : result ? bind_result(binder, one) : bind_source(binder, one, PTX_B32);
        if (!result && i < count && places[i] == NO_OPERAND)
            return false;
    }
    return count <= 4;
}

enum lane_element matrix_element(enum ptx_type type) {
    switch (type) {
    case PTX_F16:
        return ELEMENT_F16;
    case PTX_BF16:
        return ELEMENT_BF16;
    case PTX_E4M3:
        return ELEMENT_E4M3;
    case PTX_E5M2:
        return ELEMENT_E5M2;
    case PTX_S8:
        return ELEMENT_S8;
    case PTX_U8:
        return ELEMENT_U8;
    case PTX_S4:
        return ELEMENT_S4;
    case PTX_U4:
        return ELEMENT_U4;
    case PTX_B1:
        return ELEMENT_B1;
    default:
        return ELEMENT_TF32;
    }
}

bool bind_mma(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    if (ptx->mma_type[1] == PTX_F64)
        return bind_mma_double(binder, ptx, bound);
    operand_ref *places = bind_allocate(binder, 16 * sizeof *places);
    struct lane_mma what = {
        .element = matrix_element(ptx->mma_type[1]),
        .element_b = matrix_element(ptx->mma_type[2]),
        .k = ptx->shape[2],
        .half_sum = ptx->mma_type[0] == PTX_F16,
        .saturates = ptx->flags & PTX_SAT,
        .exclusive = ptx->variant == PTX_V_XOR,
    };
    if (!places)
        return false;
    bound->kind = BOUND_RUN;
    bound->run = run_mma;
    bound->b = bind_data(binder, &what, sizeof what);
    bound->vector = what.half_sum || ptx->shape[0] == 8 ? 2 : 4;
    bound->elements = places;
    return bind_fragment(binder, &ptx->dst[0], places, true) &&
           bind_fragment(binder, &ptx->src[0], places + 4, false) &&
           bind_fragment(binder, &ptx->src[1], places + 8, false) &&
           bind_fragment(binder, &ptx->src[2], places + 12, false);
}

bool bind_move_matrices(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    bool loads = ptx->opcode == PTX_OP_LDMATRIX;
    const struct ptx_operand *address = &ptx->src[0], *data = loads ? &ptx->dst[0] : &ptx->src[1];
    bound->kind = BOUND_RUN;
    bound->run = run_move_matrices;
    bound->vector = (uint8_t)(data->kind == PTX_OPERAND_VECTOR ? data->count : 1);
    bound->elements = bind_operands(binder, data, PTX_B32, loads);
    bound->space = (uint8_t)ptx->space;
    bound->bytes = 16;
    bound->offset = address->offset;
    if (address->kind != PTX_OPERAND_ADDRESS || address->variable >= 0 || ptx->type != PTX_B16 || ptx->shape[0] != 8)
        return false;
    if (address->slot >= 0) {
        bound->a = bind_register(binder, address->slot);
        bound->address_cell = is_64_bit(address->reg_type) ? 8 : 4;
    }
    return bound->vector == 1 || bound->vector == 2 || bound->vector == 4;
}

bool bind_movmatrix(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    bound->kind = BOUND_RUN;
    bound->run = run_movmatrix;
    bound->d = bind_result(binder, &ptx->dst[0]);
    bound->a = bind_source(binder, &ptx->src[0], PTX_B32);
    return bound->a != NO_OPERAND;
}
