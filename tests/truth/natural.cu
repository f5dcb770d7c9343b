// Kernels in ordinary CUDA C whose machine code loads and stores differently from their PTX: ptxas merges neighbouring
// accesses, replaces branches by predicates, spills registers. Each is launched once; a profiler counts.
//
//   truth-natural
#include <cstdio>

enum { THREADS = 128, BLOCKS = 2 };
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

// Initializes the tile with stride-1 stores of one word.
__device__ void fill(float *tile, int words, const float *a) {
    for (int i = threadIdx.x; i < words; i += THREADS) {
        tile[i] = a[i % THREADS];
    }
    __syncthreads();
}

__global__ void adjacent_quads(float *result, const float *a) {
    __shared__ float tile[4 * THREADS];
    fill(tile, 4 * THREADS, a);
    const float *mine = tile + 4 * threadIdx.x;
    result[INDEX] = mine[0] + mine[1] * mine[2] + mine[3];
}

__global__ void adjacent_pairs(float *result, const float *a) {
    __shared__ float tile[2 * THREADS];
    fill(tile, 2 * THREADS, a);
    result[INDEX] = tile[2 * threadIdx.x] - tile[2 * threadIdx.x + 1];
}

__global__ void adjacent_triples(float *result, const float *a) {
    __shared__ float tile[3 * THREADS];
    fill(tile, 3 * THREADS, a);
    const float *mine = tile + 3 * threadIdx.x;
    result[INDEX] = mine[0] + mine[1] * mine[2];
}

// All threads read one query row, and each thread its own key column: the inner loop of an attention kernel.
__global__ void broadcast_row(float *result, const float *a) {
    __shared__ float row[64], column[64 * THREADS];
    fill(row, 64, a);
    fill(column, 64 * THREADS, a);
    float sum = 0;
    for (int d = 0; d < 64; d++) {
        sum += row[d] * column[d * THREADS + threadIdx.x];
    }
    result[INDEX] = sum;
}

// Each thread reads its own row; a padding of one word puts the rows in different banks.
__global__ void padded_rows(float *result, const float *a) {
    __shared__ float rows[THREADS][33];
    fill(&rows[0][0], 33 * THREADS, a);
    float sum = 0;
    for (int d = 0; d < 32; d++) {
        sum += rows[threadIdx.x][d];
    }
    result[INDEX] = sum;
}

__global__ void unpadded_rows(float *result, const float *a) {
    __shared__ float rows[THREADS][32];
    fill(&rows[0][0], 32 * THREADS, a);
    float sum = 0;
    for (int d = 0; d < 32; d++) {
        sum += rows[threadIdx.x][d];
    }
    result[INDEX] = sum;
}

__global__ void adjacent_stores(float *result, const float *a) {
    __shared__ float tile[4 * THREADS];
    const float value = a[threadIdx.x];
    float *mine = tile + 4 * threadIdx.x;
    mine[0] = value, mine[1] = value + 1, mine[2] = value + 2, mine[3] = value + 3;
    __syncthreads();
    result[INDEX] = tile[threadIdx.x * 5 % (4 * THREADS)];
}

__global__ void adjacent_global(float *__restrict__ result, const float *__restrict__ a) {
    const float *mine = a + 4 * (threadIdx.x % (THREADS / 4));
    result[INDEX] = mine[0] + mine[1] * mine[2] + mine[3];
}

__global__ void wide_global(float *__restrict__ result, const float4 *__restrict__ a) {
    const float4 mine = a[threadIdx.x % (THREADS / 4)];
    result[INDEX] = mine.x + mine.y * mine.z + mine.w;
}

// Half of the warps of each block, and half of the lanes of one warp, do not load.
__global__ void guarded(float *result, const float *a) {
    float value = 7;
    if (threadIdx.x < 48) {
        value = a[threadIdx.x];
    }
    result[INDEX] = value;
}

__global__ void local_array(float *result, const float *a) {
    float slots[16];
    for (int i = 0; i < 16; i++) {
        slots[i] = a[(threadIdx.x + i) % THREADS];
    }
    const int slot = static_cast<int>(a[threadIdx.x]) & 15;
    slots[slot] += 1;
    slots[(slot + 5) & 15] *= 2;
    result[INDEX] = slots[(slot + 9) & 15];
}

// More live values than registers per thread at 2048 threads per SM.
__global__ __launch_bounds__(1024, 2) void spilled(float *result, const float *a) {
    float value[48];
#pragma unroll
    for (int i = 0; i < 48; i++) {
        value[i] = a[(threadIdx.x + 3 * i) % THREADS];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 48; i++) {
        value[i] = value[i] * value[(i * 7 + 1) % 48] + value[(i * 5 + 2) % 48];
    }
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 48; i++) {
        sum = sum * value[(i * 11) % 48] + value[i];
    }
    result[INDEX] = sum;
}

int main() {
    float *a, *result, values[THREADS];
    for (int i = 0; i < THREADS; i++) {
        values[i] = static_cast<float>(i * 37 % 64);
    }
    cudaMalloc(&a, sizeof values);
    cudaMalloc(&result, BLOCKS * sizeof values);
    cudaMemcpy(a, values, sizeof values, cudaMemcpyHostToDevice);
    adjacent_quads<<<BLOCKS, THREADS>>>(result, a);
    adjacent_pairs<<<BLOCKS, THREADS>>>(result, a);
    adjacent_triples<<<BLOCKS, THREADS>>>(result, a);
    broadcast_row<<<BLOCKS, THREADS>>>(result, a);
    padded_rows<<<BLOCKS, THREADS>>>(result, a);
    unpadded_rows<<<BLOCKS, THREADS>>>(result, a);
    adjacent_stores<<<BLOCKS, THREADS>>>(result, a);
    adjacent_global<<<BLOCKS, THREADS>>>(result, a);
    wide_global<<<BLOCKS, THREADS>>>(result, reinterpret_cast<const float4 *>(a));
    guarded<<<BLOCKS, THREADS>>>(result, a);
    local_array<<<BLOCKS, THREADS>>>(result, a);
    spilled<<<BLOCKS, THREADS>>>(result, a);
    const cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::fprintf(stderr, "truth-natural: %s\n", cudaGetErrorString(status));
        return 1;
    }
    return 0;
}
