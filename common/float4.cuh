// Four floats at a time: one 16-byte load or store where a row allows it.
#pragma once

#include "attention.h"

#include <stdint.h>

// 16-byte accesses need 16-byte aligned addresses: rows that are whole float4s, and a tensor that starts on one.
inline bool rows_are_float4(const void *tensor, int row_length) {
    return row_length % 4 == 0 && (uintptr_t)tensor % 16 == 0;
}
inline bool rows_are_float4(const struct attention_problem *p) {
    return rows_are_float4(p->q, p->head_dim) && rows_are_float4(p->k, p->head_dim) &&
           rows_are_float4(p->v, p->head_dim) && rows_are_float4(p->o, p->head_dim);
}

// row[column .. column + 4), `beyond` from row_length on. WIDE: rows_are_float4() holds, and one load fetches all four.
template <bool WIDE>
__device__ inline float4 load_float4(const float *row /* [row_length] */, int column, int row_length,
                                     float beyond = 0.0f) {
    if (WIDE)
        return *reinterpret_cast<const float4 *>(row + column);
    return make_float4(column < row_length ? row[column] : beyond, column + 1 < row_length ? row[column + 1] : beyond,
                       column + 2 < row_length ? row[column + 2] : beyond,
                       column + 3 < row_length ? row[column + 3] : beyond);
}

// The reverse: writes nothing from row_length on.
template <bool WIDE>
__device__ inline void store_float4(float *row /* [row_length] */, int column, int row_length, float4 value) {
    if (WIDE) {
        *reinterpret_cast<float4 *>(row + column) = value;
        return;
    }
    const float element[4] = {value.x, value.y, value.z, value.w};
    for (int i = 0; i < 4; i++)
        if (column + i < row_length)
            row[column + i] = element[i];
}

// The same where it is known at run time only.
__device__ inline float4 load_float4(const float *row /* [row_length] */, int column, int row_length, bool wide) {
    return wide ? load_float4<true>(row, column, row_length) : load_float4<false>(row, column, row_length);
}

// COUNT neighbouring floats, 2 or 4, with one load or store; both addresses are aligned to as many.
template <int COUNT>
__device__ inline void copy_floats(float *to, const float *from) {
    static_assert(COUNT == 2 || COUNT == 4, "there are loads of 8 and of 16 bytes");
    if (COUNT == 4)
        *reinterpret_cast<float4 *>(to) = *reinterpret_cast<const float4 *>(from);
    else
        *reinterpret_cast<float2 *>(to) = *reinterpret_cast<const float2 *>(from);
}

// value[0 .. COUNT) times factor to row[column .. column + COUNT), nothing from row_length on.
template <int COUNT>
__device__ inline void store_floats(float *row /* [row_length] */, int column, int row_length, const float *value,
                                    float factor, bool wide) {
    float product[COUNT];
    for (int i = 0; i < COUNT; i++)
        product[i] = factor * value[i];
    if (wide && column < row_length)
        copy_floats<COUNT>(row + column, product);
    for (int i = 0; i < COUNT && !wide; i++)
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
