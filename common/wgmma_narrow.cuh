// wgmma with few columns: 64 rows by 8, 16 or 32 columns. Operands as in wgmma.cuh; A may be in shared memory in either
// direction, or in registers, and B is K-major: COLUMNS rows of 128 bytes, swizzled.
#pragma once

#include "wgmma.cuh"

#define WGMMA_ACCUMULATORS_16(d, j) WGMMA_ACCUMULATORS_8(d, j), WGMMA_ACCUMULATORS_8(d, j + 2)
#define WGMMA_REGISTERS_4 "%0, %1, %2, %3"
#define WGMMA_REGISTERS_8 WGMMA_REGISTERS_4 ", %4, %5, %6, %7"

#define WGMMA_NARROW_SS(COLUMNS, TYPE, REGISTERS, TRANSPOSED_A, I0, I1, I2, ...)                                       \
    asm volatile("{.reg .pred add;\n setp.ne.b32 add, " I2 ", 0;\n"                                                    \
                 "wgmma.mma_async.sync.aligned.m64n" #COLUMNS "k16.f32." TYPE " {" REGISTERS "}, " I0 ", " I1          \
                 ", add, 1, 1, " TRANSPOSED_A ", 0;}"                                                                  \
                 : __VA_ARGS__                                                                                         \
                 : "l"(DESCRIPTOR_HIGH | a), "l"(DESCRIPTOR_HIGH | b), "r"((int)add)                                   \
                 : "memory")
#define WGMMA_NARROW_RS(COLUMNS, TYPE, REGISTERS, I0, I1, I2, I3, I4, I5, ...)                                         \
    asm volatile("{.reg .pred add;\n setp.ne.b32 add, " I5 ", 0;\n"                                                    \
                 "wgmma.mma_async.sync.aligned.m64n" #COLUMNS "k16.f32." TYPE " {" REGISTERS "}, {" I0 ", " I1 ", " I2 \
                 ", " I3 "}, " I4 ", add, 1, 1, 0;}"                                                                   \
                 : __VA_ARGS__                                                                                         \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(DESCRIPTOR_HIGH | b), "r"((int)add)                 \
                 : "memory")

// wgmma_narrow(d, a, b, add): d = a b^T, or d += a b^T if add; the sum goes over 16 adjacent columns of A and B. Both
// are in shared memory. wgmma_narrow_transposed(d, a, b, add): the same with A MN-major: its 16 rows of the sum are
// rows of shared memory, and its 64 rows are adjacent elements. wgmma_narrow(d, a, b, add), a an array: A in registers,
// in the layout of mma.sync.
#define WGMMA_NARROW(COLUMNS, REGISTERS, I0, I1, I2, I3, I4, I5, ...)                                                  \
    template <class E>                                                                                                 \
    __device__ inline void wgmma_narrow(float(&d)[2][COLUMNS / 4], uint32_t a, uint32_t b, bool add) {                 \
        if constexpr (std::is_same_v<E, __half>)                                                                       \
            WGMMA_NARROW_SS(COLUMNS, "f16.f16", REGISTERS, "0", I0, I1, I2, __VA_ARGS__);                              \
        else                                                                                                           \
            WGMMA_NARROW_SS(COLUMNS, "bf16.bf16", REGISTERS, "0", I0, I1, I2, __VA_ARGS__);                            \
    }                                                                                                                  \
    template <class E>                                                                                                 \
    __device__ inline void wgmma_narrow_transposed(float(&d)[2][COLUMNS / 4], uint32_t a, uint32_t b, bool add) {      \
        if constexpr (std::is_same_v<E, __half>)                                                                       \
            WGMMA_NARROW_SS(COLUMNS, "f16.f16", REGISTERS, "1", I0, I1, I2, __VA_ARGS__);                              \
        else                                                                                                           \
            WGMMA_NARROW_SS(COLUMNS, "bf16.bf16", REGISTERS, "1", I0, I1, I2, __VA_ARGS__);                            \
    }                                                                                                                  \
    template <class E>                                                                                                 \
    __device__ inline void wgmma_narrow(float(&d)[2][COLUMNS / 4], const uint32_t(&a)[4], uint32_t b, bool add) {      \
        if constexpr (std::is_same_v<E, __half>)                                                                       \
            WGMMA_NARROW_RS(COLUMNS, "f16.f16", REGISTERS, I0, I1, I2, I3, I4, I5, __VA_ARGS__);                       \
        else                                                                                                           \
            WGMMA_NARROW_RS(COLUMNS, "bf16.bf16", REGISTERS, I0, I1, I2, I3, I4, I5, __VA_ARGS__);                     \
    }

WGMMA_NARROW(8, WGMMA_REGISTERS_4, "%4", "%5", "%6", "%7", "%8", "%9", WGMMA_ACCUMULATORS_8(d, 0))
WGMMA_NARROW(16, WGMMA_REGISTERS_8, "%8", "%9", "%10", "%11", "%12", "%13", WGMMA_ACCUMULATORS_16(d, 0))
WGMMA_NARROW(32, WGMMA_REGISTERS_16, "%16", "%17", "%18", "%19", "%20", "%21", WGMMA_ACCUMULATORS_32(d, 0))
