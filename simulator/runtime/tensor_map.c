// Tensor maps: the driver functions that programs get from cudaGetDriverEntryPoint. The checks are those that cuda.h
// documents; the 128-byte format is the simulator's own (memory/tensor_map.h).
#include "api.h"

#include "../memory/tensor_map.h"
#include "../ptx/program.h"
#include "device.h"
#include "driver.h"

#include <cuda.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAX_PIXELS 1024
#define MAX_GLOBAL_DIM (UINT64_C(1) << 32)

// The parameters of an im2col tensor map, in the order W, H, D.
struct im2col_box {
    const int *lower, *upper;
    cuuint32_t channels_per_pixel, pixels_per_column;
};

static const char *current_function; // the called function, protected by the lock

static CUresult reject(CUresult error, const char *format, ...) __attribute__((format(printf, 2, 3)));

static CUresult reject(CUresult error, const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "simulator: %s: %s [%s]\n", current_function, text,
            error == CUDA_ERROR_NOT_SUPPORTED ? "CUDA_ERROR_NOT_SUPPORTED" : "CUDA_ERROR_INVALID_VALUE");
    return error;
}

#define INVALID_VALUE(...) reject(CUDA_ERROR_INVALID_VALUE, __VA_ARGS__)
#define NOT_SUPPORTED(...) reject(CUDA_ERROR_NOT_SUPPORTED, __VA_ARGS__)

// PTX_NO_TYPE: unsupported.
static enum ptx_type ptx_type_of(CUtensorMapDataType type) {
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
        if (size[i] == 0 || size[i] > MAX_GLOBAL_DIM)
            return INVALID_VALUE("globalDim[%u] is %llu, but must be 1 to 2^32", i, (unsigned long long)size[i]);
        if (box && (box[i] == 0 || box[i] > TENSOR_MOST_BOX))
            return INVALID_VALUE("boxDim[%u] is %u, but must be 1 to %d", i, box[i], TENSOR_MOST_BOX);
        if (step[i] == 0 || step[i] > TENSOR_MOST_STEP)
            return INVALID_VALUE("elementStrides[%u] is %u, but must be 1 to %d", i, step[i], TENSOR_MOST_STEP);
        if (i + 1 < map->rank && (stride[i] % 16 || stride[i] >= TENSOR_STRIDE_END))
            return INVALID_VALUE("globalStrides[%u] is %llu bytes, but must be a multiple of 16 and less than 2^40", i,
                                 (unsigned long long)stride[i]);
    }
    return CUDA_SUCCESS;
}

// Interleaved layouts, whose channels are in slices of 16 or 32 bytes.
static CUresult check_interleave(const struct tensor_map *map, const void *address, const cuuint64_t *stride,
                                 CUtensorMapInterleave interleave) {
    if (interleave == CU_TENSOR_MAP_INTERLEAVE_NONE)
        return CUDA_SUCCESS;
    if (map->rank < 3)
        return INVALID_VALUE("tensorRank is %u; with an interleaved layout the rank must be 3 to %d", map->rank,
                             TENSOR_MOST_DIMENSIONS);
    if (interleave == CU_TENSOR_MAP_INTERLEAVE_16B)
        return CUDA_SUCCESS;
    if (map->swizzle != CU_TENSOR_MAP_SWIZZLE_32B)
        return INVALID_VALUE(
            "swizzle is %d; with an interleave of 32 bytes the swizzle must be CU_TENSOR_MAP_SWIZZLE_32B",
            map->swizzle);
    if ((uintptr_t)address % 32)
        return INVALID_VALUE("globalAddress, %p, must be a multiple of 32 bytes with an interleave of 32 bytes",
                             address);
    for (unsigned i = 0; i + 1 < map->rank; i++)
        if (stride[i] % 32)
            return INVALID_VALUE(
                "globalStrides[%u] is %llu bytes; with an interleave of 32 bytes the stride must be a multiple of 32",
                i, (unsigned long long)stride[i]);
    return CUDA_SUCCESS;
}

static CUresult check_inner(const struct tensor_map *map, const char *name, cuuint32_t elements) {
    unsigned bytes = elements * map->element_bytes, span = 16u << map->swizzle;
    if (bytes % 16)
        return INVALID_VALUE("%s is %u elements, %u bytes, but must be a multiple of 16 bytes", name, elements, bytes);
    if (map->swizzle && bytes > span)
        return INVALID_VALUE(
            "%s is %u elements, %u bytes; the inner dimension must not exceed the swizzle span of %u bytes", name,
            elements, bytes, span);
    return CUDA_SUCCESS;
}

static CUresult check_pixels(const struct tensor_map *map, const cuuint64_t *size, const struct im2col_box *pixels) {
    static const int max_corner[] = {32768, 128, 16}; // of rank 3, 4, 5
    if (map->rank < 3)
        return INVALID_VALUE("tensorRank is %u, but must be 3 to %d", map->rank, TENSOR_MOST_DIMENSIONS);
    if (!pixels->lower || !pixels->upper)
        return INVALID_VALUE("%s is NULL", pixels->lower ? "pixelBoxUpperCorner" : "pixelBoxLowerCorner");
    if (pixels->channels_per_pixel == 0 || pixels->channels_per_pixel > TENSOR_MOST_BOX)
        return INVALID_VALUE("channelsPerPixel is %u, but must be 1 to %d", pixels->channels_per_pixel,
                             TENSOR_MOST_BOX);
    if (pixels->pixels_per_column == 0 || pixels->pixels_per_column > MAX_PIXELS)
        return INVALID_VALUE("pixelsPerColumn is %u, but must be 1 to %d", pixels->pixels_per_column, MAX_PIXELS);
    for (unsigned i = 0; i + 2 < map->rank; i++) {
        const int limit = max_corner[map->rank - 3], corner[2] = {pixels->lower[i], pixels->upper[i]};
        for (int k = 0; k < 2; k++)
            if (corner[k] < -limit || corner[k] >= limit)
                return INVALID_VALUE("pixelBox%sCorner[%u] is %d, but must be %d to %d", k ? "Upper" : "Lower", i,
                                     corner[k], -limit, limit - 1);
        if ((int64_t)size[i + 1] + corner[1] <= corner[0])
            return INVALID_VALUE("the box from pixelBoxLowerCorner[%u], %d, to pixelBoxUpperCorner[%u], %d, is empty",
                                 i, corner[0], i, corner[1]);
    }
    return CUDA_SUCCESS;
}

static CUresult encode(CUtensorMap *result, CUtensorMapDataType type, cuuint32_t rank, void *address,
                       const cuuint64_t *size, const cuuint64_t *stride, const cuuint32_t *box, const cuuint32_t *step,
                       CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                       CUtensorMapL2promotion l2_promotion, CUtensorMapFloatOOBfill fill,
                       const struct im2col_box *pixels) {
    struct tensor_map map = {.magic = TENSOR_MAP_MAGIC, .rank = (uint8_t)rank, .swizzle = (uint8_t)swizzle};
    if (device_current()->simulated.compute_capability < 90)
        return NOT_SUPPORTED("tensor maps need compute capability 9.0 or higher, which %s does not have",
                             device_current()->simulated.name);
    if (!result)
        return INVALID_VALUE("tensorMap is NULL");
    if ((uintptr_t)result % TENSOR_MAP_ALIGNMENT)
        return INVALID_VALUE("tensorMap, %p, must be a multiple of %d", (void *)result, TENSOR_MAP_ALIGNMENT);
    map.type = (uint8_t)ptx_type_of(type);
    map.element_bytes = (uint8_t)ptx_type_size(ptx_type_of(type));
    if (!map.element_bytes)
        return INVALID_VALUE("tensorDataType is %d, which is not supported", (int)type);
    if (rank < 1 || rank > TENSOR_MOST_DIMENSIONS)
        return INVALID_VALUE("tensorRank is %u, but must be 1 to %d", rank, TENSOR_MOST_DIMENSIONS);
    if (interleave > CU_TENSOR_MAP_INTERLEAVE_32B)
        return INVALID_VALUE("interleave is %d, but must be NONE, 16B or 32B", (int)interleave);
    if (swizzle > CU_TENSOR_MAP_SWIZZLE_128B)
        return INVALID_VALUE("swizzle is %d, but on Hopper must be NONE, 32B, 64B or 128B", (int)swizzle);
    if (l2_promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B)
        return INVALID_VALUE("l2Promotion is %d, which is unknown", (int)l2_promotion);
    if (fill > CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA)
        return INVALID_VALUE("oobFill is %d, which is unknown", (int)fill);
    if (fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA && !is_floating(type))
        return INVALID_VALUE("oobFill is NaN, but tensorDataType is not a floating-point type");
    if (!address)
        return INVALID_VALUE("globalAddress is NULL");
    if ((uintptr_t)address % 16)
        return INVALID_VALUE("globalAddress, %p, must be a multiple of 16 bytes", address);
    if (!size || (!stride && rank > 1) || (!box && !pixels) || !step)
        return INVALID_VALUE("%s is NULL", !size             ? "globalDim"
                                           : !box && !pixels ? "boxDim"
                                           : !step           ? "elementStrides"
                                                             : "globalStrides");
    CUresult error = check_sizes(&map, size, stride, box, step);
    if (error == CUDA_SUCCESS && pixels)
        error = check_pixels(&map, size, pixels);
    if (error == CUDA_SUCCESS)
        error = check_interleave(&map, address, stride, interleave);
    // Neither the PTX ISA nor the driver API manual documents which stride separates slices, or which part of a slice a
    // box covers.
    if (error == CUDA_SUCCESS && interleave != CU_TENSOR_MAP_INTERLEAVE_NONE)
        return NOT_SUPPORTED("interleave is %s, which the driver accepts but the simulator does not support",
                             interleave == CU_TENSOR_MAP_INTERLEAVE_16B ? "16B" : "32B");
    if (error == CUDA_SUCCESS)
        error = pixels ? check_inner(&map, "channelsPerPixel", pixels->channels_per_pixel)
                       : check_inner(&map, "boxDim[0]", box[0]);
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
        map.box[0] = (uint16_t)pixels->channels_per_pixel;
        map.box[1] = (uint16_t)pixels->pixels_per_column;
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
    current_function = "cuTensorMapEncodeTiled";
    CUresult error =
        encode(result, type, rank, address, size, stride, box, step, interleave, swizzle, l2_promotion, fill, NULL);
    api_unlock();
    return error;
}

CUresult driver_tensor_map_encode_im2col(CUtensorMap *result, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                         const cuuint64_t *size, const cuuint64_t *stride, const int *lower,
                                         const int *upper, cuuint32_t channels_per_pixel, cuuint32_t pixels,
                                         const cuuint32_t *step, CUtensorMapInterleave interleave,
                                         CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2_promotion,
                                         CUtensorMapFloatOOBfill fill) {
    const struct im2col_box im2col = {lower, upper, channels_per_pixel, pixels};
    api_lock();
    current_function = "cuTensorMapEncodeIm2col";
    CUresult error =
        encode(result, type, rank, address, size, stride, NULL, step, interleave, swizzle, l2_promotion, fill, &im2col);
    api_unlock();
    return error;
}

static CUresult replace_address(CUtensorMap *result, void *address) {
    struct tensor_map map;
    if (!result)
        return INVALID_VALUE("tensorMap is NULL");
    if ((uintptr_t)result % TENSOR_MAP_ALIGNMENT)
        return INVALID_VALUE("tensorMap, %p, must be a multiple of %d", (void *)result, TENSOR_MAP_ALIGNMENT);
    if (!address)
        return INVALID_VALUE("globalAddress is NULL");
    if ((uintptr_t)address % 16)
        return INVALID_VALUE("globalAddress, %p, must be a multiple of 16 bytes", address);
    memcpy(&map, result, sizeof map);
    if (map.magic != TENSOR_MAP_MAGIC)
        return INVALID_VALUE("tensorMap was not encoded by cuTensorMapEncode*");
    map.address = (uintptr_t)address;
    memcpy(result, &map, sizeof map);
    return CUDA_SUCCESS;
}

CUresult driver_tensor_map_replace_address(CUtensorMap *map, void *address) {
    api_lock();
    current_function = "cuTensorMapReplaceAddress";
    CUresult error = replace_address(map, address);
    api_unlock();
    return error;
}
