// mma.sync of doubles: m8n8k4, and m16n8k4, k8 and k16 of sm_90. Register r of A has row offset 8 (r % 2) and column
// offset 4 (r / 2), register r of B row offset 4 r (PTX ISA, "Matrix fragments for mma.m16n8k16 with floating point
// type"). A sum is a chain of fma in the order of k.
#include "families.h"

#include "../lanes/fragment.h"
#include "../machine/warp.h"
#include "sync.h"

#include <string.h>

enum { ROWS = 16, COLUMNS = 8, MOST_K = 16, MOST_PLACES = 8 };

// bound->elements: D, A, B, C, eight operands each. bound->lanes: fma, so that NaNs propagate through a chain as
// through fma: an H200's mma returns the same NaN.
static enum step run_mma_double(struct warp *warp, const struct bound *bound, uint32_t mask) {
    const int m = bound->ptx->shape[0], k = bound->ptx->shape[2], halves = m / 8;
    const operand_ref *d = bound->elements, *a = d + MOST_PLACES, *b = a + MOST_PLACES, *c = b + MOST_PLACES;
    uint64_t left[ROWS][MOST_K], right[MOST_K][COLUMNS], result[4][LANES];
    enum step step;
    if (!sync_whole_warp(warp, bound, mask, &step))
        return step;
    for (int lane = 0; lane < LANES; lane++) {
        for (int r = 0; r < halves * k / 4; r++)
            left[lane / 4 + 8 * (r % halves)][lane % 4 + 4 * (r / halves)] = cells64(warp, a[r])[lane];
        for (int r = 0; r < k / 4; r++)
            right[lane % 4 + 4 * r][lane / 4] = cells64(warp, b[r])[lane];
    }
    for (int r = 0; r < 2 * halves; r++) {
        memcpy(result[r], cells64(warp, c[r]), sizeof result[r]);
        for (int i = 0; i < k; i++) {
            uint64_t x[LANES], y[LANES];
            for (int lane = 0; lane < LANES; lane++) {
                struct fragment_element at = fragment_c(lane, r);
                x[lane] = left[at.row][i];
                y[lane] = right[i][at.column];
            }
            bound->lanes(result[r], x, y, result[r], 0);
        }
    }
    for (int r = 0; r < 2 * halves; r++)
        warp_write64(warp, d[r], result[r], ALL_LANES);
    return STEP_NEXT;
}

bool bind_mma_double(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    const struct ptx_operand *operand[4] = {&ptx->dst[0], &ptx->src[0], &ptx->src[1], &ptx->src[2]};
    operand_ref *places = bind_allocate(binder, 4 * MOST_PLACES * sizeof *places);
    bound->kind = BOUND_RUN;
    bound->run = run_mma_double;
    bound->lanes = binder->lanes->fma_f64;
    bound->elements = places;
    for (int o = 0; places && o < 4; o++) {
        bool vector = operand[o]->kind == PTX_OPERAND_VECTOR;
        for (int i = 0; i < (vector ? operand[o]->count : 1) && i < MOST_PLACES; i++) {
            const struct ptx_operand *one = vector ? &operand[o]->elements[i] : operand[o];
            operand_ref *to = &places[o * MOST_PLACES + i];
            *to = o ? bind_source(binder, one, PTX_B64) : bind_result(binder, one);
            if (o && *to == NO_OPERAND)
                return false;
        }
    }
    return places;
}
