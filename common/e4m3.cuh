// e4m3 to bf16 without a conversion instruction: Hopper has none between the two.
#pragma once

#include <cuda_bf16.h>
#include <stdint.h>

// Two bytes of a word as two numbers: FIRST and SECOND are the bytes' positions. Shifted right by 4, sign aside, the
// exponent and the mantissa of e4m3 stand where those of bf16 do, with a bias of 7 instead of 127: the number is too
// small by 2^120, denormals included, which a multiplication repairs exactly.
template <int FIRST, int SECOND>
__device__ inline uint32_t bf16x2_of_e4m3(uint32_t word) {
    const uint32_t upper = __byte_perm(word, 0, FIRST << 4 | SECOND << 12 | 0x0404); // in the upper byte of each half
    const uint32_t small = (upper & 0x80008000u) | (upper & 0x7f007f00u) >> 4;
    const __nv_bfloat162 two_to_120 = __halves2bfloat162(__ushort_as_bfloat16(0x7b80), __ushort_as_bfloat16(0x7b80));
    const __nv_bfloat162 product = __hmul2(*reinterpret_cast<const __nv_bfloat162 *>(&small), two_to_120);
    return *reinterpret_cast<const uint32_t *>(&product);
}
