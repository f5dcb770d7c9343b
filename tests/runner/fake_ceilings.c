// The microbenchmarks of the ceilings as C functions.
#include "runner/ceilings.h"

#include <string.h>

void fake_spend(double us);

cudaError_t ceiling_copy(const void *from, void *to, size_t bytes, cudaStream_t stream) {
    (void)from, (void)to, (void)stream;
    fake_spend((double)bytes / (1 << 25) * 25e3);
    return cudaSuccess;
}

cudaError_t ceiling_fma(float *sink, cudaStream_t stream) {
    (void)stream;
    memset(sink, 0, ceiling_fma_threads() * sizeof *sink);
    fake_spend(1e4);
    return cudaSuccess;
}

size_t ceiling_fma_threads(void) {
    return 1024;
}

double ceiling_fma_flops(void) {
    return 1e9;
}
