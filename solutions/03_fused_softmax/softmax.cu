// Lesson 03, first part: the softmax of each row of a matrix. Each element is read once and written once.
//
// A block processes one row and keeps it in registers between the loads and the stores.
#include "float4.cuh"
#include "reduce.cuh"
#include "softmax.h"

constexpr int MAX_THREADS = 1024;
constexpr int MAX_WARPS = MAX_THREADS / WARP_SIZE;
constexpr int MAX_FLOAT4S = 8; // per thread; 1024 threads have no registers for more
constexpr int64_t MAX_REGISTER_COLUMNS = (int64_t)MAX_THREADS * MAX_FLOAT4S * 4;

// Softmax of rows of up to 4 * FLOAT4S * blockDim.x columns. Grid: one block per row. A thread owns FLOAT4S float4s of
// the row, blockDim.x float4s apart; threads wait for one another only in block_max() and block_sum().
template <bool VECTORIZED, int FLOAT4S>
__global__ void __launch_bounds__(MAX_THREADS) row_softmax(const float *in, // [rows][columns]
                                                           float *out,      // [rows][columns]
                                                           int columns) {
    __shared__ float max_smem[MAX_WARPS], sum_smem[MAX_WARPS];
    const float *in_row = in + (int64_t)blockIdx.x * columns; // [columns]
    float *out_row = out + (int64_t)blockIdx.x * columns;     // [columns]

    // Elements past the end of the row are -inf, which changes neither the maximum nor, since exp(-inf) is 0, the sum.
    float4 x[FLOAT4S];
    for (int i = 0; i < FLOAT4S; i++) {
        const int column = 4 * (threadIdx.x + i * blockDim.x);
        x[i] = make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
        if (column < columns)
            x[i] = load_float4<VECTORIZED>(in_row, column, columns, -INFINITY);
    }

    float max = -INFINITY, sum = 0.0f;
    // TODO 1 (about 2 lines): Compute the maximum of this thread's elements. fmaxf takes two values.
    for (int i = 0; i < FLOAT4S; i++)
        max = fmaxf(max, fmaxf(fmaxf(x[i].x, x[i].y), fmaxf(x[i].z, x[i].w)));
    // END TODO 1
    max = block_max(max, max_smem);
    // TODO 2 (about 4 lines): Replace each element by exp(element - max), in its register, and add up this thread's
    // partial sum. This loop does the work of several of the five passes in the page's example.
    for (int i = 0; i < FLOAT4S; i++) {
        x[i] = make_float4(expf(x[i].x - max), expf(x[i].y - max), expf(x[i].z - max), expf(x[i].w - max));
        sum += x[i].x + x[i].y + x[i].z + x[i].w;
    }
    // END TODO 2
    const float inverse = 1.0f / block_sum(sum, sum_smem);

    for (int i = 0; i < FLOAT4S; i++) {
        const int column = 4 * (threadIdx.x + i * blockDim.x);
        if (column < columns)
            store_float4<VECTORIZED>(out_row, column, columns, scaled(inverse, x[i]));
    }
}

// Softmax of rows that do not fit in a block's registers, which are read twice: once for maximum and sum, once for the
// quotients. Grid: one block per row; a thread owns every blockDim.x-th element.
__global__ void __launch_bounds__(MAX_THREADS) long_row_softmax(const float *in, // [rows][columns]
                                                                float *out,      // [rows][columns]
                                                                int columns) {
    __shared__ float max_smem[MAX_WARPS], sum_smem[MAX_WARPS];
    const float *in_row = in + (int64_t)blockIdx.x * columns; // [columns]
    float *out_row = out + (int64_t)blockIdx.x * columns;     // [columns]

    // Each thread keeps the sum relative to its own running maximum and rescales it when the maximum grows.
    float thread_max = -INFINITY, thread_sum = 0.0f;
    for (int column = threadIdx.x; column < columns; column += blockDim.x) {
        const float x = in_row[column];
        const float new_max = fmaxf(thread_max, x);
        const float shift = new_max == -INFINITY ? 0.0f : new_max;
        thread_sum = thread_sum * expf(thread_max - shift) + expf(x - shift);
        thread_max = new_max;
    }
    const float max = block_max(thread_max, max_smem);
    const float rescale = thread_max == -INFINITY ? 0.0f : expf(thread_max - max);
    const float inverse = 1.0f / block_sum(thread_sum * rescale, sum_smem);

    for (int column = threadIdx.x; column < columns; column += blockDim.x)
        out_row[column] = expf(in_row[column] - max) * inverse;
}

size_t softmax_workspace_bytes(const struct softmax_problem *) {
    return 0;
}

template <int FLOAT4S>
static void launch(const struct softmax_problem *p, cudaStream_t stream) {
    const bool vectorized = rows_are_float4(p->in, p->columns) && rows_are_float4(p->out, p->columns);
    const int float4s = (p->columns + 3) / 4;
    const int warps = (float4s + FLOAT4S * WARP_SIZE - 1) / (FLOAT4S * WARP_SIZE);
    if (vectorized)
        row_softmax<true, FLOAT4S><<<(unsigned)p->rows, warps * WARP_SIZE, 0, stream>>>(p->in, p->out, p->columns);
    else
        row_softmax<false, FLOAT4S><<<(unsigned)p->rows, warps * WARP_SIZE, 0, stream>>>(p->in, p->out, p->columns);
}

cudaError_t softmax_forward(const struct softmax_problem *p, cudaStream_t stream) {
    if (p->rows > INT32_MAX)
        return cudaErrorInvalidConfiguration;
    // Several loads in flight per thread, but enough threads per row to fill the GPU.
    if (p->columns <= 512)
        launch<1>(p, stream);
    else if (p->columns <= 2048)
        launch<2>(p, stream);
    else if (p->columns <= 16384)
        launch<4>(p, stream);
    else if (p->columns <= MAX_REGISTER_COLUMNS)
        launch<MAX_FLOAT4S>(p, stream);
    else
        long_row_softmax<<<(unsigned)p->rows, MAX_THREADS, 0, stream>>>(p->in, p->out, p->columns);
    return cudaGetLastError();
}
