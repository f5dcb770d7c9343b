// Bulk copies whose traffic a profiler counts, one kernel per copy: sizes of whole and partial sectors, boxes with
// short rows, rows that start within a sector or cross a line of shared memory, out-of-bounds boxes, element strides of
// 2, im2col; into one block and multicast; stores and reductions.
//
//   truth-copies
//
// architecture: sm_90a
#include "boxes.cuh"

#include <cstdio>

enum { THREADS = 128, BLOCKS = 2, ROWS = 64, COLUMNS = 64 };

// ---- Without a map -------------------------------------------------------------------------------------------------

__device__ void bring(const unsigned *a, unsigned *result, unsigned first, unsigned bytes, unsigned pieces) {
    __shared__ alignas(128) unsigned tile[2048];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        mbarrier_init(&barrier, 1);
        mbarrier_expect(&barrier, bytes * pieces);
        for (unsigned i = 0; i < pieces; i++) {
            asm volatile(
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                    smem(tile) + i * bytes),
                "l"(a + first + i * bytes / 4), "r"(bytes), "r"(smem(&barrier))
                : "memory");
        }
    }
    __syncthreads();
    const unsigned good = mbarrier_wait(&barrier, 0);
    if (threadIdx.x == 0) {
        result[blockIdx.x] = tile[0] + good;
    }
}

#define BROUGHT(name, first, bytes, pieces)                                                                            \
    __global__ void name(unsigned *result, const unsigned *a) {                                                        \
        bring(a, result, first, bytes, pieces);                                                                        \
    }
BROUGHT(copy_4096, 0, 4096, 1)
BROUGHT(copy_4096_from_16, 4, 4096, 1)
BROUGHT(copy_16_times_16, 0, 16, 16)
BROUGHT(copy_48_times_8, 0, 48, 8)
BROUGHT(copy_128_times_8_from_16, 4, 128, 8)

template <class Copy>
__device__ void send(unsigned *result, unsigned first, unsigned bytes) {
    __shared__ alignas(128) unsigned tile[1024];
    for (unsigned i = threadIdx.x; i < 1024; i += THREADS) {
        tile[i] = i;
    }
    fence_proxy_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        Copy::run(result + 1024 * blockIdx.x + first, tile, bytes);
        bulk_commit_and_wait();
    }
}

#define COPY(name, instruction)                                                                                        \
    struct name {                                                                                                      \
        __device__ static void run(unsigned *to, const unsigned *from, unsigned bytes) {                               \
            asm volatile(instruction " [%0], [%1], %2;" ::"l"(to), "r"(smem(from)), "r"(bytes) : "memory");            \
        }                                                                                                              \
    };
COPY(Plain, "cp.async.bulk.global.shared::cta.bulk_group")
COPY(Sum, "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32")
#define SENT(name, Copy, first, bytes)                                                                                 \
    __global__ void name(unsigned *result, const unsigned *) {                                                         \
        send<Copy>(result, first, bytes);                                                                              \
    }
SENT(send_2048, Plain, 0, 2048)
SENT(send_2048_to_16, Plain, 4, 2048)
SENT(send_48, Plain, 0, 48)
SENT(reduce_2048, Sum, 0, 2048)

// ---- Boxes ---------------------------------------------------------------------------------------------------------

#define LOADED(name, rank)                                                                                             \
    __global__ void name(const __grid_constant__ CUtensorMap map, const __grid_constant__ Places places,               \
                         unsigned *memory, const unsigned *) {                                                         \
        load_boxes<rank, false, false>(map, places, memory);                                                           \
    }
__global__ void box_fetched_first(const __grid_constant__ CUtensorMap map, const __grid_constant__ Places places,
                                  unsigned *memory, const unsigned *) {
    load_boxes<2, false, true>(map, places, memory);
}
__global__ void box_of_pixels(const __grid_constant__ CUtensorMap map, const __grid_constant__ Places places,
                              unsigned *memory, const unsigned *) {
    load_boxes<4, true, false>(map, places, memory);
}
#define STORED(name, rank, Operation)                                                                                  \
    __global__ void name(const __grid_constant__ CUtensorMap map, const __grid_constant__ Places places, unsigned *,   \
                         const unsigned *memory) {                                                                     \
        store_boxes<rank, Operation>(map, places, memory);                                                             \
    }
LOADED(box_rows_of_128, 2)
LOADED(box_rows_of_128_swizzled, 2)
LOADED(box_rows_of_16, 2)
LOADED(box_rows_of_80, 2)
LOADED(box_rows_of_80_in_a_row, 2)
LOADED(box_beyond, 2)
LOADED(box_across, 2)
LOADED(box_every_second_row, 2)
LOADED(box_of_three, 3)
LOADED(box_of_a_line, 1)
LOADED(box_beyond_its_rows, 2)
LOADED(box_rows_of_96, 2)
LOADED(box_rows_of_64_swizzled, 2)
LOADED(box_rows_of_256, 2)
STORED(store_rows_of_128, 2, Store)
STORED(store_rows_of_80, 2, Store)
STORED(store_over_the_end, 2, Store)
STORED(add_rows_of_128, 2, Add)

__global__ void __cluster_dims__(2, 1, 1) multicast(unsigned *result, const unsigned *a) {
    __shared__ alignas(128) unsigned tile[1024];
    __shared__ uint64_t barrier;
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0) {
        mbarrier_init(&barrier, 1);
        mbarrier_expect(&barrier, sizeof tile);
    }
    asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
    if (threadIdx.x == 0 && rank == 0) {
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, "
            "[%3], %4;" ::"r"(smem(tile)),
            "l"(a), "r"((unsigned)sizeof tile), "r"(smem(&barrier)), "h"((unsigned short)3)
            : "memory");
    }
    const unsigned good = mbarrier_wait(&barrier, 0);
    asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
    if (threadIdx.x == 0) {
        result[blockIdx.x] = tile[0] + good;
    }
}

#define WORDS CU_TENSOR_MAP_DATA_TYPE_UINT32, 4
static constexpr Tensor
    rows_of_128 = {2, WORDS, {64, 64}, {32, 16}, {}, CU_TENSOR_MAP_SWIZZLE_NONE, {}, 2, {{0, 0}, {32, 7}}},
    swizzled = {2, WORDS, {64, 64}, {32, 16}, {}, CU_TENSOR_MAP_SWIZZLE_128B, {}, 2, {{0, 0}, {32, 7}}},
    rows_of_16 = {2, WORDS, {64, 64}, {4, 16}, {}, CU_TENSOR_MAP_SWIZZLE_NONE, {}, 2, {{0, 0}, {4, 7}}},
    rows_of_80 = {2, WORDS, {64, 64}, {20, 16}, {}, CU_TENSOR_MAP_SWIZZLE_NONE, {}, 2, {{0, 0}, {20, 7}}},
    in_a_row = {2, WORDS, {20, 64}, {20, 16}, {}, CU_TENSOR_MAP_SWIZZLE_NONE, {}, 2, {{0, 0}, {0, 7}}},
    beyond = {2, WORDS, {64, 64}, {32, 16}, {}, CU_TENSOR_MAP_SWIZZLE_NONE, {}, 1, {{100, 0}}},
    across = {2, WORDS, {64, 64}, {32, 16}, {}, CU_TENSOR_MAP_SWIZZLE_NONE, {}, 3, {{-4, -1}, {44, 60}, {56, 5}}},
    over_the_end = {2, WORDS, {64, 64}, {32, 16}, {}, CU_TENSOR_MAP_SWIZZLE_NONE, {}, 2, {{44, 60}, {56, 5}}},
    second_row = {2, WORDS, {64, 64}, {32, 16}, {1, 2}, CU_TENSOR_MAP_SWIZZLE_NONE, {}, 2, {{0, 0}, {32, 7}}},
    of_three = {3, WORDS, {16, 16, 16}, {16, 4, 4}, {}, CU_TENSOR_MAP_SWIZZLE_64B, {}, 2, {{0, 0, 0}, {0, 3, 5}}},
    of_a_line = {1, WORDS, {4096}, {256}, {}, CU_TENSOR_MAP_SWIZZLE_NONE, {}, 2, {{4}, {512}}},
    beyond_its_rows = {2, WORDS, {20, 64}, {32, 16}, {}, CU_TENSOR_MAP_SWIZZLE_NONE, {}, 2, {{4, 0}, {4, 7}}},
    rows_of_96 = {2, WORDS, {64, 64}, {24, 16}, {}, CU_TENSOR_MAP_SWIZZLE_NONE, {}, 2, {{0, 0}, {4, 7}}},
    rows_of_64 = {2, WORDS, {64, 64}, {16, 16}, {}, CU_TENSOR_MAP_SWIZZLE_64B, {}, 2, {{4, 0}, {16, 7}}},
    rows_of_256 = {2, WORDS, {128, 32}, {64, 8}, {}, CU_TENSOR_MAP_SWIZZLE_NONE, {}, 2, {{4, 0}, {64, 7}}},
    of_pixels = {4,
                 WORDS,
                 {8, 7, 6, 5},
                 {},
                 {},
                 CU_TENSOR_MAP_SWIZZLE_NONE,
                 {},
                 2,
                 {{0, -1, -1, 0}, {4, 3, 2, 1}},
                 8,
                 20,
                 {-1, -1},
                 {-1, -1},
                 {{0, 0}, {2, 1}}};

typedef void box_kernel(const CUtensorMap, const Places, unsigned *, const unsigned *);

// A tensor map for memory, and another buffer as source or destination.
static void launch(box_kernel *kernel, const Tensor &tensor, unsigned *memory, unsigned *other) {
    CUtensorMap map;
    Places places;
    if (make_map(tensor, memory, &map, &places)) {
        kernel<<<1, THREADS>>>(map, places, other, other);
    } else {
        std::fprintf(stderr, "truth-copies: a tensor map was refused\n");
    }
}

int main() {
    unsigned *a, *result;
    cudaMalloc(&a, ROWS * COLUMNS * 4);
    cudaMalloc(&result, ROWS * COLUMNS * 4);
    cudaMemset(a, 1, ROWS * COLUMNS * 4);
    cudaMemset(result, 0, ROWS * COLUMNS * 4);
    for (auto *kernel : {copy_4096, copy_4096_from_16, copy_16_times_16, copy_48_times_8, copy_128_times_8_from_16,
                         multicast, send_2048, send_2048_to_16, send_48, reduce_2048}) {
        kernel<<<BLOCKS, THREADS>>>(result, a);
    }
    launch(box_rows_of_128, rows_of_128, a, result);
    launch(box_rows_of_128_swizzled, swizzled, a, result);
    launch(box_rows_of_16, rows_of_16, a, result);
    launch(box_rows_of_80, rows_of_80, a, result);
    launch(box_rows_of_80_in_a_row, in_a_row, a, result);
    launch(box_beyond, beyond, a, result);
    launch(box_across, across, a, result);
    launch(box_every_second_row, second_row, a, result);
    launch(box_of_three, of_three, a, result);
    launch(box_of_a_line, of_a_line, a, result);
    launch(box_beyond_its_rows, beyond_its_rows, a, result);
    launch(box_rows_of_96, rows_of_96, a, result);
    launch(box_rows_of_64_swizzled, rows_of_64, a, result);
    launch(box_rows_of_256, rows_of_256, a, result);
    launch(box_fetched_first, rows_of_128, a, result);
    launch(box_of_pixels, of_pixels, a, result);
    launch(store_rows_of_128, rows_of_128, result, a);
    launch(store_rows_of_80, rows_of_80, result, a);
    launch(store_over_the_end, over_the_end, result, a);
    launch(add_rows_of_128, rows_of_128, result, a);
    const cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::fprintf(stderr, "truth-copies: %s\n", cudaGetErrorString(status));
        return 1;
    }
    return 0;
}
