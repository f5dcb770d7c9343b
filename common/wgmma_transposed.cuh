// wgmma with both operands in shared memory and both transposed: the sum goes over rows of A and of B.
#pragma once

#include "wgmma.cuh"

// wgmma_atb(d, a, b, add): d = a^T b, or d += a^T b if add. A is 16 rows of 64 columns and B 16 rows of COLUMNS, panels
// with the 128-byte swizzle; the leading bytes of a descriptor are the distance of its panels.
#define WGMMA_ATB(COLUMNS, REGISTERS, I0, I1, I2, ...)                                                                 \
    template <class E>                                                                                                 \
    __device__ inline void wgmma_atb(float(&d)[2][COLUMNS / 4], uint32_t a, uint32_t b, bool add) {                    \
        if constexpr (std::is_same_v<E, __half>)                                                                       \
            WGMMA_ATB_OF(COLUMNS, "f16.f16", REGISTERS, I0, I1, I2, __VA_ARGS__);                                      \
        else                                                                                                           \
            WGMMA_ATB_OF(COLUMNS, "bf16.bf16", REGISTERS, I0, I1, I2, __VA_ARGS__);                                    \
    }
#define WGMMA_ATB_OF(COLUMNS, TYPE, REGISTERS, I0, I1, I2, ...)                                                        \
    asm volatile("{.reg .pred add;\n setp.ne.b32 add, " I2 ", 0;\n"                                                    \
                 "wgmma.mma_async.sync.aligned.m64n" #COLUMNS "k16.f32." TYPE " {" REGISTERS "}, " I0 ", " I1          \
                 ", add, 1, 1, 1, 1;}"                                                                                 \
                 : __VA_ARGS__                                                                                         \
                 : "l"(DESCRIPTOR_HIGH | a), "l"(DESCRIPTOR_HIGH | b), "r"((int)add)                                   \
                 : "memory")
WGMMA_ATB(32, WGMMA_REGISTERS_16, "%16", "%17", "%18", WGMMA_ACCUMULATORS_32(d, 0))
WGMMA_ATB(64, WGMMA_REGISTERS_32, "%32", "%33", "%34", WGMMA_ACCUMULATORS_64(d, 0))
WGMMA_ATB(128, WGMMA_REGISTERS_64, "%64", "%65", "%66", WGMMA_ACCUMULATORS_128(d, 0))
