// Arguments that cuTensorMapEncodeTiled accepts and rejects.
#pragma once

#include "hopper.cuh"

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
    good &= find_driver<replace_address>("cuTensorMapReplaceAddress")(&map, (char *)memory + 1024) == CUDA_SUCCESS;
    answer("pixels of 2 dimensions", 2, low, high, 64, 64, s128, false);
    answer("a corner too far away", 4, far, high, 64, 64, s128, false);
    answer("a far corner of 3 dimensions", 3, far, high, 64, 64, s128, true);
    answer("a box without pixels", 4, low, gone, 64, 64, s128, false);
    answer("257 channels", 4, low, high, 257, 64, CU_TENSOR_MAP_SWIZZLE_NONE, false);
    answer("channels wider than the swizzle", 4, low, high, 128, 64, s128, false);
    answer("1025 pixels", 4, low, high, 64, 1025, s128, false);
    return good;
}

constexpr uintptr_t NOWHERE = 1;

static bool refused(const char *what, CUtensorMapDataType type, int rank, uintptr_t shift, const cuuint64_t *size,
                    const cuuint64_t *stride, const cuuint32_t *box, const cuuint32_t *step,
                    CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle, CUtensorMapFloatOOBfill fill,
                    CUresult expected) {
    static void *memory;
    CUtensorMap map;
    if (!memory)
        CHECK(cudaMalloc(&memory, 1 << 20));
    void *address = shift == NOWHERE ? nullptr : (char *)memory + shift;
    CUresult result = find_encode()(&map, type, rank, address, size, stride, box, step, interleave, swizzle,
                                    CU_TENSOR_MAP_L2_PROMOTION_NONE, fill);
    if (result == expected)
        return true;
    printf("%s: %d\n", what, (int)result);
    return false;
}

static bool encoder() {
    const cuuint64_t size[5] = {64, 64, 2, 2, 2}, none[5] = {64, 0, 2, 2, 2}, stride[4] = {128, 8192, 16384, 32768},
                     odd[4] = {136, 8192, 16384, 32768}, far[4] = {1ull << 40, 16, 16, 16};
    const cuuint32_t box[5] = {64, 64, 1, 1, 1}, wide[5] = {128, 8, 1, 1, 1}, high[5] = {64, 257, 1, 1, 1},
                     narrow[5] = {4, 8, 1, 1, 1}, empty[5] = {64, 0, 1, 1, 1}, one[5] = {1, 1, 1, 1, 1},
                     nine[5] = {1, 9, 1, 1, 1}, zero[5] = {1, 0, 1, 1, 1};
    auto bf16 = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    auto plain = CU_TENSOR_MAP_INTERLEAVE_NONE;
    auto s128 = CU_TENSOR_MAP_SWIZZLE_128B, s64 = CU_TENSOR_MAP_SWIZZLE_64B, s0 = CU_TENSOR_MAP_SWIZZLE_NONE;
    auto zeros = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE, nans = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
    const auto right = CUDA_SUCCESS, wrong = CUDA_ERROR_INVALID_VALUE, lacking = CUDA_ERROR_NOT_SUPPORTED;
    auto slices16 = CU_TENSOR_MAP_INTERLEAVE_16B, slices32 = CU_TENSOR_MAP_INTERLEAVE_32B;
    auto s32 = CU_TENSOR_MAP_SWIZZLE_32B;
    const cuuint64_t halves[4] = {128, 8208, 16384, 32768};
    return im2col_refused() & refused("a right map", bf16, 2, 0, size, stride, box, one, plain, s128, zeros, right) &
           refused("of five dimensions", bf16, 5, 16, size, stride, box, one, plain, s128, nans, right) &
           refused("an address", bf16, 2, 8, size, stride, box, one, plain, s128, zeros, wrong) &
           refused("no address", bf16, 2, NOWHERE, size, stride, box, one, plain, s128, zeros, wrong) &
           refused("rank 0", bf16, 0, 0, size, stride, box, one, plain, s128, zeros, wrong) &
           refused("rank 6", bf16, 6, 0, size, stride, box, one, plain, s128, zeros, wrong) &
           refused("no size", bf16, 2, 0, none, stride, box, one, plain, s128, zeros, wrong) &
           refused("an odd stride", bf16, 2, 0, size, odd, box, one, plain, s128, zeros, wrong) &
           refused("a far stride", bf16, 2, 0, size, far, box, one, plain, s128, zeros, wrong) &
           refused("a wide box", bf16, 2, 0, size, stride, wide, one, plain, s128, zeros, wrong) &
           refused("a wide box without a swizzle", bf16, 2, 0, size, stride, wide, one, plain, s0, zeros, right) &
           refused("a box wider than 64", bf16, 2, 0, size, stride, box, one, plain, s64, zeros, wrong) &
           refused("a high box", bf16, 2, 0, size, stride, high, one, plain, s128, zeros, wrong) &
           refused("a narrow box", bf16, 2, 0, size, stride, narrow, one, plain, s128, zeros, wrong) &
           refused("an empty box", bf16, 2, 0, size, stride, empty, one, plain, s128, zeros, wrong) &
           refused("element stride 9", bf16, 2, 0, size, stride, box, nine, plain, s128, zeros, wrong) &
           refused("element stride 0", bf16, 2, 0, size, stride, box, zero, plain, s128, zeros, wrong) &
           refused("NaN integers", CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, 0, size, stride, box, one, plain, s128, nans,
                   wrong) &
           refused("slices of a plane", bf16, 2, 0, size, stride, box, one, slices16, s128, zeros, wrong) &
           refused("slices of 16 bytes", bf16, 3, 16, size, halves, narrow, one, slices16, s128, zeros, lacking) &
           refused("slices of 32 bytes", bf16, 5, 32, size, stride, narrow, one, slices32, s32, zeros, lacking) &
           refused("an address of slices", bf16, 3, 16, size, stride, box, one, slices32, s32, zeros, wrong) &
           refused("strides of slices", bf16, 3, 0, size, halves, box, one, slices32, s32, zeros, wrong) &
           refused("a swizzle of slices", bf16, 3, 0, size, stride, box, one, slices32, s64, zeros, wrong) &
           refused("slices that there are not", bf16, 3, 0, size, stride, box, one, (CUtensorMapInterleave)3, s32,
                   zeros, wrong);
}
