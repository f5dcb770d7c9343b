// Bulk copies of boxes of tensors: the instructions, and what loads boxes one after the other, or stores them.
#ifndef BOXES_CUH
#define BOXES_CUH

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
#define FROM_1_1 "%1"
#define FROM_1_2 "%1, %2"
#define FROM_1_3 "%1, %2, %3"
#define FROM_1_4 "%1, %2, %3, %4"
#define FROM_1_5 "%1, %2, %3, %4, %5"
#define FROM_2_1 "%2"
#define FROM_2_2 "%2, %3"
#define FROM_2_3 "%2, %3, %4"
#define FROM_2_4 "%2, %3, %4, %5"
#define FROM_2_5 "%2, %3, %4, %5, %6"

#define LOAD_BOX(n)                                                                                                    \
    if (PREFETCH) {                                                                                                    \
        asm volatile("cp.async.bulk.prefetch.tensor." #n "d.L2.global.tile [%0, {" FROM_1_##n "}];" ::"l"(map), AT_##n \
                     : "memory");                                                                                      \
    }                                                                                                                  \
    asm volatile("cp.async.bulk.tensor." #n "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "              \
                 "[%0], [%1, {" FROM_3_##n "}], [%2];" ::"r"(smem(to)),                                                \
                 "l"(map), "r"(smem(barrier)), AT_##n                                                                  \
                 : "memory")
template <int RANK, bool PREFETCH>
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

// Each box's words follow the last one's. A box that does not arrive leaves nothing but a mark. GAPS: of boxes whose
// rows are apart what lies between them follows too; it was marked.
template <int RANK, bool PIXELS, bool PREFETCH, bool GAPS = false>
DEVICE void load_boxes(const CUtensorMap &map, const Places &places, unsigned *result) {
    __shared__ alignas(1024) unsigned box[MOST_BYTES / 4];
    __shared__ uint64_t barrier;
    const unsigned words = (GAPS ? places.span : places.bytes) / 4;
    if (threadIdx.x == 0) {
        if (PREFETCH) {
            asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
        }
        mbarrier_init(&barrier, 1);
    }
    for (int i = 0; i < places.boxes; i++) {
        for (unsigned j = threadIdx.x; GAPS && j < words; j += blockDim.x) {
            box[j] = 0x6a900000 + j;
        }
        if (GAPS) {
            fence_proxy_async();
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            mbarrier_expect(&barrier, places.bytes);
            if (PIXELS) {
                load_pixels<RANK>(box, &map, &barrier, places.corner[i], places.tap[i]);
            } else {
                load_box<RANK, PREFETCH>(box, &map, &barrier, places.corner[i]);
            }
        }
        const bool good = mbarrier_wait(&barrier, i & 1);
        for (unsigned j = threadIdx.x; j < words; j += blockDim.x) {
            result[i * words + j] = good ? box[j] : 0xbad;
        }
        fence_proxy_async();
    }
}

template <int RANK, class Operation>
DEVICE void store_boxes(const CUtensorMap &map, const Places &places, const unsigned *a) {
    __shared__ alignas(1024) unsigned box[MOST_BYTES / 4];
    for (int i = 0; i < places.boxes; i++) {
        for (unsigned j = threadIdx.x; j < places.span / 4; j += blockDim.x) {
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

#endif
