// Tensor maps that a kernel makes of another one, field by field: tensormap.replace, and what publishes the map to the
// copies that use it.
#ifndef REPLACED_CUH
#define REPLACED_CUH

#include "boxes.cuh"

// What a map is to become, except what has to be a constant.
struct Fields {
    unsigned size[5], box[5], step[5];
    unsigned long long pitch[4];
};

static inline Fields fields_of(const Tensor &t) {
    Fields fields = {};
    unsigned long long bytes = t.bytes;
    for (int i = 0; i < t.rank; i++) {
        fields.size[i] = (unsigned)t.size[i];
        fields.box[i] = t.box[i];
        fields.step[i] = t.step[i] ? t.step[i] : 1;
        bytes *= t.size[i];
        if (i < t.rank - 1) {
            fields.pitch[i] = bytes;
        }
    }
    return fields;
}

// tensormap.replace numbers the types in an order of its own.
template <const Tensor &T>
constexpr int element_number = T.type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ ? 8
                               : T.type == CU_TENSOR_MAP_DATA_TYPE_FLOAT64   ? 9
                               : T.type == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16  ? 10
                                                                             : (int)T.type; // as the driver

#define REPLACE(field, type, value)                                                                                    \
    if constexpr (IN_GLOBAL) {                                                                                         \
        asm volatile("tensormap.replace.tile." field ".global.b1024." type " [%0], %1;" ::"l"(map), value : "memory"); \
    } else {                                                                                                           \
        asm volatile("tensormap.replace.tile." field ".shared::cta.b1024." type " [%0], %1;" ::"r"(smem(map)), value   \
                     : "memory");                                                                                      \
    }
#define REPLACE_AT(field, type, value)                                                                                 \
    if constexpr (IN_GLOBAL) {                                                                                         \
        asm volatile("tensormap.replace.tile." field ".global.b1024." type " [%0], %1, %2;" ::"l"(map), "n"(I), value  \
                     : "memory");                                                                                      \
    } else {                                                                                                           \
        asm volatile("tensormap.replace.tile." field ".shared::cta.b1024." type " [%0], %1, %2;" ::"r"(smem(map)),     \
                     "n"(I), value                                                                                     \
                     : "memory");                                                                                      \
    }

template <const Tensor &T, bool IN_GLOBAL, int I = 0>
DEVICE void replace_dimensions(CUtensorMap *map, const Fields &fields) {
    REPLACE_AT("global_dim", "b32", "r"(fields.size[I]))
    REPLACE_AT("box_dim", "b32", "r"(fields.box[I]))
    REPLACE_AT("element_stride", "b32", "r"(fields.step[I]))
    if constexpr (I + 1 < T.rank) {
        REPLACE_AT("global_stride", "b64", "l"(fields.pitch[I]))
        replace_dimensions<T, IN_GLOBAL, I + 1>(map, fields);
    }
}

template <const Tensor &T, bool IN_GLOBAL>
DEVICE void replace_all(CUtensorMap *map, const void *memory, const Fields &fields) {
    REPLACE("global_address", "b64", "l"(memory))
    REPLACE("rank", "b32", "r"(T.rank - 1))
    replace_dimensions<T, IN_GLOBAL>(map, fields);
    REPLACE("elemtype", "b32", "n"(element_number<T>))
    REPLACE("interleave_layout", "b32", "n"(0))
    REPLACE("swizzle_mode", "b32", "n"((int)T.swizzle))
    REPLACE("fill_mode", "b32", "n"((int)T.fill))
}

// All threads of the block may use the map afterwards.
template <const Tensor &T, bool IN_GLOBAL>
DEVICE void publish_replaced(CUtensorMap *map, const CUtensorMap &model, const void *memory, const Fields &fields) {
    __shared__ CUtensorMap made;
    CUtensorMap *changed = IN_GLOBAL ? map : &made;
    if (threadIdx.x < 16) {
        changed->opaque[threadIdx.x] = model.opaque[threadIdx.x];
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        replace_all<T, IN_GLOBAL>(changed, memory, fields);
        if (IN_GLOBAL) {
            asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
        }
    }
    __syncthreads();
    if (!IN_GLOBAL && threadIdx.x < 32) {
        asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
                     "[%0], [%1], 128;" ::"l"(map),
                     "r"(smem(&made))
                     : "memory");
    }
    __syncthreads();
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
}

#undef REPLACE
#undef REPLACE_AT

#endif
