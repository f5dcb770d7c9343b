// im2col mode: the pixels that a convolution reads for one position of its filter, and the reverse; tensors of 3, 4 and
// 5 dimensions, C W H D N, with padding, strides and dilation.
#pragma once

#include "forms.cuh"

typedef CUresult encode_im2col(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                               const cuuint64_t *, const int *, const int *, cuuint32_t, cuuint32_t, const cuuint32_t *,
                               CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                               CUtensorMapFloatOOBfill);
typedef CUresult replace_address(CUtensorMap *, void *);

template <typename Function>
static Function *find_driver(const char *name) {
    void *function = nullptr;
    cudaDriverEntryPointQueryResult result;
#if CUDART_VERSION >= 12050
    cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &result);
#else
    cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &result);
#endif
    if (!function) {
        printf("there is no %s\n", name);
        exit(1);
    }
    return (Function *)function;
}

struct Pixels {
    int at[5], tap[3];
};

template <int RANK>
__global__ void pixels(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out, Pixels p,
                       int bytes, int *seen) {
    extern __shared__ __align__(1024) int columns[];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        const uint32_t to = smem(columns), b = smem(&barrier);
        const uint16_t s = p.tap[0], r = p.tap[1], t = p.tap[2];
        const int *c = p.at;
        mbarrier_init(&barrier, 1);
        fence_mbarrier_init();
        mbarrier_arrive_expect_tx(&barrier, bytes);
#define IM2COL(n, coordinates, offsets, ...)                                                                           \
    asm volatile("cp.async.bulk.prefetch.tensor." #n "d.L2.global.im2col [%1, {" coordinates "}], {" offsets "};\n\t"  \
                 "cp.async.bulk.tensor." #n                                                                            \
                 "d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {" coordinates               \
                 "}], [%2], {" offsets "};" ::"r"(to),                                                                 \
                 "l"(&in), "r"(b), "h"(s), "h"(r), "h"(t), __VA_ARGS__                                                 \
                 : "memory")
        if constexpr (RANK == 3)
            IM2COL(3, "%6, %7, %8", "%3", "r"(c[0]), "r"(c[1]), "r"(c[2]));
        else if constexpr (RANK == 4)
            IM2COL(4, "%6, %7, %8, %9", "%3, %4", "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
        else
            IM2COL(5, "%6, %7, %8, %9, %10", "%3, %4, %5", "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]));
    }
    __syncthreads();
    mbarrier_wait(&barrier, 0);
    for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x)
        seen[i] = columns[i];
    if (RANK == 4 && threadIdx.x == 0) {
        asm volatile(
            "cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group [%0, {%2, %3, %4, %5}], [%1];" ::"l"(
                &out),
            "r"(smem(columns)), "r"(p.at[0]), "r"(p.at[1]), "r"(p.at[2]), "r"(p.at[3])
            : "memory");
        bulk_commit_group();
        bulk_wait_group();
    }
}

// One position of the filter (tap) of a convolution over all output pixels from the first-th on: pixel i is the input
// at (output * stride - padding + tap * dilation), 0 out of bounds.
template <int RANK>
static bool convolution(int padding, int stride, int dilation, int tap, int first, CUtensorMapSwizzle swizzle) {
    const int spatial = RANK - 2, filter = 3, channels = 8, begin = 4, count = 20;
    const cuuint64_t size[5] = {16, 7, RANK > 3 ? 6u : 2u, RANK > 4 ? 5u : 2u, 2};
    const cuuint32_t step[5] = {1, (cuuint32_t)stride, RANK > 3 ? (cuuint32_t)stride : 1u,
                                RANK > 4 ? (cuuint32_t)stride : 1u, 1};
    int lower[3], upper[3], outputs[3] = {1, 1, 1};
    cuuint64_t pitch[4], elements = size[0];
    for (int i = 0; i < spatial; i++) {
        lower[i] = -padding;
        upper[i] = padding - (filter - 1) * dilation;
        outputs[i] = ((int)size[i + 1] + 2 * padding - (filter - 1) * dilation - 1) / stride + 1;
    }
    for (int i = 1; i < RANK; i++) {
        pitch[i - 1] = elements * 4;
        elements *= size[i];
    }
    std::vector<int> host(elements), seen(count * channels), back(elements);
    for (size_t i = 0; i < elements; i++)
        host[i] = (int)i + 1;
    int *in, *other, *out, *device_seen;
    CHECK(cudaMalloc(&in, elements * 4));
    CHECK(cudaMalloc(&other, elements * 4));
    CHECK(cudaMalloc(&out, elements * 4));
    CHECK(cudaMalloc(&device_seen, count * channels * 4));
    CHECK(cudaMemcpy(in, host.data(), elements * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(out, 0, elements * 4));
    CUtensorMap maps[2];
    auto *encode = find_driver<encode_im2col>("cuTensorMapEncodeIm2col");
    for (int i = 0; i < 2; i++)
        if (encode(&maps[i], CU_TENSOR_MAP_DATA_TYPE_INT32, RANK, i ? out : other, size, pitch, lower, upper, channels,
                   count, step, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
            return false;
    if (find_driver<replace_address>("cuTensorMapReplaceAddress")(&maps[0], in) != CUDA_SUCCESS)
        return false;
    Pixels p = {{begin}, {tap * dilation, tap * dilation, tap * dilation}};
    int rest = first;
    for (int i = 0; i < spatial; i++) {
        p.at[i + 1] = rest % outputs[i] * stride - padding;
        rest /= outputs[i];
    }
    p.at[RANK - 1] = rest;
    pixels<RANK><<<1, 32, count * channels * 4 + 1024>>>(maps[0], maps[1], p, count * channels * 4, device_seen);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(seen.data(), device_seen, count * channels * 4, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(back.data(), out, elements * 4, cudaMemcpyDeviceToHost));
    size_t stored = 0, wanted_stored = 0;
    for (int i = 0; i < count; i++) {
        int index = first + i;
        cuuint64_t from = begin, to = begin;
        bool within = true, within_out = true;
        for (int d = 0; d < spatial; d++) {
            const int at = index % outputs[d] * stride - padding, read = at + tap * dilation;
            index /= outputs[d];
            within &= read >= 0 && read < (int)size[d + 1];
            within_out &= at >= 0 && at < (int)size[d + 1];
            from += read * (pitch[d] / 4);
            to += at * (pitch[d] / 4);
        }
        within &= index < (int)size[RANK - 1];
        within_out &= index < (int)size[RANK - 1];
        from += index * (pitch[spatial] / 4);
        to += index * (pitch[spatial] / 4);
        const int span = swizzle == CU_TENSOR_MAP_SWIZZLE_NONE ? 16 : 16 << (int)swizzle;
        for (int c = 0; c < channels; c++) {
            const int got = seen[swizzled((i * channels + c) * 4, span) / 4], wanted = within ? host[from + c] : 0;
            if (!equal("a pixel", got, wanted))
                return false;
            if (RANK == 4 && within_out && !equal("a stored pixel", back[to + c], wanted))
                return false;
            wanted_stored += RANK == 4 && within_out && wanted;
        }
    }
    for (int x : back)
        stored += x != 0;
    return equal("elements stored", (double)stored, (double)wanted_stored);
}

template <int RANK>
static bool convolutions() {
    bool right = true;
    for (int tap = 0; tap < 3; tap++)
        for (int first : {0, 3, 11})
            right &= convolution<RANK>(1, 1, 1, tap, first, CU_TENSOR_MAP_SWIZZLE_NONE) &&
                     convolution<RANK>(2, 2, 1, tap, first, CU_TENSOR_MAP_SWIZZLE_32B) &&
                     convolution<RANK>(0, 1, 2, tap, first, CU_TENSOR_MAP_SWIZZLE_NONE);
    return right;
}

static bool im2col() {
    return convolutions<3>() & convolutions<4>() & convolutions<5>();
}

static bool im2col_refused() {
    const cuuint64_t size[5] = {64, 8, 8, 2, 2}, stride[4] = {128, 1024, 8192, 16384};
    const cuuint32_t one[5] = {1, 1, 1, 1, 1};
    const int low[3] = {-1, -1, -1}, high[3] = {-1, -1, -1}, far[3] = {-200, 0, 0}, gone[3] = {-9, -9, -9};
    auto *encode = find_driver<encode_im2col>("cuTensorMapEncodeIm2col");
    CUtensorMap map;
    void *memory;
    bool good = true;
    CHECK(cudaMalloc(&memory, 1 << 16));
    const auto answer = [&](const char *what, int rank, const int *lower, const int *upper, int channels, int pixels,
                            CUtensorMapSwizzle swizzle, bool right) {
        CUresult result = encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, rank, memory, size, stride, lower, upper,
                                 channels, pixels, one, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                                 CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
        if (result != (right ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE)) {
            printf("%s: %d\n", what, (int)result);
            good = false;
        }
    };
    const auto s128 = CU_TENSOR_MAP_SWIZZLE_128B;
    answer("a right map of pixels", 4, low, high, 64, 1024, s128, true);
    answer("pixels of 2 dimensions", 2, low, high, 64, 64, s128, false);
    answer("a corner too far away", 4, far, high, 64, 64, s128, false);
    answer("a far corner of 3 dimensions", 3, far, high, 64, 64, s128, true);
    answer("a box without pixels", 4, low, gone, 64, 64, s128, false);
    answer("257 channels", 4, low, high, 257, 64, CU_TENSOR_MAP_SWIZZLE_NONE, false);
    answer("channels wider than the swizzle", 4, low, high, 128, 64, s128, false);
    answer("1025 pixels", 4, low, high, 64, 1025, s128, false);
    return good;
}
