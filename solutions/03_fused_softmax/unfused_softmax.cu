// The baseline of lesson 03: a row softmax in five passes, each a kernel that reads its operands from device memory and
// writes its result there, as in a program that calls one library function per step.
#include "reduce.cuh"
#include "softmax.h"

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / WARP_SIZE;

// Passes 1 and 4, one block per row.
__global__ void row_maxima(const float *x /* [rows][columns] */, float *row_max /* [rows] */, int columns) {
    __shared__ float max_smem[WARPS];
    const float *row = x + (int64_t)blockIdx.x * columns; // [columns]
    float max = -INFINITY;
    for (int column = threadIdx.x; column < columns; column += THREADS)
        max = fmaxf(max, row[column]);
    max = block_max(max, max_smem);
    if (threadIdx.x == 0)
        row_max[blockIdx.x] = max;
}

__global__ void row_sums(const float *x /* [rows][columns] */, float *row_sum /* [rows] */, int columns) {
    __shared__ float sum_smem[WARPS];
    const float *row = x + (int64_t)blockIdx.x * columns; // [columns]
    float sum = 0.0f;
    for (int column = threadIdx.x; column < columns; column += THREADS)
        sum += row[column];
    sum = block_sum(sum, sum_smem);
    if (threadIdx.x == 0)
        row_sum[blockIdx.x] = sum;
}

// Passes 2, 3 and 5, one block per row.
__global__ void subtract(const float *x /* [rows][columns] */, const float *row_max /* [rows] */,
                         float *out /* [rows][columns] */, int columns) {
    const int64_t start = (int64_t)blockIdx.x * columns;
    for (int column = threadIdx.x; column < columns; column += THREADS)
        out[start + column] = x[start + column] - row_max[blockIdx.x];
}

__global__ void exponentiate(float *x /* [rows][columns] */, int columns) {
    const int64_t start = (int64_t)blockIdx.x * columns;
    for (int column = threadIdx.x; column < columns; column += THREADS)
        x[start + column] = expf(x[start + column]);
}

__global__ void divide(float *x /* [rows][columns] */, const float *row_sum /* [rows] */, int columns) {
    const int64_t start = (int64_t)blockIdx.x * columns;
    for (int column = threadIdx.x; column < columns; column += THREADS)
        x[start + column] /= row_sum[blockIdx.x];
}

size_t softmax_workspace_bytes(const struct softmax_problem *p) {
    return (size_t)p->rows * sizeof(float);
}

cudaError_t softmax_forward(const struct softmax_problem *p, cudaStream_t stream) {
    if (p->rows > INT32_MAX)
        return cudaErrorInvalidConfiguration;
    const unsigned rows = (unsigned)p->rows;
    float *row_value = (float *)p->workspace; // [rows], first the maxima, then the sums
    row_maxima<<<rows, THREADS, 0, stream>>>(p->in, row_value, p->columns);
    subtract<<<rows, THREADS, 0, stream>>>(p->in, row_value, p->out, p->columns);
    exponentiate<<<rows, THREADS, 0, stream>>>(p->out, p->columns);
    row_sums<<<rows, THREADS, 0, stream>>>(p->out, row_value, p->columns);
    divide<<<rows, THREADS, 0, stream>>>(p->out, row_value, p->columns);
    return cudaGetLastError();
}
