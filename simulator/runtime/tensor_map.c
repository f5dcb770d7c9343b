// Tensor maps, made by functions of the driver that programs get by cudaGetDriverEntryPoint. The checks are those that
// cuda.h lists; the 128 bytes are the simulator's own (memory/tensor_map.h).
#include "api.h"

#include "../memory/tensor_map.h"
#include "../ptx/program.h"
#include "device.h"
#include "driver.h"

#include <cuda.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MOST_PIXELS 1024
#define MOST_SIZE (UINT64_C(1) << 32)

// Of a map of pixels (im2col), in the order of the dimensions: along W, H, D.
struct pixels {
    const int *lower, *upper;
    cuuint32_t channels, column;
};

static const char *called; // which function, under the lock

static CUresult refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

static CUresult refuse(const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "simulator: %s: %s\n", called, text);
    return CUDA_ERROR_INVALID_VALUE;
}

// PTX_NO_TYPE: none that the simulator knows.
static enum ptx_type type_of(CUtensorMapDataType type) {
    switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8:
        return PTX_U8;
    case CU_TENSOR_MAP_DATA_TYPE_UINT16:
        return PTX_U16;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
        return PTX_F16;
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
        return PTX_BF16;
    case CU_TENSOR_MAP_DATA_TYPE_UINT32:
        return PTX_U32;
    case CU_TENSOR_MAP_DATA_TYPE_INT32:
        return PTX_S32;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ:
        return PTX_F32;
    case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32:
    case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ:
        return PTX_TF32;
    case CU_TENSOR_MAP_DATA_TYPE_UINT64:
        return PTX_U64;
    case CU_TENSOR_MAP_DATA_TYPE_INT64:
        return PTX_S64;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
        return PTX_F64;
    default:
        return PTX_NO_TYPE;
    }
}

static bool is_floating(CUtensorMapDataType type) {
    return type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16 && type <= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
}

static CUresult check_sizes(const struct tensor_map *map, const cuuint64_t *size, const cuuint64_t *stride,
                            const cuuint32_t *box, const cuuint32_t *step) {
    for (unsigned i = 0; i < map->rank; i++) {
        if (size[i] == 0 || size[i] > MOST_SIZE)
            return refuse("globalDim[%u] is %llu; 1 to 2^32 are possible", i, (unsigned long long)size[i]);
        if (box && (box[i] == 0 || box[i] > TENSOR_MOST_BOX))
            return refuse("boxDim[%u] is %u; 1 to %d are possible", i, box[i], TENSOR_MOST_BOX);
        if (step[i] == 0 || step[i] > TENSOR_MOST_STEP)
            return refuse("elementStrides[%u] is %u; 1 to %d are possible", i, step[i], TENSOR_MOST_STEP);
        if (i + 1 < map->rank && (stride[i] % 16 || stride[i] >= TENSOR_STRIDE_END))
            return refuse("globalStrides[%u] is %llu bytes; it has to be a multiple of 16 and less than 2^40", i,
                          (unsigned long long)stride[i]);
    }
    return CUDA_SUCCESS;
}

// Channels in slices of 16 or 32 bytes.
static CUresult check_interleave(const struct tensor_map *map, const void *address, const cuuint64_t *stride,
                                 CUtensorMapInterleave interleave) {
    if (interleave == CU_TENSOR_MAP_INTERLEAVE_NONE)
        return CUDA_SUCCESS;
    if (map->rank < 3)
        return refuse("tensorRank is %u; with an interleave 3 to %d are possible", map->rank, TENSOR_MOST_DIMENSIONS);
    if (interleave == CU_TENSOR_MAP_INTERLEAVE_16B)
        return CUDA_SUCCESS;
    if (map->swizzle != CU_TENSOR_MAP_SWIZZLE_32B)
        return refuse("swizzle is %d; with an interleave of 32 bytes it has to be CU_TENSOR_MAP_SWIZZLE_32B",
                      map->swizzle);
    if ((uintptr_t)address % 32)
        return refuse("globalAddress, %p, has to be a multiple of 32 bytes with an interleave of 32 bytes", address);
    for (unsigned i = 0; i + 1 < map->rank; i++)
        if (stride[i] % 32)
            return refuse(
                "globalStrides[%u] is %llu bytes; with an interleave of 32 bytes it has to be a multiple of 32", i,
                (unsigned long long)stride[i]);
    return CUDA_SUCCESS;
}

static CUresult check_inner(const struct tensor_map *map, const char *name, cuuint32_t elements) {
    unsigned bytes = elements * map->element_bytes, span = 16u << map->swizzle;
    if (bytes % 16)
        return refuse("%s is %u elements, %u bytes; it has to be a multiple of 16 bytes", name, elements, bytes);
    if (map->swizzle && bytes > span)
        return refuse("%s is %u elements, %u bytes; with a swizzle of %u bytes at most that many are possible", name,
                      elements, bytes, span);
    return CUDA_SUCCESS;
}

static CUresult check_pixels(const struct tensor_map *map, const cuuint64_t *size, const struct pixels *pixels) {
    static const int most[] = {32768, 128, 16}; // of rank 3, 4, 5
    if (map->rank < 3)
        return refuse("tensorRank is %u; 3 to %d are possible", map->rank, TENSOR_MOST_DIMENSIONS);
    if (!pixels->lower || !pixels->upper)
        return refuse("%s is NULL", pixels->lower ? "pixelBoxUpperCorner" : "pixelBoxLowerCorner");
    if (pixels->channels == 0 || pixels->channels > TENSOR_MOST_BOX)
        return refuse("channelsPerPixel is %u; 1 to %d are possible", pixels->channels, TENSOR_MOST_BOX);
    if (pixels->column == 0 || pixels->column > MOST_PIXELS)
        return refuse("pixelsPerColumn is %u; 1 to %d are possible", pixels->column, MOST_PIXELS);
    for (unsigned i = 0; i + 2 < map->rank; i++) {
        const int limit = most[map->rank - 3], corner[2] = {pixels->lower[i], pixels->upper[i]};
        for (int k = 0; k < 2; k++)
            if (corner[k] < -limit || corner[k] >= limit)
                return refuse("pixelBox%sCorner[%u] is %d; %d to %d are possible", k ? "Upper" : "Lower", i, corner[k],
                              -limit, limit - 1);
        if ((int64_t)size[i + 1] + corner[1] <= corner[0])
            return refuse("the box from pixelBoxLowerCorner[%u], %d, to pixelBoxUpperCorner[%u], %d, has no pixels", i,
                          corner[0], i, corner[1]);
    }
    return CUDA_SUCCESS;
}

static CUresult encode(CUtensorMap *result, CUtensorMapDataType type, cuuint32_t rank, void *address,
                       const cuuint64_t *size, const cuuint64_t *stride, const cuuint32_t *box, const cuuint32_t *step,
                       CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                       CUtensorMapL2promotion l2_promotion, CUtensorMapFloatOOBfill fill, const struct pixels *pixels) {
    struct tensor_map map = {.magic = TENSOR_MAP_MAGIC, .rank = (uint8_t)rank, .swizzle = (uint8_t)swizzle};
    if (device_current()->simulated.compute_capability < 90)
        return refuse("tensor maps need a GPU of compute capability 9.0 or higher, and %s is none",
                      device_current()->simulated.name),
               CUDA_ERROR_NOT_SUPPORTED;
    if (!result)
        return refuse("tensorMap is NULL");
    if ((uintptr_t)result % TENSOR_MAP_ALIGNMENT)
        return refuse("tensorMap, %p, has to be a multiple of %d", (void *)result, TENSOR_MAP_ALIGNMENT);
    map.type = (uint8_t)type_of(type);
    map.element_bytes = (uint8_t)ptx_type_size(type_of(type));
    if (!map.element_bytes)
        return refuse("tensorDataType is %d, which the simulator does not know", (int)type);
    if (rank < 1 || rank > TENSOR_MOST_DIMENSIONS)
        return refuse("tensorRank is %u; 1 to %d are possible", rank, TENSOR_MOST_DIMENSIONS);
    if (interleave > CU_TENSOR_MAP_INTERLEAVE_32B)
        return refuse("interleave is %d; there are none, 16B and 32B", (int)interleave);
    if (swizzle > CU_TENSOR_MAP_SWIZZLE_128B)
        return refuse("swizzle is %d; on Hopper there are none, 32B, 64B and 128B", (int)swizzle);
    if (l2_promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B)
        return refuse("l2Promotion is %d", (int)l2_promotion);
    if (fill > CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA)
        return refuse("oobFill is %d", (int)fill);
    if (fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA && !is_floating(type))
        return refuse("oobFill asks for NaN, and tensorDataType is no floating-point type");
    if (!address)
        return refuse("globalAddress is NULL");
    if ((uintptr_t)address % 16)
        return refuse("globalAddress, %p, has to be a multiple of 16 bytes", address);
    if (!size || (!stride && rank > 1) || (!box && !pixels) || !step)
        return refuse("%s is NULL", !size             ? "globalDim"
                                    : !box && !pixels ? "boxDim"
                                    : !step           ? "elementStrides"
                                                      : "globalStrides");
    CUresult error = check_sizes(&map, size, stride, box, step);
    if (error == CUDA_SUCCESS && pixels)
        error = check_pixels(&map, size, pixels);
    if (error == CUDA_SUCCESS)
        error = check_interleave(&map, address, stride, interleave);
    // Neither the PTX ISA nor the driver's manual says which stride leads from slice to slice, or what a box has of
    // one.
    if (error == CUDA_SUCCESS && interleave != CU_TENSOR_MAP_INTERLEAVE_NONE)
        return refuse(
                   "interleave is %s; the driver takes this map, but the simulator lacks copies of channels in slices",
                   interleave == CU_TENSOR_MAP_INTERLEAVE_16B ? "16B" : "32B"),
               CUDA_ERROR_NOT_SUPPORTED;
    if (error == CUDA_SUCCESS)
        error =
            pixels ? check_inner(&map, "channelsPerPixel", pixels->channels) : check_inner(&map, "boxDim[0]", box[0]);
    if (error != CUDA_SUCCESS)
        return error;
    map.address = (uintptr_t)address;
    map.nan_fill = fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
    for (unsigned i = 0; i < rank; i++) {
        map.last[i] = (uint32_t)(size[i] - 1);
        map.box[i] = pixels ? 1 : (uint16_t)box[i];
        map.step[i] = i ? (uint8_t)step[i] : 1;
        if (i + 1 < rank)
            map.stride[i] = stride[i];
    }
    if (pixels) {
        map.pixels = 1;
        map.box[0] = (uint16_t)pixels->channels;
        map.box[1] = (uint16_t)pixels->column;
        for (unsigned i = 0; i + 2 < rank; i++) {
            map.lower[i] = (int16_t)pixels->lower[i];
            map.upper[i] = (int16_t)pixels->upper[i];
        }
    }
    memset(result, 0, sizeof *result);
    memcpy(result, &map, sizeof map);
    return CUDA_SUCCESS;
}

CUresult driver_tensor_map_encode_tiled(CUtensorMap *result, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                        const cuuint64_t *size, const cuuint64_t *stride, const cuuint32_t *box,
                                        const cuuint32_t *step, CUtensorMapInterleave interleave,
                                        CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2_promotion,
                                        CUtensorMapFloatOOBfill fill) {
    api_lock();
    called = "cuTensorMapEncodeTiled";
    CUresult error =
        encode(result, type, rank, address, size, stride, box, step, interleave, swizzle, l2_promotion, fill, NULL);
    api_unlock();
    return error;
}

CUresult driver_tensor_map_encode_im2col(CUtensorMap *result, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                         const cuuint64_t *size, const cuuint64_t *stride, const int *lower,
                                         const int *upper, cuuint32_t channels, cuuint32_t pixels,
                                         const cuuint32_t *step, CUtensorMapInterleave interleave,
                                         CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2_promotion,
                                         CUtensorMapFloatOOBfill fill) {
    const struct pixels what = {lower, upper, channels, pixels};
    api_lock();
    called = "cuTensorMapEncodeIm2col";
    CUresult error =
        encode(result, type, rank, address, size, stride, NULL, step, interleave, swizzle, l2_promotion, fill, &what);
    api_unlock();
    return error;
}

static CUresult replace_address(CUtensorMap *result, void *address) {
    struct tensor_map map;
    if (!result)
        return refuse("tensorMap is NULL");
    if ((uintptr_t)result % TENSOR_MAP_ALIGNMENT)
        return refuse("tensorMap, %p, has to be a multiple of %d", (void *)result, TENSOR_MAP_ALIGNMENT);
    if (!address)
        return refuse("globalAddress is NULL");
    if ((uintptr_t)address % 16)
        return refuse("globalAddress, %p, has to be a multiple of 16 bytes", address);
    memcpy(&map, result, sizeof map);
    if (map.magic != TENSOR_MAP_MAGIC)
        return refuse("tensorMap is none that was encoded");
    map.address = (uintptr_t)address;
    memcpy(result, &map, sizeof map);
    return CUDA_SUCCESS;
}

CUresult driver_tensor_map_replace_address(CUtensorMap *map, void *address) {
    api_lock();
    called = "cuTensorMapReplaceAddress";
    CUresult error = replace_address(map, address);
    api_unlock();
    return error;
}
