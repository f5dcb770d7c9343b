// Shared by the Hopper tests: the instructions by their names, and the creation of tensor maps.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define DEVICE __device__ __forceinline__

DEVICE uint32_t smem(const void *p) {
    return (uint32_t)__cvta_generic_to_shared(p);
}

DEVICE void mbarrier_init(uint64_t *barrier, int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem(barrier)), "r"(count) : "memory");
}

DEVICE void fence_mbarrier_init() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

DEVICE void fence_proxy_async() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

DEVICE uint64_t mbarrier_arrive(uint64_t *barrier) {
    uint64_t state;
    asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(smem(barrier)) : "memory");
    return state;
}

DEVICE void mbarrier_arrive_expect_tx(uint64_t *barrier, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem(barrier)), "r"(bytes) : "memory");
}

DEVICE bool mbarrier_try_wait_parity(uint64_t *barrier, uint32_t parity) {
    uint32_t done;
    asm volatile("{.reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;}"
                 : "=r"(done)
                 : "r"(smem(barrier)), "r"(parity)
                 : "memory");
    return done;
}

DEVICE void mbarrier_wait(uint64_t *barrier, uint32_t parity) {
    while (!mbarrier_try_wait_parity(barrier, parity)) {
    }
}

DEVICE void tma_load_2d(void *to, const CUtensorMap *map, uint64_t *barrier, int x, int y) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(
            smem(to)),
        "l"(map), "r"(smem(barrier)), "r"(x), "r"(y)
        : "memory");
}

DEVICE void tma_store_2d(const CUtensorMap *map, const void *from, int x, int y) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
                 "r"(smem(from)), "r"(x), "r"(y)
                 : "memory");
}

DEVICE void bulk_commit_group() {
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

DEVICE void bulk_wait_group_read() {
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

DEVICE void bulk_wait_group() {
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

DEVICE void wgmma_fence() {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

DEVICE void wgmma_commit_group() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int N>
DEVICE void wgmma_wait_group() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

// swizzle: the descriptor's mode, 1: 128 bytes, 2: 64, 3: 32, 0: none.
static __host__ __device__ inline uint64_t descriptor(uint32_t address, uint32_t leading, uint32_t stride,
                                                      uint64_t swizzle) {
    return (uint64_t)((address & 0x3ffff) >> 4) | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32 |
           swizzle << 62;
}

template <int N>
DEVICE void setmaxnreg_dec() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N));
}

template <int N>
DEVICE void setmaxnreg_inc() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N));
}

typedef CUresult encode_tiled(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                              const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave,
                              CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

static inline encode_tiled *find_encode() {
    void *function = nullptr;
    cudaDriverEntryPointQueryResult result;
#if CUDART_VERSION >= 12050
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &result);
#else
    cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &result);
#endif
    if (!function || result != cudaDriverEntryPointSuccess) {
        fprintf(stderr, "there is no cuTensorMapEncodeTiled\n");
        exit(2);
    }
    return (encode_tiled *)function;
}

// A matrix of bf16, [rows][columns], in boxes of box_rows x box_columns.
static inline CUtensorMap map_2d(void *at, uint64_t rows, uint64_t columns, uint32_t box_rows, uint32_t box_columns,
                                 CUtensorMapSwizzle swizzle) {
    CUtensorMap map;
    cuuint64_t size[2] = {columns, rows}, stride[1] = {columns * 2};
    cuuint32_t box[2] = {box_columns, box_rows}, step[2] = {1, 1};
    CUresult result = find_encode()(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, at, size, stride, box, step,
                                    CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                    CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result != CUDA_SUCCESS)
        exit(2);
    return map;
}

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t error = (call);                                                                                    \
        if (error != cudaSuccess) {                                                                                    \
            printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorName(error));                                        \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

struct Case {
    const char *name;
    bool (*run)(); // false, and a line, if it is not right
};

// The return value of main of a program that prints the names of its cases, or runs the one that its first argument
// names.
template <int N>
static int run_case(const Case (&cases)[N], int argc, char **argv) {
    for (const Case &one : cases) {
        if (argc < 2)
            puts(one.name);
        else if (strcmp(argv[1], one.name) == 0)
            return !one.run();
    }
    return argc < 2 ? 0 : 2;
}
