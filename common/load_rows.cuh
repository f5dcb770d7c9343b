// Loads tiles of 16-bit elements into shared memory, chunk by chunk.
#pragma once

#include "chunk.cuh"

#include <stdint.h>

// Loads rows row0 .. row0 + ROWS - 1 of one head's matrix. Out-of-bounds elements become zeros, since weights of 0
// would multiply stale contents. All threads of the block call it. If rows are not whole chunks at multiples of 16
// bytes, elements are loaded one by one, synchronously.
//
// The lesson defines chunk_of(tile_smem, row, column), the address of the chunk of a row that begins at a column, and
// load_chunk(to_smem, from, valid), which loads a chunk; if not valid, it writes zeros and reads nothing.
template <class T, int ROWS, class Tile, class E = typename T::E>
__device__ inline void load_rows(Tile &to_smem, const struct attention_problem &p,
                                 const void *tensor /* [batch][heads][rows][head_dim] */,
                                 const struct attention_strides &stride, int rows, int row0, int head, int batch) {
    constexpr int CHUNKS = T::D / CHUNK, AT_ONCE = T::THREADS / CHUNKS;
    const int first = threadIdx.x / CHUNKS, column = threadIdx.x % CHUNKS * CHUNK;
    const E *from = (const E *)tensor + batch * stride.batch + head * stride.head; // [rows][head_dim]
    const bool vectorized = ((uintptr_t)from / sizeof(E) | stride.row | p.head_dim) % CHUNK == 0;
    from += (row0 + first) * stride.row + column;
    if (vectorized && row0 + ROWS <= rows && p.head_dim == T::D) {
#pragma unroll
        for (int row = 0; row < ROWS; row += AT_ONCE)
            load_chunk(chunk_of(to_smem, first + row, column), from + row * stride.row, true);
        return;
    }
#pragma unroll 1
    for (int row = 0; row < ROWS; row += AT_ONCE) {
        const int elements = row0 + first + row < rows ? p.head_dim - column : 0;
        E *to = chunk_of(to_smem, first + row, column);
        if (vectorized)
            load_chunk(to, from + row * stride.row, elements > 0);
        for (int n = 0; n < CHUNK && !vectorized; n++)
            to[n] = n < elements ? from[row * stride.row + n] : E(0.0f);
    }
}
