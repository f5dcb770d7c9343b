// A chunk is 16 bytes of a row of 16-bit elements: one vectorized load or store, or one row of an ldmatrix matrix.
#pragma once

#include "attention.h"
#include "cp_async.cuh"

#include <stdint.h>

constexpr int CHUNK = 8; // elements

// Whether all tensors begin at a multiple of 16 bytes.
static inline bool tensors_are_aligned(const struct attention_problem *p) {
    return ((uintptr_t)p->q | (uintptr_t)p->k | (uintptr_t)p->v | (uintptr_t)p->o) % 16 == 0;
}

// Whether each row is whole chunks and begins, in an aligned tensor, at a multiple of 16 bytes. The stride of a
// dimension of size 1 is never used and may have any value.
static inline bool rows_are_chunks(const struct attention_problem *p) {
    const struct attention_strides all[] = {p->q_stride, p->o_stride, p->k_stride, p->v_stride};
    bool chunks = p->head_dim % CHUNK == 0;
    for (int i = 0; i < 4; i++) {
        const int heads = i < 2 ? p->heads : p->kv_heads, rows = i < 2 ? p->nq : p->nk;
        chunks &= (p->batch == 1 || all[i].batch % CHUNK == 0) && (heads == 1 || all[i].head % CHUNK == 0) &&
                  (rows == 1 || all[i].row % CHUNK == 0);
    }
    return chunks;
}

// Loads a chunk into shared memory; both addresses are aligned.
template <class E>
__device__ inline void load_chunk(E *to_smem, const E *from) {
    *reinterpret_cast<uint4 *>(to_smem) = *reinterpret_cast<const uint4 *>(from);
}

// The same if only `elements` of the chunk are in bounds, possibly 0 or fewer; the others become zeros. If not
// vectorized, only to_smem is aligned.
template <class E>
__device__ inline void load_chunk(E *to_smem, const E *from, int elements, bool vectorized) {
    if (vectorized)
        *reinterpret_cast<uint4 *>(to_smem) =
            elements > 0 ? *reinterpret_cast<const uint4 *>(from) : make_uint4(0, 0, 0, 0);
    for (int n = 0; n < CHUNK && !vectorized; n++)
        to_smem[n] = n < elements ? from[n] : E(0.0f);
}

// As the two functions above, but copies of whole chunks are asynchronous.
template <class E>
__device__ inline void copy_chunk(E *to_smem, const E *from, bool valid = true) {
    cp_async<16>(reinterpret_cast<float *>(to_smem), reinterpret_cast<const float *>(from), valid);
}
template <class E>
__device__ inline void copy_chunk(E *to_smem, const E *from, int elements, bool vectorized) {
    if (vectorized)
        copy_chunk(to_smem, from, elements > 0);
    else
        load_chunk(to_smem, from, elements, false);
}
