// Tiles of floats as bf16 parts in shared memory, operands of wgmma. The lesson defines split().
#pragma once

#include "chunk.cuh"
#include "float4.cuh"
#include "hopper.cuh"
#include "mma.cuh"

#include <type_traits>

constexpr int PARTS = 3; // 8 bits of the significand each, 24 together

// The parts of a tile of ROWS rows in shared memory. A panel has 64 columns of all rows: rows of 128 bytes, swizzled.
template <int D, int ROWS>
using SplitTile = __nv_bfloat16[PARTS][D / PANEL][ROWS][PANEL];

// Defined by the lesson: splits x and y into bf16 parts, x into the lower halves and y into the upper halves.
__device__ inline void split(uint32_t (&parts)[PARTS], float x, float y);

// The bits of the absolute value, in whose order infinity and NaN come last, and of the largest number that does not
// become infinite in bf16.
__device__ inline uint32_t magnitude(float x) {
    return __float_as_uint(x) & 0x7fffffff;
}
constexpr uint32_t LARGEST_BF16 = 0x7f7f7fff;

// split() for numbers that may be infinite, NaN, or larger than LARGEST_BF16. What is left of an infinity is infinity
// - infinity, and it meets parts that are 0. So the parts of such a number are 1 with its sign, 0, and the number
// itself, which meets nothing but the first part of the other operand.
__device__ inline void split_irregular(uint32_t (&parts)[PARTS], float x, float y) {
    split(parts, x, y);
    const uint32_t keep = 0xffff * (magnitude(x) <= LARGEST_BF16) | 0xffff0000 * (magnitude(y) <= LARGEST_BF16);
    parts[0] = (parts[0] & keep) | (cvt_rn_x2<__nv_bfloat16>(copysignf(1.0f, x), copysignf(1.0f, y)) & ~keep);
    parts[1] &= keep;
    parts[2] = (parts[2] & keep) | (cvt_rn_x2<__nv_bfloat16>(x, y) & ~keep);
}

// Where a thread's float4 number n of a tile is. The threads of a warpgroup take whole rows of float4s in turn.
template <int D>
__device__ inline int tile_row(int n) {
    static_assert(WARPGROUP_SIZE % (D / 4) == 0, "a warpgroup takes whole rows");
    return n * (WARPGROUP_SIZE / (D / 4)) + threadIdx.x % WARPGROUP_SIZE / (D / 4);
}
template <int D>
__device__ inline int tile_column() {
    return threadIdx.x % WARPGROUP_SIZE % (D / 4) * 4;
}

// Loads BATCH of the thread's float4s of a tile that begins at row0, from number n0 on, zeros out of bounds.
template <int D, int BATCH>
__device__ inline void load_batch(float4 (&batch)[BATCH], const float *from /* [rows][head_dim] */, int row0, int rows,
                                  int head_dim, int n0, bool vectorized) {
    auto load = [&](auto is_vectorized) {
#pragma unroll
        for (int n = 0; n < BATCH; n++) {
            const int row = row0 + tile_row<D>(n0 + n), column = tile_column<D>();
            batch[n] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            if (row < rows && column < head_dim)
                batch[n] = load_float4<is_vectorized.value>(from + (int64_t)row * head_dim, column, head_dim);
        }
    };
    vectorized ? load(std::true_type()) : load(std::false_type());
}

// Splits a batch and stores its parts. 128-byte swizzle: chunk c of row r is stored at position c ^ (r % 8).
template <int D, int ROWS, int BATCH>
__device__ inline void store_parts(SplitTile<D, ROWS> &to_smem, const float4 (&batch)[BATCH], int n0) {
    auto store = [&](auto is_regular) {
#pragma unroll
        for (int n = 0; n < BATCH; n++) {
            const int row = tile_row<D>(n0 + n), column = tile_column<D>();
            const float4 &v = batch[n];
            uint32_t xy[PARTS], zw[PARTS];
            is_regular.value ? split(xy, v.x, v.y) : split_irregular(xy, v.x, v.y);
            is_regular.value ? split(zw, v.z, v.w) : split_irregular(zw, v.z, v.w);
            for (int part = 0; part < PARTS; part++)
                *reinterpret_cast<uint2 *>(&to_smem[part][column / PANEL][row][column % PANEL ^ row % 8 * CHUNK]) =
                    make_uint2(xy[part], zw[part]);
        }
    };
    uint32_t largest = 0; // almost always regular, and then a batch is split without a test per number
#pragma unroll
    for (int n = 0; n < BATCH; n++)
        largest = max(max(largest, max(magnitude(batch[n].x), magnitude(batch[n].y))),
                      max(magnitude(batch[n].z), magnitude(batch[n].w)));
    largest <= LARGEST_BF16 ? store(std::true_type()) : store(std::false_type());
}

// Splits the weights in accumulator layout into the A operands of P V.
template <class T>
__device__ inline void split_weights(uint32_t (&P_rmem)[PARTS * T::KEYS / 16][4],
                                     const float (&S_rmem)[T::ROWS][T::LANE_KEYS]) {
#pragma unroll
    for (int key = 0; key < T::KEYS; key += 16)
#pragma unroll
        for (int n = 0; n < 4; n++) {
            const int column = key / T::LANES_PER_ROW + n / 2 * 2;
            uint32_t parts[PARTS];
            split(parts, S_rmem[n % 2][column], S_rmem[n % 2][column + 1]);
            for (int part = 0; part < PARTS; part++)
                P_rmem[(part * T::KEYS + key) / 16][n] = parts[part];
        }
}
