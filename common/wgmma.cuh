// wgmma: products of a warpgroup, 64 rows by 64 to 256 columns, 16 bits in and fp32 out (sm_90a alone; PTX ISA,
// wgmma.mma_async). E is __half or __nv_bfloat16.
//
// Of a result a warp has 16 rows, and a lane in them what it has of an accumulator of mma.sync (mma.cuh): rows lane / 4
// and lane / 4 + 8, and of each 8 columns two neighbouring ones. d[row][j] are in the order of its columns.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>
#include <type_traits>

// Where in shared memory the rows of an operand are, which are 128 bytes wide and swizzled: chunk c of row r, 16 bytes,
// is at c ^ (r % 8). Eight rows follow on each other. Where a row of the operand goes over several slices of 64
// columns, `slice` is their distance in bytes; a product that sums along the row needs none. To a descriptor
// wgmma_step() may be added. Its upper half, WGMMA_ROWS, is the same for all and is not carried along: sums of 64 bits
// would cost each product several instructions.
constexpr uint64_t WGMMA_ROWS = (uint64_t)(1024 >> 4 | 1 << 30) << 32;
__device__ inline uint32_t wgmma_descriptor(const void *operand_smem, uint32_t slice = 16) {
    const uint32_t start = (uint32_t)__cvta_generic_to_shared(operand_smem) & 0x3ffff;
    return start >> 4 | slice >> 4 << 16;
}
// A descriptor is the same in all lanes. Where the compiler knows that, it adds steps once for the warp, in uniform
// registers, which are where wgmma takes descriptors from.
__device__ inline uint32_t wgmma_uniform(uint32_t descriptor) {
    return __shfl_sync(0xffffffffu, descriptor, 0);
}
__device__ constexpr uint32_t wgmma_step(uint32_t bytes) {
    return bytes >> 4;
}

// The compiler moves no computation on these registers across this place.
template <class R, int ROWS, int COLUMNS>
__device__ inline void keep_in_place(R (&rmem)[ROWS][COLUMNS]) {
#pragma unroll
    for (int i = 0; i < ROWS; i++)
#pragma unroll
        for (int j = 0; j < COLUMNS; j++)
            if constexpr (std::is_same_v<R, float>)
                asm volatile("" : "+f"(rmem[i][j])::"memory");
            else
                asm volatile("" : "+r"(rmem[i][j])::"memory");
}

// Products that follow may use these registers, after what the thread has done with them so far.
template <class... R>
__device__ inline void wgmma_fence(R &...rmem) {
    (keep_in_place(rmem), ...);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

// The products so far since the last one are a group.
__device__ inline void wgmma_commit_group() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Waits until at most N groups are not done yet: then these registers may be used.
template <int N, class... R>
__device__ inline void wgmma_wait_group(R &...rmem) {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
    (keep_in_place(rmem), ...);
}

// wgmma(d, a, b, add): d = a b^T, or d += a b^T where add. Both lie in shared memory, rows of 64 and of COLUMNS; sums
// go over 16 neighbouring columns of both.
//
// wgmma(d, a, b): d += a b, with a in registers, as for mma.sync, and 16 rows of b in shared memory, COLUMNS wide.
//
// An asm statement counts its operands: first the sums, then REGISTERS, the text for as many, so that the next is I0.
#define WGMMA_SUMS_8(d, j) "+f"(d[0][j]), "+f"(d[0][j + 1]), "+f"(d[1][j]), "+f"(d[1][j + 1])
#define WGMMA_SUMS_32(d, j) WGMMA_SUMS_8(d, j), WGMMA_SUMS_8(d, j + 2), WGMMA_SUMS_8(d, j + 4), WGMMA_SUMS_8(d, j + 6)
#define WGMMA_SUMS_64(d, j) WGMMA_SUMS_32(d, j), WGMMA_SUMS_32(d, j + 8)
#define WGMMA_SUMS_128(d, j) WGMMA_SUMS_64(d, j), WGMMA_SUMS_64(d, j + 16)

#define WGMMA_SHARED(COLUMNS, TYPE, REGISTERS, I0, I1, I2, ...)                                                        \
    asm volatile("{.reg .pred add;\n setp.ne.b32 add, " I2 ", 0;\n"                                                    \
                 "wgmma.mma_async.sync.aligned.m64n" #COLUMNS "k16.f32." TYPE " {" REGISTERS "}, " I0 ", " I1          \
                 ", add, 1, 1, 0, 0;}"                                                                                 \
                 : __VA_ARGS__                                                                                         \
                 : "l"(WGMMA_ROWS | a), "l"(WGMMA_ROWS | b), "r"((int)add)                                             \
                 : "memory")
#define WGMMA_REGISTERS(COLUMNS, TYPE, REGISTERS, I0, I1, I2, I3, I4, I5, ...)                                         \
    asm volatile("{.reg .pred add;\n setp.ne.b32 add, " I5 ", 0;\n"                                                    \
                 "wgmma.mma_async.sync.aligned.m64n" #COLUMNS "k16.f32." TYPE " {" REGISTERS "}, {" I0 ", " I1 ", " I2 \
                 ", " I3 "}, " I4 ", add, 1, 1, 1;}"                                                                   \
                 : __VA_ARGS__                                                                                         \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(WGMMA_ROWS | b), "n"(1)                             \
                 : "memory")

#define WGMMA(COLUMNS, REGISTERS, I0, I1, I2, I3, I4, I5, ...)                                                         \
    template <class E>                                                                                                 \
    __device__ inline void wgmma(float(&d)[2][COLUMNS / 4], uint32_t a, uint32_t b, bool add) {                        \
        if constexpr (std::is_same_v<E, __half>)                                                                       \
            WGMMA_SHARED(COLUMNS, "f16.f16", REGISTERS, I0, I1, I2, __VA_ARGS__);                                      \
        else                                                                                                           \
            WGMMA_SHARED(COLUMNS, "bf16.bf16", REGISTERS, I0, I1, I2, __VA_ARGS__);                                    \
    }                                                                                                                  \
    template <class E>                                                                                                 \
    __device__ inline void wgmma(float(&d)[2][COLUMNS / 4], const uint32_t(&a)[4], uint32_t b) {                       \
        if constexpr (std::is_same_v<E, __half>)                                                                       \
            WGMMA_REGISTERS(COLUMNS, "f16.f16", REGISTERS, I0, I1, I2, I3, I4, I5, __VA_ARGS__);                       \
        else                                                                                                           \
            WGMMA_REGISTERS(COLUMNS, "bf16.bf16", REGISTERS, I0, I1, I2, I3, I4, I5, __VA_ARGS__);                     \
    }

#define WGMMA_REGISTERS_32                                                                                             \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, "             \
    "%22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define WGMMA_REGISTERS_48                                                                                             \
    WGMMA_REGISTERS_32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define WGMMA_REGISTERS_64                                                                                             \
    WGMMA_REGISTERS_48 ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define WGMMA_REGISTERS_128                                                                                            \
    WGMMA_REGISTERS_64                                                                                                 \
    ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, "           \
    "%84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, "               \
    "%103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, "                 \
    "%119, %120, %121, %122, %123, %124, %125, %126, %127"
WGMMA(64, WGMMA_REGISTERS_32, "%32", "%33", "%34", "%35", "%36", "%37", WGMMA_SUMS_64(d, 0))
WGMMA(96, WGMMA_REGISTERS_48, "%48", "%49", "%50", "%51", "%52", "%53", WGMMA_SUMS_64(d, 0), WGMMA_SUMS_32(d, 16))
WGMMA(128, WGMMA_REGISTERS_64, "%64", "%65", "%66", "%67", "%68", "%69", WGMMA_SUMS_128(d, 0))
WGMMA(256, WGMMA_REGISTERS_128, "%128", "%129", "%130", "%131", "%132", "%133", WGMMA_SUMS_128(d, 0),
      WGMMA_SUMS_128(d, 32))
