// The tiles of lesson 05: how a warp's lanes share out a block of results, and how the operands get into shared memory
// and from there into registers.
#pragma once

#include "cp_async.cuh"
#include "float4.cuh"
#include "reduce.cuh"

#include <type_traits>

// The lanes of a warp stand in 4 rows of 8: lane 8 m + n. In both products a thread owns quads of rows, 4 m .. 4 m + 3
// of 16, and quads of columns, 4 n .. 4 n + 3 of 32, and one 16-byte load fetches the operands of a quad.
constexpr int LANES_M = 4, LANES_N = 8;
constexpr int SLICE = 4 * LANES_N; // keys whose weights are in shared memory at a time

// D is head_dim rounded up to one of a few sizes, ROWS the rows of a thread.
template <int D_, int WARPS_, int ROWS_, int KEYS_>
struct Tile {
    static constexpr int D = D_, WARPS = WARPS_, ROWS = ROWS_, KEYS = KEYS_;
    static constexpr int THREADS = WARPS * WARP_SIZE;
    static constexpr int WARP_ROWS = LANES_M * ROWS;
    static constexpr int QUERIES = WARPS * WARP_ROWS;
    static constexpr int QUAD = ROWS < 4 ? ROWS : 4;
    static_assert(ROWS % QUAD == 0 && KEYS % SLICE == 0 && D % SLICE == 0, "a thread owns whole quads");
    static_assert(D % 16 == 0, "K is loaded in two halves, each of whole groups of 8 columns");

    // Q, K and the weights P are transposed, so that operands of neighbouring results lie next to each other.
    float Q[D][QUERIES];
    float K[D][KEYS + 4]; // rows four banks apart: a warp that writes 8 columns of 4 keys touches each bank once
    float V[KEYS][D];
    float P[WARPS][LANES_N][4 * WARP_ROWS + 4]; // [key / 4][key % 4][row], four banks between two quads of keys

    // Read once a tile: where results take 192 of the 255 registers, memory is the place for it, which volatile means.
    using RowMax = std::conditional_t<(ROWS * (D + KEYS) / LANES_N < 192), float, volatile float>;

    // The place in the warp's rows of a thread's i-th row, in the columns of its j-th column.
    __device__ static int row(int i, int m) {
        return i / QUAD * LANES_M * QUAD + QUAD * m + i % QUAD;
    }
    __device__ static int column(int j, int n) {
        return j / 4 * SLICE + 4 * n + j % 4;
    }
};

// 2^x
__device__ inline float ex2(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// to = COUNT floats, in quads that lie distance apart.
template <int QUAD, int COUNT>
__device__ inline void load_quads(float (&to)[COUNT], const float *from_smem, int distance) {
#pragma unroll
    for (int i = 0; i < COUNT; i += QUAD)
        if (QUAD == 4)
            *reinterpret_cast<float4 *>(&to[i]) = *reinterpret_cast<const float4 *>(from_smem + i / QUAD * distance);
        else
            *reinterpret_cast<float2 *>(&to[i]) = *reinterpret_cast<const float2 *>(from_smem + i / QUAD * distance);
}

// The warp's own rows of Q times scale, zeros beyond the matrix.
template <class T>
__device__ inline void load_queries(T &tile, const float *q /* [nq][head_dim] */, int query0, int warp_row, int nq,
                                    int head_dim, bool wide, float scale) {
    const int lane = threadIdx.x % WARP_SIZE, row = warp_row + lane % T::WARP_ROWS;
    const float *from = q + (int64_t)(query0 + row) * head_dim; // [head_dim]
#pragma unroll 8
    for (int column = lane / T::WARP_ROWS * 4; column < T::D; column += WARP_SIZE / T::WARP_ROWS * 4) {
        float4 four = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (query0 + row < nq && column < head_dim)
            four = wide ? load_float4<true>(from, column, head_dim) : load_float4<false>(from, column, head_dim);
        tile.Q[column][row] = scale * four.x;
        tile.Q[column + 1][row] = scale * four.y;
        tile.Q[column + 2][row] = scale * four.z;
        tile.Q[column + 3][row] = scale * four.w;
    }
}

// Half of the columns of a tile of K, zeros beyond the matrix. A warp takes 8 columns of 4 keys at a time: whole
// sectors.
template <class T>
__device__ inline void load_half_of_keys(T &tile, int half, const float *k /* [nk][head_dim] */, int key0, int nk,
                                         int head_dim) {
    const int c = half * (T::D / 2) + threadIdx.x % 8, r = threadIdx.x / 8;
    const float *from = k + (int64_t)(key0 + r) * head_dim + c;
    float *to = &tile.K[c][r];
    constexpr int PITCH = sizeof(tile.K[0]) / sizeof(float), KEYS_AT_ONCE = T::THREADS / 8;
    const bool inside = key0 + T::KEYS <= nk && T::D == head_dim;
    if (inside) {
#pragma unroll
        for (int key = 0; key < T::KEYS; key += KEYS_AT_ONCE)
#pragma unroll
            for (int column = 0; column < T::D / 2; column += 8)
                cp_async<4>(to + column * PITCH + key, from + key * head_dim + column);
    } else {
#pragma unroll 1
        for (int key = 0; key < T::KEYS; key += KEYS_AT_ONCE)
#pragma unroll 1
            for (int column = 0; column < T::D / 2; column += 8) {
                const bool valid = key0 + r + key < nk && c + column < head_dim;
                cp_async<4>(to + column * PITCH + key, valid ? from + key * head_dim + column : k, valid);
            }
    }
}

// A tile of V, zeros beyond the matrix. A warp takes 32 columns of 4 keys at a time.
template <class T>
__device__ inline void load_values(T &tile, const float *v /* [nk][head_dim] */, int key0, int nk, int head_dim,
                                   bool wide) {
    const int c = threadIdx.x % 8 * 4, r = threadIdx.x / 8;
    const float *from = v + (int64_t)(key0 + r) * head_dim + c;
    constexpr int KEYS_AT_ONCE = T::THREADS / 8;
    const bool inside = key0 + T::KEYS <= nk && T::D == head_dim && wide;
    if (inside) {
#pragma unroll
        for (int key = 0; key < T::KEYS; key += KEYS_AT_ONCE)
#pragma unroll
            for (int column = 0; column < T::D; column += 32)
                cp_async<16>(&tile.V[r + key][c + column], from + key * head_dim + column);
    } else {
#pragma unroll 1
        for (int key = 0; key < T::KEYS; key += KEYS_AT_ONCE)
#pragma unroll 1
            for (int i = 0; i < T::D / 8; i++) {
                const int column = i / 4 * 32 + i % 4;
                const bool valid = key0 + r + key < nk && c + column < head_dim;
                cp_async<4>(&tile.V[r + key][c + column], valid ? from + key * head_dim + column : v, valid);
            }
    }
}

// The columns of a thread in one row of a result, times factor, into a row of head_dim columns. WIDE: by 16 bytes.
template <bool WIDE, int COLUMNS>
__device__ inline void store_quads(float *to /* [head_dim] */, const float (&from)[COLUMNS], float factor, int n,
                                   int head_dim) {
#pragma unroll
    for (int j = 0; j < COLUMNS; j += 4) {
        const int column = j / 4 * SLICE + 4 * n;
        if (!WIDE || column < head_dim)
            store_float4<WIDE>(
                to, column, head_dim,
                make_float4(factor * from[j], factor * from[j + 1], factor * from[j + 2], factor * from[j + 3]));
    }
}

// Over the lanes that share a row of a result, in all of them.
__device__ inline float max_of_row(float value) {
    for (int distance = LANES_N / 2; distance > 0; distance /= 2)
        value = fmaxf(value, __shfl_xor_sync(ALL_LANES, value, distance));
    return value;
}

__device__ inline float sum_of_row(float value) {
    for (int distance = LANES_N / 2; distance > 0; distance /= 2)
        value += __shfl_xor_sync(ALL_LANES, value, distance);
    return value;
}

// -inf for the keys of a tile that row r of the warp does not see, those beyond last_key + r, and for those beyond
// end_key.
template <class T>
__device__ inline void hide_keys(float (&S_rmem)[T::ROWS][T::KEYS / LANES_N], int last_key, int end_key, int m, int n) {
#pragma unroll
    for (int i = 0; i < T::ROWS; i++)
#pragma unroll
        for (int j = 0; j < T::KEYS / LANES_N; j++)
            if (T::column(j, n) > min(last_key + T::row(i, m), end_key))
                S_rmem[i][j] = -INFINITY;
}

// The first slice's weights, transposed, a quad of rows at a time.
template <class T>
__device__ inline void store_weights(float (*P_smem)[4 * T::WARP_ROWS + 4],
                                     const float (&S_rmem)[T::ROWS][T::KEYS / LANES_N], int m, int n) {
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
        for (int i = 0; i < T::ROWS; i += T::QUAD) {
            float *p = &P_smem[n][j * T::WARP_ROWS + T::row(i, m)];
            if (T::QUAD == 4)
                *reinterpret_cast<float4 *>(p) =
                    make_float4(S_rmem[i][j], S_rmem[i + 1][j], S_rmem[i + 2][j], S_rmem[i + 3][j]);
            else
                *reinterpret_cast<float2 *>(p) = make_float2(S_rmem[i][j], S_rmem[i + 1][j]);
        }
}

// Moves the next slice's weights to where the first one's were: registers cannot be indexed at run time.
template <int ROWS, int COLUMNS>
__device__ inline void next_slice(float (&S_rmem)[ROWS][COLUMNS]) {
#pragma unroll
    for (int i = 0; i < ROWS; i++)
#pragma unroll
        for (int j = 0; j + 4 < COLUMNS; j++)
            S_rmem[i][j] = S_rmem[i][j + 4];
}
