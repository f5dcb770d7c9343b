// What a GPU reaches at most, measured: the limits that a kernel is compared with. ceilings.cu, ceiling_mma.cu and
// ceiling_wgmma.cu, each compiled to a shared library as a lesson is, define them; bench times them in the run of the
// kernels.
#ifndef RUNNER_CEILINGS_H
#define RUNNER_CEILINGS_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- ceilings.cu ----

// Copies bytes, a multiple of 16, by float4 loads and stores. Launches on stream and does not wait.
cudaError_t ceiling_copy(const void *from, void *to, size_t bytes, cudaStream_t stream);

// Multiplies and adds fp32 in registers alone, on all SMs; sink holds ceiling_fma_threads() floats.
cudaError_t ceiling_fma(float *sink, cudaStream_t stream);
size_t ceiling_fma_threads(void);

// The floating-point operations of one launch, two for each multiply-add.
double ceiling_fma_flops(void);

// ---- ceiling_mma.cu: mma.sync, from sm_80 on; ceiling_wgmma.cu: wgmma, sm_90a alone ----

// Multiplies bf16 matrices on the tensor cores and adds up in fp32, on all SMs: mma.sync from registers, wgmma from
// shared memory, and nothing else. operands holds ceiling_tensor_cores_operands() bf16 numbers, sink
// ceiling_tensor_cores_threads() floats. The clock under load depends on the numbers: zeros would be faster.
cudaError_t ceiling_tensor_cores(const void *operands, float *sink, cudaStream_t stream);
size_t ceiling_tensor_cores_operands(void);
size_t ceiling_tensor_cores_threads(void);

// The floating-point operations of one launch.
double ceiling_tensor_cores_flops(void);

#ifdef __cplusplus
}
#endif

#endif
