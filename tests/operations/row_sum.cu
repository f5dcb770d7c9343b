// A sum over the rows of a matrix, a warp a row. MISTAKE: without the last element of a row.
#include "reduce.cuh"
#include "row_sum.h"

__global__ void row_sum(const float *in /* [rows][columns] */, float *out /* [rows] */, int columns) {
    const float *row = in + (int64_t)blockIdx.x * columns;
    float sum = 0.0f;
#ifdef MISTAKE
    columns--;
#endif
    for (int column = threadIdx.x; column < columns; column += WARP_SIZE)
        sum += row[column];
    for (int distance = WARP_SIZE / 2; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(ALL_LANES, sum, distance);
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
}

const int row_sum_version = 1;

cudaError_t row_sum_forward(const struct row_sum_problem *p, cudaStream_t stream) {
    row_sum<<<(unsigned)p->rows, WARP_SIZE, 0, stream>>>(p->in, p->out, p->columns);
    return cudaGetLastError();
}
