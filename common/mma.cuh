// Warp-level MMA on tensor cores: mma.sync and ldmatrix, from sm_80 on. E is __half or __nv_bfloat16. A register holds
// two adjacent elements, the first one in its lower half.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

// Loads four 8 x 8 matrices. Lane i passes the address of row i % 8 of matrix i / 8: 16 bytes in shared memory, 16-byte
// aligned. From each matrix lane i receives elements 2 (i % 4) and 2 (i % 4) + 1 of row i / 4.
template <class E>
__device__ inline void ldmatrix_x4(uint32_t (&to)[4], const E *row_smem) {
    const uint32_t from = (uint32_t)__cvta_generic_to_shared(row_smem);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(from)
                 : "memory");
}

// The same, but transposes each matrix: lane i receives column i / 4 of rows 2 (i % 4) and 2 (i % 4) + 1.
template <class E>
__device__ inline void ldmatrix_x4_trans(uint32_t (&to)[4], const E *row_smem) {
    const uint32_t from = (uint32_t)__cvta_generic_to_shared(row_smem);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(from)
                 : "memory");
}

// C += A B; A is 16 x 16, B is 16 x 8. Let c = 2 (i % 4). Lane i holds columns c and c + 1 of C, c_upper in row i / 4
// and c_lower in row i / 4 + 8. a[0], a[1]: columns c, c + 1 of A in these two rows; a[2], a[3]: columns c + 8, c + 9.
// b[0]: rows c, c + 1 of B in column i / 4; b[1]: rows c + 8, c + 9.
template <class E>
__device__ inline void mma_m16n8k16(float *c_upper /* [2] */, float *c_lower /* [2] */, const uint32_t (&a)[4],
                                    const uint32_t *b /* [2] */);

template <>
__device__ inline void mma_m16n8k16<__half>(float *c_upper, float *c_lower, const uint32_t (&a)[4], const uint32_t *b) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%10, %11, %12, %13};"
        : "=f"(c_upper[0]), "=f"(c_upper[1]), "=f"(c_lower[0]), "=f"(c_lower[1])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c_upper[0]), "f"(c_upper[1]),
          "f"(c_lower[0]), "f"(c_lower[1]));
}

template <>
__device__ inline void mma_m16n8k16<__nv_bfloat16>(float *c_upper, float *c_lower, const uint32_t (&a)[4],
                                                   const uint32_t *b) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%10, %11, %12, %13};"
        : "=f"(c_upper[0]), "=f"(c_upper[1]), "=f"(c_lower[0]), "=f"(c_lower[1])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c_upper[0]), "f"(c_upper[1]),
          "f"(c_lower[0]), "f"(c_lower[1]));
}

// Rounds two floats to E and packs them in one register.
template <class E>
__device__ inline uint32_t cvt_rn_x2(float first, float second);

template <>
__device__ inline uint32_t cvt_rn_x2<__half>(float first, float second) {
    uint32_t pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
    return pair;
}

template <>
__device__ inline uint32_t cvt_rn_x2<__nv_bfloat16>(float first, float second) {
    uint32_t pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
    return pair;
}
