// cuTensorMapEncodeTiled, a function of the driver that programs get by cudaGetDriverEntryPoint. The checks are those
// that cuda.h lists; the 128 bytes are the simulator's own (memory/tensor_map.h).
#include "api.h"

#include "../memory/tensor_map.h"
#include "../ptx/program.h"
#include "device.h"
#include "driver.h"

#include <cuda.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MOST_BOX 256
#define MOST_STEP 8
#define MOST_SIZE (UINT64_C(1) << 32)
#define MOST_STRIDE (UINT64_C(1) << 40)

static CUresult refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

static CUresult refuse(const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "simulator: cuTensorMapEncodeTiled: %s\n", text);
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
        if (box[i] == 0 || box[i] > MOST_BOX)
            return refuse("boxDim[%u] is %u; 1 to %d are possible", i, box[i], MOST_BOX);
        if (step[i] == 0 || step[i] > MOST_STEP)
            return refuse("elementStrides[%u] is %u; 1 to %d are possible", i, step[i], MOST_STEP);
        if (i + 1 < map->rank && (stride[i] % 16 || stride[i] >= MOST_STRIDE))
            return refuse("globalStrides[%u] is %llu bytes; it has to be a multiple of 16 and less than 2^40", i,
                          (unsigned long long)stride[i]);
    }
    return CUDA_SUCCESS;
}

static CUresult check_inner(const struct tensor_map *map, const cuuint32_t *box) {
    unsigned bytes = box[0] * map->element_bytes, span = 16u << map->swizzle;
    if (bytes % 16)
        return refuse("boxDim[0] is %u elements, %u bytes; it has to be a multiple of 16 bytes", box[0], bytes);
    if (map->swizzle && bytes > span)
        return refuse("boxDim[0] is %u elements, %u bytes; with a swizzle of %u bytes at most that many are possible",
                      box[0], bytes, span);
    return CUDA_SUCCESS;
}

static CUresult encode(CUtensorMap *result, CUtensorMapDataType type, cuuint32_t rank, void *address,
                       const cuuint64_t *size, const cuuint64_t *stride, const cuuint32_t *box, const cuuint32_t *step,
                       CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                       CUtensorMapL2promotion l2_promotion, CUtensorMapFloatOOBfill fill) {
    struct tensor_map map = {.magic = TENSOR_MAP_MAGIC, .rank = (uint8_t)rank, .swizzle = (uint8_t)swizzle};
    if (device_current()->simulated.compute_capability < 90)
        return refuse("tensor maps need a GPU of compute capability 9.0 or higher, and %s is none",
                      device_current()->simulated.name),
               CUDA_ERROR_NOT_SUPPORTED;
    if (!result || (uintptr_t)result % TENSOR_MAP_ALIGNMENT)
        return refuse("tensorMap, %p, has to be a multiple of %d", (void *)result, TENSOR_MAP_ALIGNMENT);
    map.type = (uint8_t)type_of(type);
    map.element_bytes = (uint8_t)ptx_type_size(type_of(type));
    if (!map.element_bytes)
        return refuse("tensorDataType is %d, which the simulator does not know", (int)type);
    if (rank < 1 || rank > TENSOR_MOST_DIMENSIONS)
        return refuse("tensorRank is %u; 1 to %d are possible", rank, TENSOR_MOST_DIMENSIONS);
    if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE)
        return refuse("interleave is %d; the simulator knows CU_TENSOR_MAP_INTERLEAVE_NONE only", (int)interleave);
    if (swizzle > CU_TENSOR_MAP_SWIZZLE_128B)
        return refuse("swizzle is %d; on Hopper there are none, 32B, 64B and 128B", (int)swizzle);
    if (l2_promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B)
        return refuse("l2Promotion is %d", (int)l2_promotion);
    if (fill > CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA)
        return refuse("oobFill is %d", (int)fill);
    if (fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA && !is_floating(type))
        return refuse("oobFill asks for NaN, and tensorDataType is no floating-point type");
    if (!address || (uintptr_t)address % 16)
        return refuse("globalAddress, %p, has to be a multiple of 16 bytes", address);
    if (!size || (!stride && rank > 1) || !box || !step)
        return refuse("%s is NULL", !size ? "globalDim" : !box ? "boxDim" : !step ? "elementStrides" : "globalStrides");
    CUresult error = check_sizes(&map, size, stride, box, step);
    if (error == CUDA_SUCCESS)
        error = check_inner(&map, box);
    if (error != CUDA_SUCCESS)
        return error;
    map.address = (uintptr_t)address;
    map.nan_fill = fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
    for (unsigned i = 0; i < rank; i++) {
        map.last[i] = (uint32_t)(size[i] - 1);
        map.box[i] = (uint16_t)box[i];
        map.step[i] = i ? (uint8_t)step[i] : 1;
        if (i + 1 < rank)
            map.stride[i] = stride[i];
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
    CUresult error =
        encode(result, type, rank, address, size, stride, box, step, interleave, swizzle, l2_promotion, fill);
    api_unlock();
    return error;
}
