// A fake flash.h: the parameters that peers/fa3/attention.cpp sets, with FlashAttention-3's names.
#pragma once

#include <cstdint>
#include <cuda_runtime_api.h>

struct Flash_fwd_params {
    void *q_ptr, *k_ptr, *v_ptr, *o_ptr, *softmax_lse_ptr;
    int64_t q_batch_stride, q_head_stride, q_row_stride, k_batch_stride, k_head_stride, k_row_stride, v_batch_stride,
        v_head_stride, v_row_stride, v_dim_stride, o_batch_stride, o_head_stride, o_row_stride;
    int b, b_k, h, h_k, seqlen_q, seqlen_k, seqlen_q_rounded, seqlen_k_rounded, total_q, total_k, d, dv, d_rounded,
        dv_rounded;
    float scale_softmax, p_dropout, rp_dropout;
    uint8_t p_dropout_in_uint8_t;
    bool is_bf16, is_causal, is_local, pack_gqa, head_swizzle;
    int window_size_left, window_size_right, num_splits, arch, num_sm;
    int *tile_count_semaphore;
    int *cu_seqlens_q;
};

template <int Arch, typename T, int kHeadDim, int kHeadDimV, bool Split, bool PagedKVNonTMA, bool Has_softcap,
          bool PackGQA>
void run_mha_fwd_(Flash_fwd_params &params, cudaStream_t stream);
