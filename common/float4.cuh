// Vectorized access to rows of floats: one 16-byte load or store per float4 if the rows are aligned.
#pragma once

#include "attention.h"

#include <stdint.h>

// 16-byte accesses need 16-byte aligned addresses: rows of whole float4s in a 16-byte aligned tensor.
inline bool rows_are_float4(const void *tensor, int row_length) {
    return row_length % 4 == 0 && (uintptr_t)tensor % 16 == 0;
}
inline bool rows_are_float4(const struct attention_problem *p) {
    return rows_are_float4(p->q, p->head_dim) && rows_are_float4(p->k, p->head_dim) &&
           rows_are_float4(p->v, p->head_dim) && rows_are_float4(p->o, p->head_dim);
}

// Loads row[column .. column + 4), with `fill` for elements from row_length on. VECTORIZED: rows_are_float4() holds,
// and one load fetches all four.
template <bool VECTORIZED>
__device__ inline float4 load_float4(const float *row /* [row_length] */, int column, int row_length,
                                     float fill = 0.0f) {
    if (VECTORIZED)
        return *reinterpret_cast<const float4 *>(row + column);
    return make_float4(column < row_length ? row[column] : fill, column + 1 < row_length ? row[column + 1] : fill,
                       column + 2 < row_length ? row[column + 2] : fill,
                       column + 3 < row_length ? row[column + 3] : fill);
}

// The inverse: writes no element from row_length on.
template <bool VECTORIZED>
__device__ inline void store_float4(float *row /* [row_length] */, int column, int row_length, float4 value) {
    if (VECTORIZED) {
        *reinterpret_cast<float4 *>(row + column) = value;
        return;
    }
    const float element[4] = {value.x, value.y, value.z, value.w};
    for (int i = 0; i < 4; i++)
        if (column + i < row_length)
            row[column + i] = element[i];
}

// The same if vectorized is known only at run time.
__device__ inline float4 load_float4(const float *row /* [row_length] */, int column, int row_length, bool vectorized) {
    return vectorized ? load_float4<true>(row, column, row_length) : load_float4<false>(row, column, row_length);
}

// Copies COUNT adjacent floats, 1, 2 or 4, with one load and one store; both addresses are aligned to COUNT floats.
template <int COUNT>
__device__ inline void copy_floats(float *to, const float *from) {
    static_assert(COUNT == 1 || COUNT == 2 || COUNT == 4, "loads have 4, 8 or 16 bytes");
    if (COUNT == 4)
        *reinterpret_cast<float4 *>(to) = *reinterpret_cast<const float4 *>(from);
    else if (COUNT == 2)
        *reinterpret_cast<float2 *>(to) = *reinterpret_cast<const float2 *>(from);
    else
        *to = *from;
}

// Stores factor * value[0 .. COUNT) to row[column .. column + COUNT), but no element from row_length on.
template <int COUNT>
__device__ inline void store_floats(float *row /* [row_length] */, int column, int row_length, const float *value,
                                    float factor, bool vectorized) {
    float product[COUNT];
    for (int i = 0; i < COUNT; i++)
        product[i] = factor * value[i];
    if (vectorized && column < row_length)
        copy_floats<COUNT>(row + column, product);
    for (int i = 0; i < COUNT && !vectorized; i++)
        if (column + i < row_length)
            row[column + i] = product[i];
}

__device__ inline float dot(float4 a, float4 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

// sum += weight * value
__device__ inline void add_scaled(float4 &sum, float weight, float4 value) {
    sum.x += weight * value.x;
    sum.y += weight * value.y;
    sum.z += weight * value.z;
    sum.w += weight * value.w;
}

__device__ inline float4 scaled(float factor, float4 value) {
    return make_float4(factor * value.x, factor * value.y, factor * value.z, factor * value.w);
}
