// wgmma: warpgroup MMA, 64 rows by 32 to 256 columns, 16-bit operands and fp32 accumulators (sm_90a only; PTX ISA,
// wgmma.mma_async). E is __half or __nv_bfloat16.
//
// Each warp holds 16 rows of the accumulator. A lane holds the same elements as of an mma.sync accumulator (mma.cuh):
// rows lane / 4 and lane / 4 + 8, and two adjacent columns of each 8. d[row][j] is in the order of the columns.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>
#include <type_traits>

constexpr int WARP_ROWS = 16; // of a warpgroup's 64
constexpr int LANE_ROWS = 2;

// The lower half of the matrix descriptor of an operand in shared memory with 128-byte swizzle: rows of 128 bytes, 8
// rows every 1024 bytes, 16-byte chunk c of row r at position c ^ (r % 8). leading_bytes (PTX: leading dimension byte
// offset): for an MN-major operand (V) the distance of 64-column panels in bytes; K-major operands (Q, K) ignore it. A
// descriptor_offset() may be added. The upper half (stride byte offset 1024, 128-byte swizzle) is constant: 64-bit
// additions would cost several instructions per wgmma.
constexpr uint64_t DESCRIPTOR_HIGH = (uint64_t)(1024 >> 4 | 1 << 30) << 32;
__device__ inline uint32_t descriptor_low(const void *operand_smem, uint32_t leading_bytes = 16) {
    const uint32_t start = (uint32_t)__cvta_generic_to_shared(operand_smem) & 0x3ffff;
    return start >> 4 | leading_bytes >> 4 << 16;
}
// Broadcasts lane 0's value, so that the compiler knows it to be warp-uniform: it then adds offsets to descriptors in
// uniform registers, from which wgmma reads them.
__device__ inline uint32_t warp_uniform(uint32_t descriptor) {
    return __shfl_sync(0xffffffffu, descriptor, 0);
}
__device__ constexpr uint32_t descriptor_offset(uint32_t bytes) {
    return bytes >> 4;
}

// The compiler moves no access to these registers across this fence.
template <class R, int ROWS, int COLUMNS>
__device__ inline void warpgroup_fence_operand(R (&rmem)[ROWS][COLUMNS]) {
#pragma unroll
    for (int i = 0; i < ROWS; i++)
#pragma unroll
        for (int j = 0; j < COLUMNS; j++)
            if constexpr (std::is_same_v<R, float>)
                asm volatile("" : "+f"(rmem[i][j])::"memory");
            else
                asm volatile("" : "+r"(rmem[i][j])::"memory");
}

// Orders the thread's accesses to these registers before the accesses by wgmmas issued later.
template <class... R>
__device__ inline void wgmma_fence(R &...rmem) {
    (warpgroup_fence_operand(rmem), ...);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

// Commits the wgmmas issued since the last commit as one group.
__device__ inline void wgmma_commit_group() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Waits until at most N groups are in flight. The registers of the completed groups may then be accessed.
template <int N, class... R>
__device__ inline void wgmma_wait_group(R &...rmem) {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
    (warpgroup_fence_operand(rmem), ...);
}

// wgmma(d, a, b, add): d = a b^T, or d += a b^T if add. A (64 rows) and B (COLUMNS rows) are in shared memory (SS), and
// the sum goes over 16 adjacent columns of both.
//
// wgmma(d, a, b): d += a b; wgmma(d, a, b, add): d = a b if not add. A is in registers (RS), in the layout of mma.sync;
// B is 16 rows of COLUMNS in shared memory.
//
// In the asm statements REGISTERS is the list of the accumulator operands; I0, I1, ... are the operands after them.
#define WGMMA_ACCUMULATORS_8(d, j) "+f"(d[0][j]), "+f"(d[0][j + 1]), "+f"(d[1][j]), "+f"(d[1][j + 1])
#define WGMMA_ACCUMULATORS_32(d, j)                                                                                    \
    WGMMA_ACCUMULATORS_8(d, j), WGMMA_ACCUMULATORS_8(d, j + 2), WGMMA_ACCUMULATORS_8(d, j + 4),                        \
        WGMMA_ACCUMULATORS_8(d, j + 6)
#define WGMMA_ACCUMULATORS_64(d, j) WGMMA_ACCUMULATORS_32(d, j), WGMMA_ACCUMULATORS_32(d, j + 8)
#define WGMMA_ACCUMULATORS_128(d, j) WGMMA_ACCUMULATORS_64(d, j), WGMMA_ACCUMULATORS_64(d, j + 16)

#define WGMMA_SS(COLUMNS, TYPE, REGISTERS, I0, I1, I2, ...)                                                            \
    asm volatile("{.reg .pred add;\n setp.ne.b32 add, " I2 ", 0;\n"                                                    \
                 "wgmma.mma_async.sync.aligned.m64n" #COLUMNS "k16.f32." TYPE " {" REGISTERS "}, " I0 ", " I1          \
                 ", add, 1, 1, 0, 0;}"                                                                                 \
                 : __VA_ARGS__                                                                                         \
                 : "l"(DESCRIPTOR_HIGH | a), "l"(DESCRIPTOR_HIGH | b), "r"((int)add)                                   \
                 : "memory")
#define WGMMA_RS(ADD, COLUMNS, TYPE, REGISTERS, I0, I1, I2, I3, I4, I5, ...)                                           \
    asm volatile("{.reg .pred add;\n setp.ne.b32 add, " I5 ", 0;\n"                                                    \
                 "wgmma.mma_async.sync.aligned.m64n" #COLUMNS "k16.f32." TYPE " {" REGISTERS "}, {" I0 ", " I1 ", " I2 \
                 ", " I3 "}, " I4 ", add, 1, 1, 1;}"                                                                   \
                 : __VA_ARGS__                                                                                         \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(DESCRIPTOR_HIGH | b), ADD                           \
                 : "memory")

#define WGMMA(COLUMNS, REGISTERS, I0, I1, I2, I3, I4, I5, ...)                                                         \
    template <class E>                                                                                                 \
    __device__ inline void wgmma(float(&d)[2][COLUMNS / 4], uint32_t a, uint32_t b, bool add) {                        \
        if constexpr (std::is_same_v<E, __half>)                                                                       \
            WGMMA_SS(COLUMNS, "f16.f16", REGISTERS, I0, I1, I2, __VA_ARGS__);                                          \
        else                                                                                                           \
            WGMMA_SS(COLUMNS, "bf16.bf16", REGISTERS, I0, I1, I2, __VA_ARGS__);                                        \
    }                                                                                                                  \
    template <class E>                                                                                                 \
    __device__ inline void wgmma(float(&d)[2][COLUMNS / 4], const uint32_t(&a)[4], uint32_t b) {                       \
        if constexpr (std::is_same_v<E, __half>)                                                                       \
            WGMMA_RS("n"(1), COLUMNS, "f16.f16", REGISTERS, I0, I1, I2, I3, I4, I5, __VA_ARGS__);                      \
        else                                                                                                           \
            WGMMA_RS("n"(1), COLUMNS, "bf16.bf16", REGISTERS, I0, I1, I2, I3, I4, I5, __VA_ARGS__);                    \
    }                                                                                                                  \
    template <class E>                                                                                                 \
    __device__ inline void wgmma(float(&d)[2][COLUMNS / 4], const uint32_t(&a)[4], uint32_t b, bool add) {             \
        if constexpr (std::is_same_v<E, __half>)                                                                       \
            WGMMA_RS("r"((int)add), COLUMNS, "f16.f16", REGISTERS, I0, I1, I2, I3, I4, I5, __VA_ARGS__);               \
        else                                                                                                           \
            WGMMA_RS("r"((int)add), COLUMNS, "bf16.bf16", REGISTERS, I0, I1, I2, I3, I4, I5, __VA_ARGS__);             \
    }

#define WGMMA_REGISTERS_16 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
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
WGMMA(32, WGMMA_REGISTERS_16, "%16", "%17", "%18", "%19", "%20", "%21", WGMMA_ACCUMULATORS_32(d, 0))
WGMMA(64, WGMMA_REGISTERS_32, "%32", "%33", "%34", "%35", "%36", "%37", WGMMA_ACCUMULATORS_64(d, 0))
WGMMA(96, WGMMA_REGISTERS_48, "%48", "%49", "%50", "%51", "%52", "%53", WGMMA_ACCUMULATORS_64(d, 0),
      WGMMA_ACCUMULATORS_32(d, 16))
WGMMA(128, WGMMA_REGISTERS_64, "%64", "%65", "%66", "%67", "%68", "%69", WGMMA_ACCUMULATORS_128(d, 0))
WGMMA(256, WGMMA_REGISTERS_128, "%128", "%129", "%130", "%131", "%132", "%133", WGMMA_ACCUMULATORS_128(d, 0),
      WGMMA_ACCUMULATORS_128(d, 32))

// Whether there is a wgmma with this N here. Such tiles also end at a multiple of 8 rows, the period of the swizzle.
__host__ __device__ constexpr bool has_wgmma(int n) {
    return n == 32 || n == 64 || n == 96 || n == 128 || n == 256;
}

template <class R, int ROWS, int COLUMNS>
__device__ inline void clear(R (&rmem)[ROWS][COLUMNS]) {
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            rmem[i][j] = 0;
}
