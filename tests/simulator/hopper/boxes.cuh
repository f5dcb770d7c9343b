// Boxes of 1 to 5 dimensions, loaded and stored, out of bounds of the tensor on all sides; and one that is entirely out
// of bounds.
#pragma once

#include "forms.cuh"

template <int RANK>
DEVICE void load_box(uint32_t to, const CUtensorMap *map, uint64_t *barrier, const int *c) {
    uint32_t b = smem(barrier);
#define LOAD(n, places, ...)                                                                                           \
    asm volatile("cp.async.bulk.tensor." #n                                                                            \
                 "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {" places                      \
                 "}], [%2];" ::"r"(to),                                                                                \
                 "l"(map), "r"(b), __VA_ARGS__                                                                         \
                 : "memory")
    if constexpr (RANK == 1)
        LOAD(1, "%3", "r"(c[0]));
    else if constexpr (RANK == 2)
        LOAD(2, "%3, %4", "r"(c[0]), "r"(c[1]));
    else if constexpr (RANK == 3)
        LOAD(3, "%3, %4, %5", "r"(c[0]), "r"(c[1]), "r"(c[2]));
    else if constexpr (RANK == 4)
        LOAD(4, "%3, %4, %5, %6", "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
    else
        LOAD(5, "%3, %4, %5, %6, %7", "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]));
}

template <int RANK>
DEVICE void store_box(const CUtensorMap *map, uint32_t from, const int *c) {
#define STORE(n, places, ...)                                                                                          \
    asm volatile("cp.async.bulk.tensor." #n "d.global.shared::cta.tile.bulk_group [%0, {" places                       \
                 "}], [%1];" ::"l"(map),                                                                               \
                 "r"(from), __VA_ARGS__                                                                                \
                 : "memory")
    if constexpr (RANK == 1)
        STORE(1, "%2", "r"(c[0]));
    else if constexpr (RANK == 2)
        STORE(2, "%2, %3", "r"(c[0]), "r"(c[1]));
    else if constexpr (RANK == 3)
        STORE(3, "%2, %3, %4", "r"(c[0]), "r"(c[1]), "r"(c[2]));
    else if constexpr (RANK == 4)
        STORE(4, "%2, %3, %4, %5", "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
    else
        STORE(5, "%2, %3, %4, %5, %6", "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]));
}

struct At {
    int c[5];
};

template <int RANK>
__global__ void box(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out, At at, int bytes,
                    char *seen) {
    extern __shared__ __align__(1024) char raw[];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        mbarrier_init(&barrier, 1);
        fence_mbarrier_init();
        mbarrier_arrive_expect_tx(&barrier, bytes);
        load_box<RANK>(smem(raw), &in, &barrier, at.c);
    }
    __syncthreads();
    mbarrier_wait(&barrier, 0);
    for (int i = threadIdx.x; i < bytes; i += blockDim.x)
        seen[i] = raw[i];
    if (threadIdx.x == 0 && at.c[0] >= 0) { // a store begins inside of the tensor
        store_box<RANK>(&out, smem(raw), at.c);
        bulk_commit_group();
        bulk_wait_group();
    }
}

template <int RANK>
static bool box_case(CUtensorMapSwizzle swizzle, int inner, const int *corner) {
    const cuuint64_t size[5] = {40, 7, 5, 4, 3};
    const cuuint32_t box_size[5] = {(cuuint32_t)inner, 4, 3, 2, 2}, step[5] = {1, 1, 1, 1, 1};
    cuuint64_t stride[4];
    size_t elements = 48, count = inner; // a row has 8 more than the tensor
    int bytes, taken[5];
    for (int i = 1; i < RANK; i++) {
        stride[i - 1] = elements * 4;
        elements *= size[i];
        count *= box_size[i];
    }
    for (int i = 0; i < 5; i++)
        taken[i] = i < RANK ? box_size[i] : 1;
    bytes = (int)count * 4;
    std::vector<int> host(elements), result(elements), seen(count);
    for (size_t i = 0; i < elements; i++)
        host[i] = (int)i + 1;
    int *in, *out;
    char *device_seen;
    CHECK(cudaMalloc(&in, elements * 4));
    CHECK(cudaMalloc(&out, elements * 4));
    CHECK(cudaMalloc(&device_seen, bytes));
    CHECK(cudaMemcpy(in, host.data(), elements * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(out, 0, elements * 4));
    CUtensorMap maps[2];
    for (int i = 0; i < 2; i++) {
        if (find_encode()(&maps[i], CU_TENSOR_MAP_DATA_TYPE_INT32, RANK, i ? out : in, size, stride, box_size, step,
                          CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                          CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
            return false;
    }
    At at = {};
    memcpy(at.c, corner, RANK * sizeof(int));
    box<RANK><<<1, 32, bytes + 1024>>>(maps[0], maps[1], at, bytes, device_seen);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(seen.data(), device_seen, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(result.data(), out, elements * 4, cudaMemcpyDeviceToHost));
    size_t inside = 0;
    for (size_t i = 0; i < count; i++) {
        size_t rest = i, from = 0, step_size = 1;
        bool within = true;
        for (int r = 0; r < RANK; r++) {
            int c = corner[r] + (int)(rest % taken[r]);
            rest /= taken[r];
            within = within && c >= 0 && c < (int)size[r];
            from += c * step_size;
            step_size *= r ? size[r] : 48;
        }
        int span = swizzle == CU_TENSOR_MAP_SWIZZLE_NONE ? 16 : 16 << (int)swizzle;
        int got = seen[swizzled((int)i * 4, span) / 4], wanted = within ? host[from] : 0;
        const bool stores = within && corner[0] >= 0;
        if (!equal("a box", got, wanted) || (stores && !equal("a stored box", result[from], wanted)))
            return false;
        inside += stores;
    }
    size_t stored = 0;
    for (int x : result)
        stored += x != 0;
    return equal("elements stored", (double)stored, (double)inside);
}

template <int RANK>
static bool boxes_of() {
    const int corners[4][5] = {{0, 0, 0, 0, 0}, {-4, -1, -1, -1, -1}, {36, 5, 3, 3, 2}, {100, 0, 0, 0, 0}};
    bool right = true;
    for (const int *corner : corners) {
        bool same = box_case<RANK>(CU_TENSOR_MAP_SWIZZLE_NONE, 12, corner) &&
                    box_case<RANK>(CU_TENSOR_MAP_SWIZZLE_32B, 8, corner) &&
                    box_case<RANK>(CU_TENSOR_MAP_SWIZZLE_64B, 16, corner) &&
                    box_case<RANK>(CU_TENSOR_MAP_SWIZZLE_128B, 32, corner);
        if (!same)
            printf("%d dimensions, from %d on\n", RANK, corner[0]);
        right &= same;
    }
    return right;
}

static bool boxes() {
    return boxes_of<1>() & boxes_of<2>() & boxes_of<3>() & boxes_of<4>() & boxes_of<5>();
}

// Such a box is neither stored nor read: its buffer may be refilled once the group has been waited for.
__global__ void beyond(const __grid_constant__ CUtensorMap map, int *out) {
    extern __shared__ __align__(1024) int tile[]; // [8][32]
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        mbarrier_init(&barrier, 1);
        fence_mbarrier_init();
        for (int phase = 0; phase < 2; phase++) {
            mbarrier_arrive_expect_tx(&barrier, 1024);
            tma_load_2d(tile, &map, &barrier, 0, 0);
            mbarrier_wait(&barrier, phase);
            tma_store_2d(&map, tile, 0, 8);
            bulk_commit_group();
            bulk_wait_group_read();
        }
        out[0] = tile[37];
    }
}

static bool stored_beyond() {
    std::vector<int> host(256);
    for (int i = 0; i < 256; i++)
        host[i] = i;
    int *tensor, *out, got;
    CHECK(cudaMalloc(&tensor, 1024));
    CHECK(cudaMalloc(&out, 4));
    CHECK(cudaMemcpy(tensor, host.data(), 1024, cudaMemcpyHostToDevice));
    const cuuint64_t size[] = {32, 8}, stride[] = {128};
    const cuuint32_t box[] = {32, 8}, step[] = {1, 1};
    CUtensorMap map;
    if (find_encode()(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, tensor, size, stride, box, step,
                      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
        return false;
    beyond<<<1, 32, 1024>>>(map, out);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&got, out, 4, cudaMemcpyDeviceToHost));
    return equal("a place copied to again", got, 37);
}
