// Tensor maps of the forms that copy boxes, and where the boxes are.
#ifndef MAPS_CUH
#define MAPS_CUH

#include "forms.cuh"

#include <cuda.h>
#include <cuda_runtime.h>

// A tensor in an input or in the result, and the boxes that are copied one after the other to the same place of shared
// memory.
struct Tensor {
    int rank;
    CUtensorMapDataType type;
    int bytes; // of an element
    cuuint64_t size[5];
    cuuint32_t box[5], step[5];
    CUtensorMapSwizzle swizzle;
    CUtensorMapFloatOOBfill fill;
    int boxes, corner[4][5];
    int channels, pixels, lower[3], upper[3]; // of a map of pixels (im2col), which has channels
    unsigned short tap[4][3];
};

struct Places {
    int boxes, corner[4][5];
    unsigned short tap[4][3];
    unsigned bytes; // of a box
    unsigned span;  // of its rows in shared memory, as far apart as the swizzle is wide
};

template <typename Function>
static inline Function *driver(const char *name) {
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found;
#if CUDART_VERSION >= 12050
    cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found);
#else
    cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &found);
#endif
    return reinterpret_cast<Function *>(function);
}

// Of a tensor in memory; false: the driver refuses it.
static inline bool make_map(const Tensor &t, void *memory, CUtensorMap *map, Places *places) {
    cuuint64_t pitch[4], bytes = t.bytes;
    cuuint32_t step[5];
    *places = {t.boxes, {}, {}, (unsigned)(t.bytes * (t.pixels ? t.channels * t.pixels : 1)), 0};
    for (int i = 0; i < t.rank; i++) {
        step[i] = t.step[i] ? t.step[i] : 1;
        bytes *= t.size[i];
        if (i < t.rank - 1) {
            pitch[i] = bytes;
        }
        if (!t.pixels) {
            places->bytes *= (t.box[i] + step[i] - 1) / (i == 0 ? 1 : step[i]);
        }
    }
    const unsigned row = t.bytes * (t.pixels ? t.channels : t.box[0]);
    places->span = t.swizzle ? places->bytes / row * (16u << t.swizzle) : places->bytes;
    for (int k = 0; k < t.boxes; k++) {
        for (int i = 0; i < 5; i++) {
            places->corner[k][i] = t.corner[k][i];
        }
        for (int i = 0; i < 3; i++) {
            places->tap[k][i] = t.tap[k][i];
        }
    }
    if (t.pixels) {
        auto *encode = driver<decltype(cuTensorMapEncodeIm2col)>("cuTensorMapEncodeIm2col");
        return encode && encode(map, t.type, t.rank, memory, t.size, pitch, t.lower, t.upper, t.channels, t.pixels,
                                step, CU_TENSOR_MAP_INTERLEAVE_NONE, t.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                t.fill) == CUDA_SUCCESS;
    }
    auto *encode = driver<decltype(cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
    return encode && encode(map, t.type, t.rank, memory, t.size, pitch, t.box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
                            t.swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, t.fill) == CUDA_SUCCESS;
}

#endif
