// A microbenchmark of the tensor cores as a C function: 3 * 10^9 operations in 10 ms, if its operands are N(0,1) in
// bf16.
#include "runner/ceilings.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

void fake_spend(double us);

enum { OPERANDS = 4096, THREADS = 64 };

cudaError_t ceiling_tensor_cores(const void *operands, float *sink, cudaStream_t stream) {
    const uint16_t *half = operands;
    double sum = 0, squares = 0;
    (void)stream;
    for (int i = 0; i < OPERANDS; i++) {
        uint32_t bits = (uint32_t)half[i] << 16;
        float value;
        memcpy(&value, &bits, sizeof value);
        sum += value;
        squares += (double)value * value;
    }
    if (fabs(sum / OPERANDS) > 0.1 || fabs(squares / OPERANDS - 1) > 0.1)
        return cudaErrorInvalidValue;
    memset(sink, 0, THREADS * sizeof *sink);
    fake_spend(1e4);
    return cudaSuccess;
}

size_t ceiling_tensor_cores_operands(void) {
    return OPERANDS;
}

size_t ceiling_tensor_cores_threads(void) {
    return THREADS;
}

double ceiling_tensor_cores_flops(void) {
    return 3e9;
}
