// Tensor maps: TMA's descriptors of the tensors [batch][head][row][column]. A box is some rows of one head, 64 columns
// wide, with the 128-byte swizzle: a panel in shared memory. Out-of-bounds elements are read as 0 and not written.
#pragma once

#include "attention.h"
#include "chunk.cuh"
#include "hopper.cuh"
#include "kernel_config.cuh"

#include <cudaTypedefs.h>

struct TensorMaps {
    CUtensorMap q, k, v, o;
};

// Gets the driver function at run time, so that no program has to be linked with libcuda.
static inline cudaError_t find_encoder(PFN_cuTensorMapEncodeTiled_v12000 *encode) {
    void *function = NULL;
    cudaDriverEntryPointQueryResult result;
#if CUDART_VERSION >= 12050
    const cudaError_t error =
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &result);
#else
    const cudaError_t error = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &result);
#endif
    *encode = (PFN_cuTensorMapEncodeTiled_v12000)function;
    return error != cudaSuccess ? error : function == NULL ? cudaErrorNotSupported : cudaSuccess;
}

static inline cudaError_t make_tensor_map(CUtensorMap *map, PFN_cuTensorMapEncodeTiled_v12000 encode,
                                          const struct attention_problem *p, const void *tensor,
                                          struct attention_strides s, int heads, int rows, int box_rows) {
    // A stride that is never used may have any value (chunk.cuh), but the driver refuses some values.
    const int64_t row = rows > 1 ? s.row : p->head_dim, head = heads > 1 ? s.head : p->head_dim,
                  batch = p->batch > 1 ? s.batch : p->head_dim;
    const cuuint64_t size[] = {(cuuint64_t)p->head_dim, (cuuint64_t)rows, (cuuint64_t)heads, (cuuint64_t)p->batch};
    const cuuint64_t stride_bytes[] = {2 * (cuuint64_t)row, 2 * (cuuint64_t)head, 2 * (cuuint64_t)batch};
    const cuuint32_t box[] = {PANEL, (cuuint32_t)box_rows, 1, 1}, step[] = {1, 1, 1, 1};
    // Driver errors have the same values as runtime errors.
    return (cudaError_t)encode(
        map, p->dtype == ATTENTION_FP16 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4,
        (void *)tensor, size, stride_bytes, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
        CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

// Boxes: config's queries, config's keys, and the output rows of one warpgroup.
static inline cudaError_t make_tensor_maps(struct TensorMaps *maps, const struct attention_problem *p,
                                           const struct KernelConfig *config) {
    PFN_cuTensorMapEncodeTiled_v12000 encode;
    cudaError_t error = find_encoder(&encode);
    if (error == cudaSuccess)
        error = make_tensor_map(&maps->q, encode, p, p->q, p->q_stride, p->heads, p->nq, config->queries);
    if (error == cudaSuccess)
        error = make_tensor_map(&maps->k, encode, p, p->k, p->k_stride, p->kv_heads, p->nk, config->keys);
    if (error == cudaSuccess)
        error = make_tensor_map(&maps->v, encode, p, p->v, p->v_stride, p->kv_heads, p->nk, config->keys);
    if (error == cudaSuccess)
        error = make_tensor_map(&maps->o, encode, p, p->o, p->o_stride, p->heads, p->nq, WARPGROUP_ROWS);
    return error;
}
