// The host side of the lessons that use TMA; a lesson includes it at its end. The lesson defines attention_kernel<T>,
// launch<T>() and Configs<E>.
#pragma once

#include "attention.h"
#include "chunk.cuh"

constexpr int MIN_COMPUTE_CAPABILITY = 90;
constexpr int ALIGNMENT = CHUNK;           // elements; TMA requires rows that begin at multiples of 16 bytes
constexpr int SMALLER_TILES_MAX_NQ = 1024; // of causal attention

// Whether each row is whole chunks and begins, in an aligned tensor, at a multiple of 16 bytes. The stride of a
// dimension of size 1 is never used and may have any value.
static inline bool rows_are_supported(const struct attention_problem *p) {
    const struct attention_strides all[] = {p->q_stride, p->o_stride, p->k_stride, p->v_stride};
    bool chunks = p->head_dim % CHUNK == 0;
    for (int i = 0; i < 4; i++) {
        const int heads = i < 2 ? p->heads : p->kv_heads, rows = i < 2 ? p->nq : p->nk;
        chunks &= (p->batch == 1 || all[i].batch % CHUNK == 0) && (heads == 1 || all[i].head % CHUNK == 0) &&
                  (rows == 1 || all[i].row % CHUNK == 0);
    }
    return chunks;
}

#include "launch_16bit.cuh"
