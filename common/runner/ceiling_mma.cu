#include "runner/ceilings.h"
#include "runner/sm_count.cuh"

#include <cuda_runtime.h>
#include <stdint.h>

namespace {

// Two warps for each scheduler of an SM. A warp's products of one step are independent, so that none waits for the one
// before it.
constexpr int THREADS = 256;
constexpr int ROWS = 4;      // A fragments of 16 x 16 a warp
constexpr int COLUMNS = 8;   // B fragments of 16 x 8
constexpr int A_WORDS = 4;   // a thread's registers of an A fragment, two bf16 each
constexpr int B_WORDS = 2;   // of a B fragment
constexpr int D_FLOATS = 4;  // of a product of 16 x 8
constexpr int STEPS = 4;     // unrolled
constexpr int ROUNDS = 2047; // odd, so that the sums at the end are those of one round and not 0
constexpr int THREAD_WORDS = ROWS * A_WORDS + COLUMNS * B_WORDS;
constexpr double MMA_FLOPS = 2.0 * 16 * 8 * 16;
constexpr uint32_t BOTH_SIGNS = 0x80008000u;

__device__ __forceinline__ void mma_m16n8k16(float (&d)[D_FLOATS], const uint32_t (&a)[A_WORDS],
                                             const uint32_t (&b)[B_WORDS]) {
#if __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

__global__ void __launch_bounds__(THREADS, 1)
    multiply(const uint32_t *__restrict__ operands /* [THREAD_WORDS][THREADS] */,
             float *__restrict__ sink /* [gridDim.x][THREADS] */) {
    uint32_t a[ROWS][A_WORDS], b[COLUMNS][B_WORDS];
    float d[ROWS][COLUMNS][D_FLOATS] = {};
#pragma unroll
    for (int i = 0; i < ROWS * A_WORDS; i++)
        a[i / A_WORDS][i % A_WORDS] = operands[i * THREADS + threadIdx.x];
#pragma unroll
    for (int i = 0; i < COLUMNS * B_WORDS; i++)
        b[i / B_WORDS][i % B_WORDS] = operands[(ROWS * A_WORDS + i) * THREADS + threadIdx.x];
#pragma unroll 1
    for (int round = 0; round < ROUNDS; round++) {
#pragma unroll
        for (int step = 0; step < STEPS; step++) {
#pragma unroll
            for (int i = 0; i < ROWS; i++) {
#pragma unroll
                for (int j = 0; j < COLUMNS; j++)
                    mma_m16n8k16(d[i][j], a[i], b[j]);
            }
        }
        // The sums stay of the size that they have in a product of matrices.
#pragma unroll
        for (int i = 0; i < ROWS * A_WORDS; i++)
            a[i / A_WORDS][i % A_WORDS] ^= BOTH_SIGNS;
    }
    float sum = 0;
#pragma unroll
    for (int i = 0; i < ROWS * COLUMNS * D_FLOATS; i++)
        sum += d[i / (COLUMNS * D_FLOATS)][i / D_FLOATS % COLUMNS][i % D_FLOATS];
    sink[blockIdx.x * THREADS + threadIdx.x] = sum;
}

} // namespace

size_t ceiling_tensor_cores_operands(void) {
    return 2 * THREAD_WORDS * THREADS;
}

size_t ceiling_tensor_cores_threads(void) {
    return static_cast<size_t>(sm_count()) * THREADS;
}

double ceiling_tensor_cores_flops(void) {
    return MMA_FLOPS * ROWS * COLUMNS * STEPS * ROUNDS * static_cast<double>(ceiling_tensor_cores_threads() / 32);
}

cudaError_t ceiling_tensor_cores(const void *operands, float *sink, cudaStream_t stream) {
    multiply<<<sm_count(), THREADS, 0, stream>>>(static_cast<const uint32_t *>(operands), sink);
    return cudaGetLastError();
}
