// Bulk tensor copies: the bytes of shared memory after a load, and the tensor after stores and reductions. Boxes are
// inside the tensor, cross its edge, and are out of bounds; 1 to 5 dimensions, all swizzle modes.
//
// architecture: sm_90a
#include "replaced.cuh"

// ---- Kernels and launches ------------------------------------------------------------------------------------------

template <int RANK, bool PIXELS>
__global__ void load(const __grid_constant__ CUtensorMap map, const __grid_constant__ Places places, unsigned *result) {
    load_boxes<RANK, PIXELS, true>(map, places, result);
}

template <int RANK, class Operation>
__global__ void store(const __grid_constant__ CUtensorMap map, const __grid_constant__ Places places,
                      const unsigned *a) {
    store_boxes<RANK, Operation>(map, places, a);
}

template <int RANK, bool PIXELS>
__global__ void load_apart(const __grid_constant__ CUtensorMap map, const __grid_constant__ Places places,
                           unsigned *result) {
    load_boxes<RANK, PIXELS, false, true>(map, places, result);
}

// A tensor map that the kernel creates from another one.
__device__ CUtensorMap replaced_map;

template <const Tensor &T, bool IN_GLOBAL>
__global__ void load_replaced(const __grid_constant__ CUtensorMap model, const __grid_constant__ Places places,
                              const __grid_constant__ Fields fields, const void *memory, unsigned *result) {
    publish_replaced<T, IN_GLOBAL>(&replaced_map, model, memory, fields);
    load_boxes<T.rank, false, false>(replaced_map, places, result);
}

template <const Tensor &T, bool IN_GLOBAL>
__global__ void store_replaced(const __grid_constant__ CUtensorMap model, const __grid_constant__ Places places,
                               const __grid_constant__ Fields fields, void *memory, const unsigned *a) {
    publish_replaced<T, IN_GLOBAL>(&replaced_map, model, memory, fields);
    store_boxes<T.rank, Store>(replaced_map, places, a);
}

template <const Tensor &T>
static int launch_load(const struct truth_form *, void *result, void *const input[3]) {
    CUtensorMap map;
    Places places;
    if (!make_map(T, input[0], &map, &places)) {
        return cudaErrorInvalidValue;
    }
    load<T.rank, (T.pixels > 0)><<<1, 128>>>(map, places, static_cast<unsigned *>(result));
    return cudaGetLastError();
}

// Boxes whose rows are padded in shared memory; the padding is also compared.
template <const Tensor &T>
static int launch_load_apart(const struct truth_form *, void *result, void *const input[3]) {
    CUtensorMap map;
    Places places;
    if (!make_map(T, input[0], &map, &places)) {
        return cudaErrorInvalidValue;
    }
    load_apart<T.rank, (T.pixels > 0)><<<1, 128>>>(map, places, static_cast<unsigned *>(result));
    return cudaGetLastError();
}

// Boxes of a are stored to b or combined with b. No box starts at a negative coordinate: on an H200 such stores and
// reductions are illegal instructions, such loads are not.
template <const Tensor &T, class Operation>
static int launch_store(const struct truth_form *, void *result, void *const input[3]) {
    CUtensorMap map;
    Places places;
    const cudaError_t copied = cudaMemcpy(result, input[1], 4 * TRUTH_ELEMENTS, cudaMemcpyDeviceToDevice);
    if (copied != cudaSuccess || !make_map(T, result, &map, &places)) {
        return copied ? copied : cudaErrorInvalidValue;
    }
    for (auto &corner : places.corner) {
        for (int &place : corner) {
            place = place < 0 ? 0 : place;
        }
    }
    store<T.rank, Operation><<<1, 128>>>(map, places, static_cast<const unsigned *>(input[0]));
    return cudaGetLastError();
}

#define TYPE(name) CU_TENSOR_MAP_DATA_TYPE_##name
#define NO_SWIZZLE CU_TENSOR_MAP_SWIZZLE_NONE
#define ZEROS CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE
#define NANS CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
#define WORDS TYPE(UINT32), 4

// clang-format off
static constexpr Tensor
    line = {1, WORDS, {2000}, {256}, {}, NO_SWIZZLE, ZEROS, 4, {{0}, {-8}, {1900}, {3000}}},
    matrix = {2, WORDS, {40, 50}, {36, 8}, {}, NO_SWIZZLE, ZEROS, 4, {{0, 0}, {-4, -1}, {28, 45}, {100, 0}}},
    matrix_32 = {2, WORDS, {40, 50}, {8, 16}, {}, CU_TENSOR_MAP_SWIZZLE_32B, ZEROS, 4, {{0, 0}, {-4, -1}, {36, 45}, {4, 60}}},
    matrix_64 = {2, WORDS, {40, 50}, {16, 16}, {}, CU_TENSOR_MAP_SWIZZLE_64B, ZEROS, 4, {{0, 0}, {-4, -1}, {36, 45}, {4, 60}}},
    matrix_128 = {2, WORDS, {40, 50}, {32, 16}, {}, CU_TENSOR_MAP_SWIZZLE_128B, ZEROS, 4, {{0, 0}, {-4, -1}, {36, 45}, {4, 60}}},
    matrix_steps = {2, WORDS, {40, 50}, {16, 9}, {1, 2}, NO_SWIZZLE, ZEROS, 4, {{0, 0}, {-4, -1}, {28, 45}, {8, 7}}},
    volume = {3, WORDS, {20, 10, 10}, {8, 4, 3}, {}, NO_SWIZZLE, ZEROS, 4, {{0, 0, 0}, {-4, -1, -1}, {16, 8, 8}, {4, 4, 20}}},
    volume_128 = {3, WORDS, {20, 10, 10}, {32, 4, 3}, {}, CU_TENSOR_MAP_SWIZZLE_128B, ZEROS, 4, {{0, 0, 0}, {-4, -1, -1}, {16, 8, 8}, {4, 4, 20}}},
    volume_steps = {3, WORDS, {20, 10, 10}, {8, 7, 5}, {1, 3, 2}, NO_SWIZZLE, ZEROS, 3, {{0, 0, 0}, {-4, -1, -1}, {8, 4, 4}}},
    four = {4, WORDS, {12, 7, 5, 4}, {8, 4, 3, 2}, {}, NO_SWIZZLE, ZEROS, 4, {{0, 0, 0, 0}, {-4, -1, -1, -1}, {8, 5, 3, 3}, {0, 0, 5, 0}}},
    four_64 = {4, WORDS, {12, 7, 5, 4}, {16, 4, 3, 2}, {}, CU_TENSOR_MAP_SWIZZLE_64B, ZEROS, 4, {{0, 0, 0, 0}, {-4, -1, -1, -1}, {8, 5, 3, 3}, {0, 0, 5, 0}}},
    five = {5, WORDS, {12, 5, 4, 4, 2}, {8, 3, 3, 2, 2}, {}, NO_SWIZZLE, ZEROS, 4, {{0, 0, 0, 0, 0}, {-4, -1, -1, -1, -1}, {8, 3, 2, 3, 1}, {0, 0, 0, 0, 2}}},
    five_128 = {5, WORDS, {12, 5, 4, 4, 2}, {32, 3, 2, 2, 2}, {}, CU_TENSOR_MAP_SWIZZLE_128B, ZEROS, 2, {{0, 0, 0, 0, 0}, {-4, -1, -1, -1, -1}}},
    of_u8 = {2, TYPE(UINT8), 1, {128, 60}, {64, 8}, {}, NO_SWIZZLE, ZEROS, 4, {{0, 0}, {-16, -1}, {80, 55}, {0, 0}}},
    of_u16 = {2, TYPE(UINT16), 2, {64, 60}, {64, 8}, {}, CU_TENSOR_MAP_SWIZZLE_128B, ZEROS, 3, {{0, 0}, {-8, -1}, {40, 55}}},
    of_u64 = {2, TYPE(UINT64), 8, {20, 50}, {16, 8}, {}, CU_TENSOR_MAP_SWIZZLE_128B, ZEROS, 3, {{0, 0}, {-6, -1}, {12, 45}}},
    of_f16 = {2, TYPE(FLOAT16), 2, {64, 60}, {64, 8}, {}, CU_TENSOR_MAP_SWIZZLE_128B, NANS, 3, {{0, 0}, {-8, -1}, {40, 55}}},
    of_bf16 = {2, TYPE(BFLOAT16), 2, {64, 60}, {64, 8}, {}, CU_TENSOR_MAP_SWIZZLE_128B, NANS, 3, {{0, 0}, {-8, -1}, {40, 55}}},
    of_f32 = {2, TYPE(FLOAT32), 4, {40, 50}, {32, 16}, {}, CU_TENSOR_MAP_SWIZZLE_128B, NANS, 3, {{0, 0}, {-4, -1}, {36, 45}}},
    of_f32_ftz = {2, TYPE(FLOAT32_FTZ), 4, {40, 50}, {36, 8}, {}, NO_SWIZZLE, ZEROS, 3, {{0, 0}, {-4, -1}, {28, 45}}},
    of_tf32 = {2, TYPE(TFLOAT32), 4, {40, 50}, {36, 8}, {}, NO_SWIZZLE, NANS, 3, {{0, 0}, {-4, -1}, {28, 45}}},
    of_tf32_ftz = {2, TYPE(TFLOAT32_FTZ), 4, {40, 50}, {36, 8}, {}, NO_SWIZZLE, ZEROS, 3, {{0, 0}, {-4, -1}, {28, 45}}},
    of_f64 = {2, TYPE(FLOAT64), 8, {20, 50}, {16, 8}, {}, NO_SWIZZLE, NANS, 3, {{0, 0}, {-6, -1}, {12, 45}}},
    of_s32 = {2, TYPE(INT32), 4, {40, 50}, {36, 8}, {}, NO_SWIZZLE, ZEROS, 4, {{0, 0}, {-4, -1}, {28, 45}, {100, 0}}},
    of_s64 = {2, TYPE(INT64), 8, {20, 50}, {16, 8}, {}, NO_SWIZZLE, ZEROS, 3, {{0, 0}, {-6, -1}, {12, 45}}};

// Boxes narrower than the swizzle span.
static constexpr Tensor
    apart_32 = {2, WORDS, {40, 50}, {4, 16}, {}, CU_TENSOR_MAP_SWIZZLE_32B, ZEROS, 4, {{0, 0}, {-4, -1}, {36, 45}, {4, 60}}},
    apart_64_16 = {2, WORDS, {40, 50}, {4, 16}, {}, CU_TENSOR_MAP_SWIZZLE_64B, ZEROS, 4, {{0, 0}, {-4, -1}, {36, 45}, {4, 60}}},
    apart_64_48 = {2, WORDS, {40, 50}, {12, 16}, {}, CU_TENSOR_MAP_SWIZZLE_64B, ZEROS, 4, {{0, 0}, {-4, -1}, {36, 45}, {4, 60}}},
    apart_128_16 = {2, WORDS, {40, 50}, {4, 16}, {}, CU_TENSOR_MAP_SWIZZLE_128B, ZEROS, 4, {{0, 0}, {-4, -1}, {36, 45}, {4, 60}}},
    apart_128_32 = {2, WORDS, {40, 50}, {8, 16}, {}, CU_TENSOR_MAP_SWIZZLE_128B, ZEROS, 4, {{0, 0}, {-4, -1}, {36, 45}, {4, 60}}},
    apart_128_64 = {2, WORDS, {40, 50}, {16, 16}, {}, CU_TENSOR_MAP_SWIZZLE_128B, ZEROS, 4, {{0, 0}, {-4, -1}, {36, 45}, {4, 60}}},
    apart_128_96 = {2, WORDS, {40, 50}, {24, 16}, {}, CU_TENSOR_MAP_SWIZZLE_128B, ZEROS, 4, {{0, 0}, {-4, -1}, {36, 45}, {4, 60}}},
    apart_128_3d = {3, WORDS, {20, 10, 10}, {8, 4, 3}, {}, CU_TENSOR_MAP_SWIZZLE_128B, ZEROS, 4, {{0, 0, 0}, {-4, -1, -1}, {16, 8, 8}, {4, 4, 20}}},
    apart_128_nan = {2, TYPE(BFLOAT16), 2, {64, 60}, {40, 8}, {}, CU_TENSOR_MAP_SWIZZLE_128B, NANS, 3, {{0, 0}, {-8, -1}, {40, 55}}},
    apart_pixels = {4, WORDS, {8, 7, 6, 5}, {}, {}, CU_TENSOR_MAP_SWIZZLE_64B, ZEROS, 4, {{0, -1, -1, 0}, {0, -1, -1, 0}, {0, 3, 2, 1}, {4, 4, 3, 4}}, 8, 20, {-1, -1}, {-1, -1}, {{0, 0}, {1, 2}, {2, 1}, {2, 2}}};

// Channels, W, H, D, N. Convolutions with 3 taps: padding 1; padding 2 and stride 2; no padding and dilation 2.
static constexpr Tensor
    pixels_3 = {3, WORDS, {8, 14, 16}, {}, {}, NO_SWIZZLE, ZEROS, 4, {{0, -1, 0}, {0, -1, 0}, {0, 5, 2}, {4, 10, 15}}, 8, 20, {-1}, {-1}, {{0}, {1}, {2}, {2}}},
    pixels_4 = {4, WORDS, {8, 7, 6, 5}, {}, {}, NO_SWIZZLE, ZEROS, 4, {{0, -1, -1, 0}, {0, -1, -1, 0}, {0, 3, 2, 1}, {4, 4, 3, 4}}, 8, 20, {-1, -1}, {-1, -1}, {{0, 0}, {1, 2}, {2, 1}, {2, 2}}},
    pixels_4_steps = {4, WORDS, {8, 7, 6, 5}, {}, {1, 2, 2, 1}, CU_TENSOR_MAP_SWIZZLE_32B, ZEROS, 3, {{0, -2, -2, 0}, {0, 0, 2, 1}, {0, 2, 2, 4}}, 8, 20, {-2, -2}, {0, 0}, {{0, 0}, {1, 2}, {2, 2}}},
    pixels_4_apart = {4, WORDS, {8, 7, 6, 5}, {}, {}, NO_SWIZZLE, ZEROS, 3, {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 2, 1, 4}}, 8, 20, {0, 0}, {-4, -4}, {{0, 0}, {2, 4}, {4, 4}}},
    pixels_5 = {5, WORDS, {8, 7, 6, 3, 2}, {}, {}, NO_SWIZZLE, ZEROS, 4, {{0, -1, -1, -1, 0}, {0, -1, -1, -1, 0}, {0, 3, 2, 0, 1}, {4, 4, 3, 0, 1}}, 8, 20, {-1, -1, -1}, {-1, -1, -1}, {{0, 0, 0}, {1, 2, 1}, {2, 1, 0}, {2, 2, 2}}};
// clang-format on

// Templates of other maps, which replace nearly all fields.
// clang-format off
static constexpr Tensor
    model = {4, TYPE(FLOAT16), 2, {24, 9, 6, 2}, {16, 3, 2, 2}, {1, 4, 3, 5}, CU_TENSOR_MAP_SWIZZLE_32B, NANS, 1, {{0, 0, 0, 0}}};
// clang-format on

template <const Tensor &T, bool IN_GLOBAL>
static int launch_load_replaced(const struct truth_form *, void *result, void *const input[3]) {
    CUtensorMap map, made;
    Places places, other;
    if (!make_map(T, input[0], &made, &places) || !make_map(model, result, &map, &other)) {
        return cudaErrorInvalidValue;
    }
    load_replaced<T, IN_GLOBAL><<<1, 128>>>(map, places, fields_of(T), input[0], static_cast<unsigned *>(result));
    return cudaGetLastError();
}

template <const Tensor &T, bool IN_GLOBAL>
static int launch_store_replaced(const struct truth_form *, void *result, void *const input[3]) {
    CUtensorMap map, made;
    Places places, other;
    const cudaError_t copied = cudaMemcpy(result, input[1], 4 * TRUTH_ELEMENTS, cudaMemcpyDeviceToDevice);
    if (copied != cudaSuccess || !make_map(T, result, &made, &places) || !make_map(model, input[0], &map, &other)) {
        return copied ? copied : cudaErrorInvalidValue;
    }
    for (auto &corner : places.corner) {
        for (int &place : corner) {
            place = place < 0 ? 0 : place;
        }
    }
    store_replaced<T, IN_GLOBAL>
        <<<1, 128>>>(map, places, fields_of(T), result, static_cast<const unsigned *>(input[0]));
    return cudaGetLastError();
}

#define LOADED(T, A)                                                                                                   \
    { "tensor_load_" #T, nullptr, TRUTH_I32, {TRUTH_##A}, TRUTH_EXACT, 0, launch_load<T> }
#define LOADED_APART(T, A)                                                                                             \
    { "tensor_load_" #T, nullptr, TRUTH_I32, {TRUTH_##A}, TRUTH_EXACT, 0, launch_load_apart<T> }
#define STORED(T)                                                                                                      \
    { "tensor_store_" #T, nullptr, TRUTH_I32, {TRUTH_I32, TRUTH_I32}, TRUTH_EXACT, 0, launch_store<T, Store> }
#define REDUCED(name, T, Operation, A)                                                                                 \
    { "tensor_" #name, nullptr, TRUTH_I32, {TRUTH_##A, TRUTH_##A}, TRUTH_EXACT, 0, launch_store<T, Operation> }

#define LOAD_REPLACED(T, A)                                                                                            \
    {"tensormap_replaced_" #T, nullptr, TRUTH_I32, {TRUTH_##A}, TRUTH_EXACT, 0, launch_load_replaced<T, false>}, {     \
        "tensormap_replaced_in_global_" #T, nullptr, TRUTH_I32, {TRUTH_##A}, TRUTH_EXACT, 0,                           \
            launch_load_replaced<T, true>                                                                              \
    }
#define STORE_REPLACED(T)                                                                                              \
    {                                                                                                                  \
        "tensormap_replaced_store_" #T, nullptr, TRUTH_I32, {TRUTH_I32, TRUTH_I32}, TRUTH_EXACT, 0,                    \
            launch_store_replaced<T, false>                                                                            \
    }

extern "C" const struct truth_form truth_tensor[] = {
    LOADED(line, I32),
    LOADED(matrix, I32),
    LOADED(matrix_32, I32),
    LOADED(matrix_64, I32),
    LOADED(matrix_128, I32),
    LOADED(matrix_steps, I32),
    LOADED(volume, I32),
    LOADED(volume_128, I32),
    LOADED(volume_steps, I32),
    LOADED(four, I32),
    LOADED(four_64, I32),
    LOADED(five, I32),
    LOADED(five_128, I32),
    LOADED(of_u8, I32),
    LOADED(of_u16, I32),
    LOADED(of_u64, I32),
    LOADED(of_f16, F16X2),
    LOADED(of_bf16, BF16X2),
    LOADED(of_f32, F32),
    LOADED(of_f32_ftz, F32),
    LOADED(of_tf32, F32),
    LOADED(of_tf32_ftz, F32),
    LOADED(of_f64, I32),
    LOADED(pixels_3, I32),
    LOADED(pixels_4, I32),
    LOADED(pixels_4_steps, I32),
    LOADED(pixels_4_apart, I32),
    LOADED(pixels_5, I32),
    LOADED_APART(apart_32, I32),
    LOADED_APART(apart_64_16, I32),
    LOADED_APART(apart_64_48, I32),
    LOADED_APART(apart_128_16, I32),
    LOADED_APART(apart_128_32, I32),
    LOADED_APART(apart_128_64, I32),
    LOADED_APART(apart_128_96, I32),
    LOADED_APART(apart_128_3d, I32),
    LOADED_APART(apart_128_nan, BF16X2),
    LOADED_APART(apart_pixels, I32),
    STORED(line),
    STORED(matrix),
    STORED(matrix_32),
    STORED(matrix_64),
    STORED(matrix_128),
    STORED(matrix_steps),
    STORED(volume),
    STORED(volume_128),
    STORED(four),
    STORED(four_64),
    STORED(five),
    STORED(of_u8),
    STORED(of_u16),
    STORED(of_u64),
    STORED(apart_32),
    STORED(apart_64_16),
    STORED(apart_64_48),
    STORED(apart_128_16),
    STORED(apart_128_96),
    STORED(apart_128_3d),
    {"tensor_store_pixels_4_apart",
     nullptr,
     TRUTH_I32,
     {TRUTH_I32, TRUTH_I32},
     TRUTH_EXACT,
     0,
     launch_store<pixels_4_apart, StorePixels>},
    REDUCED(add_u32, matrix, Add, I32),
    REDUCED(add_u32_5d, five, Add, I32),
    REDUCED(add_u32_128, matrix_128, Add, I32),
    REDUCED(add_u32_apart, apart_128_96, Add, I32),
    REDUCED(add_s32, of_s32, Add, I32),
    REDUCED(add_u64, of_u64, Add, I32),
    REDUCED(add_f16, of_f16, Add, F16X2),
    REDUCED(add_bf16, of_bf16, Add, BF16X2),
    REDUCED(add_f32, of_f32, Add, F32),
    REDUCED(min_u32, matrix, Min, I32),
    REDUCED(min_s32, of_s32, Min, I32),
    REDUCED(min_s64, of_s64, Min, I32),
    REDUCED(min_f16, of_f16, Min, F16X2),
    REDUCED(max_u32, matrix, Max, I32),
    REDUCED(max_s32, of_s32, Max, I32),
    REDUCED(max_u64, of_u64, Max, I32),
    REDUCED(max_bf16, of_bf16, Max, BF16X2),
    REDUCED(inc_u32, matrix, Inc, I32),
    REDUCED(dec_u32, matrix, Dec, I32),
    REDUCED(and_b32, matrix, And, I32),
    REDUCED(or_b32, of_s32, Or, I32),
    REDUCED(xor_b64, of_u64, Xor, I32),
    LOAD_REPLACED(line, I32),
    LOAD_REPLACED(matrix_64, I32),
    LOAD_REPLACED(matrix_128, I32),
    LOAD_REPLACED(matrix_steps, I32),
    LOAD_REPLACED(volume_steps, I32),
    LOAD_REPLACED(five, I32),
    LOAD_REPLACED(of_u8, I32),
    LOAD_REPLACED(of_s64, I32),
    LOAD_REPLACED(of_bf16, BF16X2),
    LOAD_REPLACED(of_f32, F32),
    LOAD_REPLACED(of_f32_ftz, F32),
    LOAD_REPLACED(of_tf32, F32),
    LOAD_REPLACED(of_f64, I32),
    STORE_REPLACED(matrix_128),
    STORE_REPLACED(volume),
    STORE_REPLACED(of_u16),
    {},
};
