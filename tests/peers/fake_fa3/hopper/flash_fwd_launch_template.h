// Fake kernels: they print their arguments and change the counter, as the causal kernel does.
#pragma once

#include "flash.h"

#include <cstdio>

namespace cutlass {
struct bfloat16_t {
    static constexpr const char *name = "bf16";
};
struct half_t {
    static constexpr const char *name = "fp16";
};
} // namespace cutlass

template <int Arch, typename T, int kHeadDim, int kHeadDimV, bool Split, bool PagedKVNonTMA, bool Has_softcap,
          bool PackGQA>
void run_mha_fwd_(Flash_fwd_params &p, cudaStream_t) {
    int counter = -1, used = 7;
    if (p.tile_count_semaphore) {
        cudaMemcpy(&counter, p.tile_count_semaphore, sizeof counter, cudaMemcpyDeviceToHost);
        cudaMemcpy(p.tile_count_semaphore, &used, sizeof used, cudaMemcpyHostToDevice);
    }
    printf("%d %s %d: b %d h %d/%d n %d/%d d %d/%d bf16 %d causal %d window %d %d scale %g splits %d counter %d\n",
           Arch, T::name, kHeadDim, p.b, p.h, p.h_k, p.seqlen_q, p.seqlen_k, p.d, p.dv, p.is_bf16, p.is_causal,
           p.window_size_left, p.window_size_right, static_cast<double>(p.scale_softmax), p.num_splits, counter);
    printf("q %ld %ld %ld, k %ld %ld %ld, v %ld %ld %ld %ld, o %ld %ld %ld, pointers %ld %ld %ld %ld %ld\n",
           p.q_batch_stride, p.q_head_stride, p.q_row_stride, p.k_batch_stride, p.k_head_stride, p.k_row_stride,
           p.v_batch_stride, p.v_head_stride, p.v_row_stride, p.v_dim_stride, p.o_batch_stride, p.o_head_stride,
           p.o_row_stride, reinterpret_cast<long>(p.q_ptr), reinterpret_cast<long>(p.k_ptr),
           reinterpret_cast<long>(p.v_ptr), reinterpret_cast<long>(p.o_ptr), reinterpret_cast<long>(p.softmax_lse_ptr));
    fflush(stdout);
}
