// FlashAttention-3's forward pass behind the interface of attention.h, so that any program that runs a lesson can run it.
// It is compiled against flash.h of the source tree FA3 and linked with the tree's kernel instantiations; the project contains
// no part of the tree. ELEMENT is CUTLASS's name of the element type, DTYPE the project's name.
#include "attention.h"
#include "flash.h"

namespace cutlass {
struct bfloat16_t;
struct half_t;
} // namespace cutlass

namespace {

// The tile scheduler of the causal kernel uses a counter in device memory that must be 0 at the start of a launch. Each launch
// uses the next counter of a ring, which is zeroed once per COUNTERS launches, so that almost no timing includes a memset.
// All launches must be on one stream.
constexpr int COUNTERS = 4096;

cudaError_t next_counter(int **counter, cudaStream_t stream) {
    static int *ring;
    static int index;
    cudaError_t error = ring ? cudaSuccess : cudaMalloc(reinterpret_cast<void **>(&ring), COUNTERS * sizeof *ring);
    if (error == cudaSuccess && index == 0)
        error = cudaMemsetAsync(ring, 0, COUNTERS * sizeof *ring, stream);
    if (error == cudaSuccess) {
        *counter = ring + index;
        index = (index + 1) % COUNTERS;
    }
    return error;
}

int device_attribute(cudaDeviceAttr attribute) {
    int device = 0, value = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&value, attribute, device);
    return value;
}

const char *unavailable() {
    static const int capability =
        10 * device_attribute(cudaDevAttrComputeCapabilityMajor) + device_attribute(cudaDevAttrComputeCapabilityMinor);
    return capability == 90 ? nullptr : "FlashAttention-3 needs compute capability 9.0";
}

// The kernel always writes the log-sum-exp [batch][heads][nq]; if the caller passes no array, it goes to the workspace.
size_t workspace_bytes(const attention_problem *p) {
    return p->lse ? 0 : sizeof(float) * p->batch * p->heads * p->nq;
}

Flash_fwd_params make_parameters(const attention_problem &p, int *counter) {
    static const int sm_count = device_attribute(cudaDevAttrMultiProcessorCount);
    Flash_fwd_params f = {};
    f.q_ptr = const_cast<void *>(p.q);
    f.k_ptr = const_cast<void *>(p.k);
    f.v_ptr = const_cast<void *>(p.v);
    f.o_ptr = p.o;
    f.softmax_lse_ptr = p.lse ? p.lse : p.workspace;
    f.q_batch_stride = p.q_stride.batch;
    f.q_head_stride = p.q_stride.head;
    f.q_row_stride = p.q_stride.row;
    f.k_batch_stride = p.k_stride.batch;
    f.k_head_stride = p.k_stride.head;
    f.k_row_stride = p.k_stride.row;
    f.v_batch_stride = p.v_stride.batch;
    f.v_head_stride = p.v_stride.head;
    f.v_row_stride = p.v_stride.row;
    f.v_dim_stride = 1;
    f.o_batch_stride = p.o_stride.batch;
    f.o_head_stride = p.o_stride.head;
    f.o_row_stride = p.o_stride.row;
    f.b = f.b_k = p.batch;
    f.h = p.heads;
    f.h_k = p.kv_heads;
    f.seqlen_q = p.nq;
    f.seqlen_k = p.nk;
    f.seqlen_q_rounded = (p.nq + 127) / 128 * 128;
    f.seqlen_k_rounded = (p.nk + 127) / 128 * 128;
    f.total_q = p.batch * p.nq;
    f.total_k = p.batch * p.nk;
    f.d = f.dv = f.d_rounded = f.dv_rounded = p.head_dim;
    f.scale_softmax = p.softmax_scale;
    // No dropout: the probability of keeping an element is 1.
    f.p_dropout = f.rp_dropout = 1;
    f.p_dropout_in_uint8_t = 255;
    f.is_bf16 = DTYPE == ATTENTION_BF16;
    f.is_causal = p.causal;
    f.window_size_left = p.nk - 1;
    f.window_size_right = p.causal ? 0 : p.nq - 1;
    f.num_splits = 1;
    f.head_swizzle = p.causal;
    f.tile_count_semaphore = counter;
    f.arch = 90;
    f.num_sm = sm_count;
    return f;
}

} // namespace

#pragma GCC visibility push(default)

extern "C" {

extern const struct attention_lesson attention_lesson = {
    .dtypes = 1u << DTYPE,
    .max_head_dim = 128,
    .causal = 1,
    .lse = 1,
    .strided = 1,
    .grouped_heads = 1,
    .min_compute_capability = 90,
    .workspace_bytes = workspace_bytes,
    .shared_bytes = nullptr,
    .unavailable = unavailable,
};

cudaError_t attention_forward(const attention_problem *p, cudaStream_t stream) {
    if (p->dtype != DTYPE || (p->head_dim != 64 && p->head_dim != 96 && p->head_dim != 128))
        return cudaErrorNotSupported;
    int *counter = nullptr;
    cudaError_t error = p->causal ? next_counter(&counter, stream) : cudaSuccess;
    if (error != cudaSuccess)
        return error;
    Flash_fwd_params parameters = make_parameters(*p, counter);
    if (p->head_dim == 64)
        run_mha_fwd_<90, ELEMENT, 64, 64, false, false, false, false>(parameters, stream);
    else if (p->head_dim == 96)
        run_mha_fwd_<90, ELEMENT, 96, 96, false, false, false, false>(parameters, stream);
    else
        run_mha_fwd_<90, ELEMENT, 128, 128, false, false, false, false>(parameters, stream);
    return cudaGetLastError();
}

} // extern "C"

#pragma GCC visibility pop
