// The tensor maps of a cache: [page][kv_head][key][column], in boxes of some keys of one page and head, 128 bytes wide
// with the 128-byte swizzle, which in 16 bits is a panel of 64 columns. What is behind a page is read as 0.
#pragma once

#include "decode.h"
#include "tensor_maps.cuh"

struct CacheMaps {
    CUtensorMap k, v;
};

static inline cudaError_t make_cache_map(CUtensorMap *map, PFN_cuTensorMapEncodeTiled_v12000 encode,
                                         const struct decode_problem *p, const void *cache, int box_keys) {
    const bool is_e4m3 = p->cache_dtype == ATTENTION_E4M3;
    const cuuint64_t bytes = is_e4m3 ? 1 : 2, row = p->head_dim * bytes;
    const cuuint64_t size[] = {(cuuint64_t)p->head_dim, (cuuint64_t)p->page_size, (cuuint64_t)p->kv_heads,
                               (cuuint64_t)p->pages};
    const cuuint64_t stride_bytes[] = {row, row * p->page_size, (cuuint64_t)p->page_stride * bytes};
    const cuuint32_t box[] = {(cuuint32_t)(128 / bytes), (cuuint32_t)box_keys, 1, 1}, step[] = {1, 1, 1, 1};
    const CUtensorMapDataType type = is_e4m3                      ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                                     : p->dtype == ATTENTION_FP16 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                                                                  : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    return (cudaError_t)encode(map, type, 4, (void *)cache, size, stride_bytes, box, step,
                               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                               CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

static inline cudaError_t make_cache_maps(struct CacheMaps *maps, const struct decode_problem *p, int box_keys) {
    PFN_cuTensorMapEncodeTiled_v12000 encode;
    cudaError_t error = find_encoder(&encode);
    if (error == cudaSuccess)
        error = make_cache_map(&maps->k, encode, p, p->k, box_keys);
    return error == cudaSuccess ? make_cache_map(&maps->v, encode, p, p->v, box_keys) : error;
}

// The keys of a box: as many of a tile as divide a page. A cache as a whole has one page for each request.
static inline int box_keys_of(const struct decode_problem *p, int keys) {
    while (p->block_table != NULL && p->page_size % keys != 0)
        keys /= 2;
    return keys;
}
