// What the simulator's speed is measured on: attention with fp32 inputs [n][64] as a beginner writes it, and in tiles
// with an online softmax.
#include <math.h>

#define HEAD_DIM 64
#define TILE 32

// One block a query; shared: n scores.
extern "C" __global__ void naive(const float *q, const float *k, const float *v, float *o, int n, float scale) {
    extern __shared__ float score[];
    const int query = blockIdx.x;
    for (int key = threadIdx.x; key < n; key += blockDim.x) {
        float dot = 0.0f;
        for (int c = 0; c < HEAD_DIM; c++) {
            dot += q[query * HEAD_DIM + c] * k[key * HEAD_DIM + c];
        }
        score[key] = dot * scale;
    }
    __syncthreads();
    float row_max = -INFINITY, row_sum = 0.0f;
    for (int key = 0; key < n; key++) {
        row_max = fmaxf(row_max, score[key]);
    }
    for (int key = 0; key < n; key++) {
        row_sum += expf(score[key] - row_max);
    }
    for (int c = threadIdx.x; c < HEAD_DIM; c += blockDim.x) {
        float sum = 0.0f;
        for (int key = 0; key < n; key++) {
            sum += expf(score[key] - row_max) * v[key * HEAD_DIM + c];
        }
        o[query * HEAD_DIM + c] = sum / row_sum;
    }
}

// One thread a query, its row and its accumulator in registers.
extern "C" __global__ void __launch_bounds__(128)
    tiled(const float *q, const float *k, const float *v, float *o, int n, float scale) {
    __shared__ float k_tile[TILE][HEAD_DIM], v_tile[TILE][HEAD_DIM];
    const int query = blockIdx.x * blockDim.x + threadIdx.x;
    float row[HEAD_DIM], sum[HEAD_DIM];
    for (int c = 0; c < HEAD_DIM; c++) {
        row[c] = query < n ? q[query * HEAD_DIM + c] : 0.0f;
        sum[c] = 0.0f;
    }
    float row_max = -INFINITY, row_sum = 0.0f;
    for (int base = 0; base < n; base += TILE) {
        __syncthreads();
        for (int i = threadIdx.x; i < TILE * HEAD_DIM; i += blockDim.x) {
            const int key = i / HEAD_DIM, c = i % HEAD_DIM;
            k_tile[key][c] = base + key < n ? k[(base + key) * HEAD_DIM + c] : 0.0f;
            v_tile[key][c] = base + key < n ? v[(base + key) * HEAD_DIM + c] : 0.0f;
        }
        __syncthreads();
        for (int key = 0; key < TILE && base + key < n; key++) {
            float score = 0.0f;
            for (int c = 0; c < HEAD_DIM; c++) {
                score += row[c] * k_tile[key][c];
            }
            const float new_max = fmaxf(row_max, score * scale);
            const float rescale = expf(row_max - new_max), p = expf(score * scale - new_max);
            row_sum = row_sum * rescale + p;
            for (int c = 0; c < HEAD_DIM; c++) {
                sum[c] = sum[c] * rescale + p * v_tile[key][c];
            }
            row_max = new_max;
        }
    }
    for (int c = 0; c < HEAD_DIM && query < n; c++) {
        o[query * HEAD_DIM + c] = sum[c] / row_sum;
    }
}
