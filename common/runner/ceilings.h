// What a GPU reaches at most, measured: the two limits that a kernel is held against. ceilings.cu, compiled to a shared
// library as a lesson is, defines both; bench times them in the run of the kernels.
#ifndef RUNNER_CEILINGS_H
#define RUNNER_CEILINGS_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Copies bytes, a multiple of 16, by float4 loads and stores. Launches on stream and does not wait.
cudaError_t ceiling_copy(const void *from, void *to, size_t bytes, cudaStream_t stream);

// Multiplies and adds fp32 in registers alone, on all SMs; sink holds ceiling_fma_threads() floats.
cudaError_t ceiling_fma(float *sink, cudaStream_t stream);
size_t ceiling_fma_threads(void);

// The floating-point operations of one launch, two for each multiply-add.
double ceiling_fma_flops(void);

#ifdef __cplusplus
}
#endif

#endif
