// mma.sp: A stores half of the elements of its rows; the metadata, a register of some lanes, has their indices (PTX
// ISA, "Sparse matrix storage"). Undefined metadata is reported: two equal indices, indices that are not in order
// although .sp::ordered_metadata requires it, or for tf32 other values than 0b0100 and 0b1110.
#include "families.h"

#include "../machine/warp.h"
#include "matrix.h"
#include "sync.h"

static bool is_defined(uint32_t places, bool tf32, bool ordered) {
    uint32_t first = places & 3, second = places >> 2;
    if (tf32)
        return places == 4 || places == 14;
    return ordered ? first < second : first != second;
}

static void check_metadata(struct warp *warp, const struct bound *bound, const struct lane_mma *what,
                           const uint32_t *metadata) {
    const bool ordered = bound->ptx->opcode == PTX_OP_MMA_SP_ORDERED;
    const int lanes = lane_mma_metadata_lanes(what);
    for (int lane = 0; lane < LANES; lane++) {
        if (lane % 4 / lanes != what->selector)
            continue;
        for (int i = 0; i < 8; i++) {
            uint32_t places = metadata[lane] >> 4 * i & 15;
            if (is_defined(places, what->element == ELEMENT_TF32, ordered))
                continue;
            if (!warp_reported(warp, SIM_FINDING_SPARSE_METADATA, bound, NULL))
                warp_report(warp, SIM_FINDING_SPARSE_METADATA, bound, NULL, lane,
                            "{op} has metadata 0x%08x in lane %d: bits %d to %d select elements %u and %u of a chunk, "
                            "which is not a valid pair",
                            metadata[lane], lane, 4 * i, 4 * i + 3, places & 3, places >> 2);
            return;
        }
    }
}

// bound->elements: D, A, B, C, four operands each; bound->a: the metadata.
static enum step run_mma_sparse(struct warp *warp, const struct bound *bound, uint32_t mask) {
    const struct lane_mma *what = operand_data(warp, bound->b);
    enum step step;
    uint32_t result[4][LANES];
    uint32_t *const d[4] = {result[0], result[1], result[2], result[3]};
    const uint32_t *operand[3][4], *metadata = cells32(warp, bound->a);
    if (!sync_whole_warp(warp, bound, mask, &step))
        return step;
    for (int i = 0; i < 12; i++) {
        operand_ref where = bound->elements[4 + i];
        operand[i / 4][i % 4] = where == NO_OPERAND ? NULL : cells32(warp, where);
    }
    check_metadata(warp, bound, what, metadata);
    warp->lanes->mma_each(what, d, operand[0], operand[1], operand[2], metadata);
    for (int i = 0; i < bound->vector; i++)
        warp_write32(warp, bound->elements[i], result[i], ALL_LANES);
    return STEP_NEXT;
}

bool bind_mma_sparse(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    operand_ref *places = bind_allocate(binder, 16 * sizeof *places);
    struct lane_mma what = {
        .element = matrix_element(ptx->mma_type[1]),
        .element_b = matrix_element(ptx->mma_type[2]),
        .k = ptx->shape[2],
        .half_sum = ptx->mma_type[0] == PTX_F16,
        .saturates = ptx->flags & PTX_SAT,
        .selector = (int)ptx->src[4].bits,
    };
    if (!places)
        return false;
    bound->kind = BOUND_RUN;
    bound->run = run_mma_sparse;
    bound->a = bind_source(binder, &ptx->src[3], PTX_B32);
    bound->b = bind_data(binder, &what, sizeof what);
    bound->vector = what.half_sum ? 2 : 4;
    bound->elements = places;
    return bound->a != NO_OPERAND && bind_fragment(binder, &ptx->dst[0], places, true) &&
           bind_fragment(binder, &ptx->src[0], places + 4, false) &&
           bind_fragment(binder, &ptx->src[1], places + 8, false) &&
           bind_fragment(binder, &ptx->src[2], places + 12, false);
}
