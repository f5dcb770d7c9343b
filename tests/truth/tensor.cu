// Bulk copies of boxes of tensors: what shared memory holds after a load, byte for byte, and what a tensor holds after
// stores and reductions. Boxes lie inside, across an edge, and beyond all of it; of 1 to 5 dimensions, in each swizzle.
//
// architecture: sm_90a
#include "hopper.cuh"
#include "maps.cuh"

// ---- Instructions --------------------------------------------------------------------------------------------------

#define AT_1 "r"(c[0])
#define AT_2 AT_1, "r"(c[1])
#define AT_3 AT_2, "r"(c[2])
#define AT_4 AT_3, "r"(c[3])
#define AT_5 AT_4, "r"(c[4])
#define FROM_3_1 "%3"
#define FROM_3_2 "%3, %4"
#define FROM_3_3 "%3, %4, %5"
#define FROM_3_4 "%3, %4, %5, %6"
#define FROM_3_5 "%3, %4, %5, %6, %7"
#define FROM_2_1 "%2"
#define FROM_2_2 "%2, %3"
#define FROM_2_3 "%2, %3, %4"
#define FROM_2_4 "%2, %3, %4, %5"
#define FROM_2_5 "%2, %3, %4, %5, %6"

#define LOAD_BOX(n)                                                                                                    \
    asm volatile("cp.async.bulk.prefetch.tensor." #n "d.L2.global.tile [%1, {" FROM_3_##n                              \
                 "}]; "                                                                                                \
                 "cp.async.bulk.tensor." #n "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "              \
                 "[%0], [%1, {" FROM_3_##n "}], [%2];" ::"r"(smem(to)),                                                \
                 "l"(map), "r"(smem(barrier)), AT_##n                                                                  \
                 : "memory")
template <int RANK>
DEVICE void load_box(void *to, const CUtensorMap *map, uint64_t *barrier, const int *c) {
    if constexpr (RANK == 1) {
        LOAD_BOX(1);
    } else if constexpr (RANK == 2) {
        LOAD_BOX(2);
    } else if constexpr (RANK == 3) {
        LOAD_BOX(3);
    } else if constexpr (RANK == 4) {
        LOAD_BOX(4);
    } else {
        LOAD_BOX(5);
    }
}

#define STORE_BOX(n)                                                                                                   \
    asm volatile("cp.async.bulk.tensor." #n "d.global.shared::cta.tile.bulk_group [%0, {" FROM_2_##n                   \
                 "}], [%1];" ::"l"(map),                                                                               \
                 "r"(smem(from)), AT_##n                                                                               \
                 : "memory")
struct Store {
    template <int RANK>
    DEVICE static void box(const CUtensorMap *map, const void *from, const int *c) {
        if constexpr (RANK == 1) {
            STORE_BOX(1);
        } else if constexpr (RANK == 2) {
            STORE_BOX(2);
        } else if constexpr (RANK == 3) {
            STORE_BOX(3);
        } else if constexpr (RANK == 4) {
            STORE_BOX(4);
        } else {
            STORE_BOX(5);
        }
    }
};

#define REDUCE_BOX(n, operation)                                                                                       \
    asm volatile("cp.reduce.async.bulk.tensor." #n "d.global.shared::cta." operation                                   \
                 ".tile.bulk_group [%0, {" FROM_2_##n "}], [%1];" ::"l"(map),                                          \
                 "r"(smem(from)), AT_##n                                                                               \
                 : "memory")
#define REDUCE(name, operation)                                                                                        \
    struct name {                                                                                                      \
        template <int RANK>                                                                                            \
        DEVICE static void box(const CUtensorMap *map, const void *from, const int *c) {                               \
            if constexpr (RANK == 2) {                                                                                 \
                REDUCE_BOX(2, operation);                                                                              \
            } else {                                                                                                   \
                REDUCE_BOX(5, operation);                                                                              \
            }                                                                                                          \
        }                                                                                                              \
    };
REDUCE(Add, "add")
REDUCE(Min, "min")
REDUCE(Max, "max")
REDUCE(Inc, "inc")
REDUCE(Dec, "dec")
REDUCE(And, "and")
REDUCE(Or, "or")
REDUCE(Xor, "xor")

#define OFFSETS_3 "%3"
#define OFFSETS_4 "%3, %4"
#define OFFSETS_5 "%3, %4, %5"
#define FROM_6_3 "%6, %7, %8"
#define FROM_6_4 "%6, %7, %8, %9"
#define FROM_6_5 "%6, %7, %8, %9, %10"
#define LOAD_PIXELS(n)                                                                                                 \
    asm volatile("cp.async.bulk.prefetch.tensor." #n "d.L2.global.im2col [%1, {" FROM_6_##n "}], {" OFFSETS_##n        \
                 "}; "                                                                                                 \
                 "cp.async.bulk.tensor." #n "d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "            \
                 "[%0], [%1, {" FROM_6_##n "}], [%2], {" OFFSETS_##n "};" ::"r"(smem(to)),                             \
                 "l"(map), "r"(smem(barrier)), "h"(tap[0]), "h"(tap[1]), "h"(tap[2]), AT_##n                           \
                 : "memory")
template <int RANK>
DEVICE void load_pixels(void *to, const CUtensorMap *map, uint64_t *barrier, const int *c, const unsigned short *tap) {
    if constexpr (RANK == 3) {
        LOAD_PIXELS(3);
    } else if constexpr (RANK == 4) {
        LOAD_PIXELS(4);
    } else if constexpr (RANK == 5) {
        LOAD_PIXELS(5);
    }
}

struct StorePixels {
    template <int RANK>
    DEVICE static void box(const CUtensorMap *map, const void *from, const int *c) {
        asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group "
                     "[%0, {%2, %3, %4, %5}], [%1];" ::"l"(map),
                     "r"(smem(from)), AT_4
                     : "memory");
    }
};

// ---- Kernels -------------------------------------------------------------------------------------------------------

enum { MOST_BYTES = 8192 };

// Each box's words follow the last one's. A box that does not arrive leaves nothing but a mark.
template <int RANK, bool PIXELS>
__global__ void load(const __grid_constant__ CUtensorMap map, const __grid_constant__ Places places, unsigned *result) {
    __shared__ alignas(1024) unsigned box[MOST_BYTES / 4];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
        mbarrier_init(&barrier, 1);
    }
    for (int i = 0; i < places.boxes; i++) {
        __syncthreads();
        if (threadIdx.x == 0) {
            mbarrier_expect(&barrier, places.bytes);
            if (PIXELS) {
                load_pixels<RANK>(box, &map, &barrier, places.corner[i], places.tap[i]);
            } else {
                load_box<RANK>(box, &map, &barrier, places.corner[i]);
            }
        }
        const bool good = mbarrier_wait(&barrier, i & 1);
        for (unsigned j = threadIdx.x; j < places.bytes / 4; j += blockDim.x) {
            result[i * (places.bytes / 4) + j] = good ? box[j] : 0xbad;
        }
        fence_proxy_async();
    }
}

template <int RANK, class Operation>
__global__ void store(const __grid_constant__ CUtensorMap map, const __grid_constant__ Places places,
                      const unsigned *a) {
    __shared__ alignas(1024) unsigned box[MOST_BYTES / 4];
    for (int i = 0; i < places.boxes; i++) {
        for (unsigned j = threadIdx.x; j < places.bytes / 4; j += blockDim.x) {
            box[j] = a[(i * 391 + j) % TRUTH_ELEMENTS];
        }
        fence_proxy_async();
        __syncthreads();
        if (threadIdx.x == 0) {
            Operation::template box<RANK>(&map, box, places.corner[i]);
            bulk_commit_and_wait();
        }
        __syncthreads();
    }
}

// ---- Launches ------------------------------------------------------------------------------------------------------

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

// The result is b, and boxes of a are stored to it, or combined with it.
template <const Tensor &T, class Operation>
static int launch_store(const struct truth_form *, void *result, void *const input[3]) {
    CUtensorMap map;
    Places places;
    const cudaError_t copied = cudaMemcpy(result, input[1], 4 * TRUTH_ELEMENTS, cudaMemcpyDeviceToDevice);
    if (copied != cudaSuccess || !make_map(T, result, &map, &places)) {
        return copied ? copied : cudaErrorInvalidValue;
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
    line = {1, WORDS, {2000}, {256}, {}, NO_SWIZZLE, ZEROS, 4, {{0}, {-5}, {1900}, {3000}}},
    matrix = {2, WORDS, {40, 50}, {36, 8}, {}, NO_SWIZZLE, ZEROS, 4, {{0, 0}, {-3, -1}, {30, 45}, {100, 0}}},
    matrix_32 = {2, WORDS, {40, 50}, {8, 16}, {}, CU_TENSOR_MAP_SWIZZLE_32B, ZEROS, 4, {{0, 0}, {-3, -1}, {36, 45}, {4, 60}}},
    matrix_64 = {2, WORDS, {40, 50}, {16, 16}, {}, CU_TENSOR_MAP_SWIZZLE_64B, ZEROS, 4, {{0, 0}, {-3, -1}, {36, 45}, {4, 60}}},
    matrix_128 = {2, WORDS, {40, 50}, {32, 16}, {}, CU_TENSOR_MAP_SWIZZLE_128B, ZEROS, 4, {{0, 0}, {-3, -1}, {36, 45}, {4, 60}}},
    matrix_narrow_128 = {2, WORDS, {40, 50}, {8, 16}, {}, CU_TENSOR_MAP_SWIZZLE_128B, ZEROS, 2, {{0, 0}, {-3, -1}}},
    matrix_steps = {2, WORDS, {40, 50}, {16, 9}, {1, 2}, NO_SWIZZLE, ZEROS, 4, {{0, 0}, {-3, -1}, {30, 45}, {8, 7}}},
    volume = {3, WORDS, {20, 10, 10}, {8, 4, 3}, {}, NO_SWIZZLE, ZEROS, 4, {{0, 0, 0}, {-3, -1, -1}, {16, 8, 8}, {4, 4, 20}}},
    volume_128 = {3, WORDS, {20, 10, 10}, {32, 4, 3}, {}, CU_TENSOR_MAP_SWIZZLE_128B, ZEROS, 4, {{0, 0, 0}, {-3, -1, -1}, {16, 8, 8}, {4, 4, 20}}},
    volume_steps = {3, WORDS, {20, 10, 10}, {8, 7, 5}, {1, 3, 2}, NO_SWIZZLE, ZEROS, 3, {{0, 0, 0}, {-3, -1, -1}, {8, 4, 4}}},
    four = {4, WORDS, {12, 7, 5, 4}, {8, 4, 3, 2}, {}, NO_SWIZZLE, ZEROS, 4, {{0, 0, 0, 0}, {-3, -1, -1, -1}, {8, 5, 3, 3}, {0, 0, 5, 0}}},
    four_64 = {4, WORDS, {12, 7, 5, 4}, {16, 4, 3, 2}, {}, CU_TENSOR_MAP_SWIZZLE_64B, ZEROS, 4, {{0, 0, 0, 0}, {-3, -1, -1, -1}, {8, 5, 3, 3}, {0, 0, 5, 0}}},
    five = {5, WORDS, {12, 5, 4, 4, 2}, {8, 3, 3, 2, 2}, {}, NO_SWIZZLE, ZEROS, 4, {{0, 0, 0, 0, 0}, {-3, -1, -1, -1, -1}, {8, 3, 2, 3, 1}, {0, 0, 0, 0, 2}}},
    five_128 = {5, WORDS, {12, 5, 4, 4, 2}, {32, 3, 2, 2, 2}, {}, CU_TENSOR_MAP_SWIZZLE_128B, ZEROS, 2, {{0, 0, 0, 0, 0}, {-3, -1, -1, -1, -1}}},
    of_u8 = {2, TYPE(UINT8), 1, {128, 60}, {64, 8}, {}, NO_SWIZZLE, ZEROS, 4, {{0, 0}, {-5, -1}, {90, 55}, {3, 0}}},
    of_u16 = {2, TYPE(UINT16), 2, {64, 60}, {64, 8}, {}, CU_TENSOR_MAP_SWIZZLE_128B, ZEROS, 3, {{0, 0}, {-5, -1}, {33, 55}}},
    of_u64 = {2, TYPE(UINT64), 8, {20, 50}, {16, 8}, {}, CU_TENSOR_MAP_SWIZZLE_128B, ZEROS, 3, {{0, 0}, {-5, -1}, {11, 45}}},
    of_f16 = {2, TYPE(FLOAT16), 2, {64, 60}, {64, 8}, {}, CU_TENSOR_MAP_SWIZZLE_128B, NANS, 3, {{0, 0}, {-5, -1}, {33, 55}}},
    of_bf16 = {2, TYPE(BFLOAT16), 2, {64, 60}, {64, 8}, {}, CU_TENSOR_MAP_SWIZZLE_128B, NANS, 3, {{0, 0}, {-5, -1}, {33, 55}}},
    of_f32 = {2, TYPE(FLOAT32), 4, {40, 50}, {32, 16}, {}, CU_TENSOR_MAP_SWIZZLE_128B, NANS, 3, {{0, 0}, {-3, -1}, {36, 45}}},
    of_f32_ftz = {2, TYPE(FLOAT32_FTZ), 4, {40, 50}, {36, 8}, {}, NO_SWIZZLE, ZEROS, 3, {{0, 0}, {-3, -1}, {30, 45}}},
    of_tf32 = {2, TYPE(TFLOAT32), 4, {40, 50}, {36, 8}, {}, NO_SWIZZLE, NANS, 3, {{0, 0}, {-3, -1}, {30, 45}}},
    of_tf32_ftz = {2, TYPE(TFLOAT32_FTZ), 4, {40, 50}, {36, 8}, {}, NO_SWIZZLE, ZEROS, 3, {{0, 0}, {-3, -1}, {30, 45}}},
    of_f64 = {2, TYPE(FLOAT64), 8, {20, 50}, {16, 8}, {}, NO_SWIZZLE, NANS, 3, {{0, 0}, {-5, -1}, {11, 45}}},
    of_s32 = {2, TYPE(INT32), 4, {40, 50}, {36, 8}, {}, NO_SWIZZLE, ZEROS, 4, {{0, 0}, {-3, -1}, {30, 45}, {100, 0}}},
    of_s64 = {2, TYPE(INT64), 8, {20, 50}, {16, 8}, {}, NO_SWIZZLE, ZEROS, 3, {{0, 0}, {-5, -1}, {11, 45}}};

// Channels, W, H, D, N. Convolutions of 3 taps: padding 1; padding 2 and every second pixel; no padding and taps two apart.
static constexpr Tensor
    pixels_3 = {3, WORDS, {8, 14, 16}, {}, {}, NO_SWIZZLE, ZEROS, 4, {{0, -1, 0}, {0, -1, 0}, {0, 5, 2}, {4, 10, 15}}, 8, 20, {-1}, {-1}, {{0}, {1}, {2}, {2}}},
    pixels_4 = {4, WORDS, {8, 7, 6, 5}, {}, {}, NO_SWIZZLE, ZEROS, 4, {{0, -1, -1, 0}, {0, -1, -1, 0}, {0, 3, 2, 1}, {4, 4, 3, 4}}, 8, 20, {-1, -1}, {-1, -1}, {{0, 0}, {1, 2}, {2, 1}, {2, 2}}},
    pixels_4_steps = {4, WORDS, {8, 7, 6, 5}, {}, {1, 2, 2, 1}, CU_TENSOR_MAP_SWIZZLE_32B, ZEROS, 3, {{0, -2, -2, 0}, {0, 0, 2, 1}, {0, 2, 2, 4}}, 8, 20, {-2, -2}, {0, 0}, {{0, 0}, {1, 2}, {2, 2}}},
    pixels_4_apart = {4, WORDS, {8, 7, 6, 5}, {}, {}, NO_SWIZZLE, ZEROS, 3, {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 2, 1, 4}}, 8, 20, {0, 0}, {-4, -4}, {{0, 0}, {2, 4}, {4, 4}}},
    pixels_5 = {5, WORDS, {8, 7, 6, 3, 2}, {}, {}, NO_SWIZZLE, ZEROS, 4, {{0, -1, -1, -1, 0}, {0, -1, -1, -1, 0}, {0, 3, 2, 0, 1}, {4, 4, 3, 0, 1}}, 8, 20, {-1, -1, -1}, {-1, -1, -1}, {{0, 0, 0}, {1, 2, 1}, {2, 1, 0}, {2, 2, 2}}};
// clang-format on

#define LOADED(T, A)                                                                                                   \
    { "tensor_load_" #T, nullptr, TRUTH_I32, {TRUTH_##A}, TRUTH_EXACT, 0, launch_load<T> }
#define STORED(T)                                                                                                      \
    { "tensor_store_" #T, nullptr, TRUTH_I32, {TRUTH_I32, TRUTH_I32}, TRUTH_EXACT, 0, launch_store<T, Store> }
#define REDUCED(name, T, Operation, A)                                                                                 \
    { "tensor_" #name, nullptr, TRUTH_I32, {TRUTH_##A, TRUTH_##A}, TRUTH_EXACT, 0, launch_store<T, Operation> }

extern "C" const struct truth_form truth_tensor[] = {
    LOADED(line, I32),
    LOADED(matrix, I32),
    LOADED(matrix_32, I32),
    LOADED(matrix_64, I32),
    LOADED(matrix_128, I32),
    LOADED(matrix_narrow_128, I32),
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
    {"tensor_store_pixels_4",
     nullptr,
     TRUTH_I32,
     {TRUTH_I32, TRUTH_I32},
     TRUTH_EXACT,
     0,
     launch_store<pixels_4, StorePixels>},
    REDUCED(add_u32, matrix, Add, I32),
    REDUCED(add_u32_5d, five, Add, I32),
    REDUCED(add_u32_128, matrix_128, Add, I32),
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
    {},
};
