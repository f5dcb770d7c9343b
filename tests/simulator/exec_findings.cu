// Kernels with one mistake each, and beside each the same kernel without it. A line that a finding has to name carries
// the comment "here"; the other line of a race "there".
#include <cuda_pipeline.h>

#define KERNEL extern "C" __global__ void

KERNEL missing_barrier(float *out) {
    __shared__ float tile[256];
    int t = threadIdx.x;
    tile[t] = t;            // missing_barrier there
    out[t] = tile[255 - t]; // missing_barrier here
}

KERNEL with_barrier(float *out) {
    __shared__ float tile[256];
    int t = threadIdx.x;
    tile[t] = t;
    __syncthreads();
    out[t] = tile[255 - t];
}

// One bug that shows in many ways: in each copy of the unrolled load, within the warp and across warps, as a read of
// what is not written yet.
KERNEL unrolled(float *out) {
    __shared__ float tile[128];
    int t = threadIdx.x;
    float sum = 0;
    tile[t] = t; // unrolled there
#pragma unroll
    for (int i = 0; i < 128; i++) {
        sum += tile[i]; // unrolled here
    }
    out[t] = sum;
}

// The second barrier of a loop over tiles: without it a fast warp overwrites what a slow one still reads.
KERNEL missing_second_barrier(const float *in, float *out) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    float sum = 0;
    for (int i = 0; i < 4; i++) {
        tile[t] = in[64 * i + t]; // missing_second_barrier here
        __syncthreads();
        sum += tile[63 - t]; // missing_second_barrier there
    }
    out[t] = sum;
}

KERNEL with_second_barrier(const float *in, float *out) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    float sum = 0;
    for (int i = 0; i < 4; i++) {
        tile[t] = in[64 * i + t];
        __syncthreads();
        sum += tile[63 - t];
        __syncthreads();
    }
    out[t] = sum;
}

KERNEL missing_syncwarp(float *out) {
    __shared__ float row[32];
    int t = threadIdx.x;
    row[t] = t;           // missing_syncwarp there
    out[t] = row[31 - t]; // missing_syncwarp here
}

KERNEL with_syncwarp(float *out) {
    __shared__ float row[32];
    int t = threadIdx.x;
    for (int i = 0; i < 3; i++) {
        row[t] = t + i;
        __syncwarp();
        out[t] = row[31 - t];
        __syncwarp();
    }
}

// Halves of a warp that synchronise among themselves only.
KERNEL with_half_syncwarp(float *out) {
    __shared__ float row[32];
    int t = threadIdx.x;
    unsigned mask = t < 16 ? 0x0000ffffu : 0xffff0000u;
    row[t] = t;
    __syncwarp(mask);
    out[t] = row[t ^ 15];
    __syncwarp(mask);
    row[t ^ 1] = 1;
}

KERNEL different_values(float *out) {
    __shared__ float one;
    one = threadIdx.x; // different_values here
    __syncthreads();
    out[threadIdx.x] = one;
}

KERNEL same_value(float *out) {
    __shared__ float one;
    one = 7;
    __syncthreads();
    out[threadIdx.x] = one;
}

// 16-bit neighbours in one word, written by different threads.
KERNEL neighbours(unsigned short *out) {
    __shared__ unsigned short row[64];
    int t = threadIdx.x;
    row[t] = t;
    __syncthreads();
    out[t] = row[63 - t];
}

// Named barriers: warps 0 and 1 produce for warps 2 and 3.
KERNEL named_barrier(float *out) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    for (int i = 0; i < 3; i++) {
        if (t < 64) {
            if (i > 0) {
                asm volatile("bar.sync 2, 128;" ::: "memory");
            }
            tile[t] = t + i;
            asm volatile("bar.arrive 1, 128;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 128;" ::: "memory");
            out[t - 64] = tile[127 - t];
            if (i < 2) {
                asm volatile("bar.arrive 2, 128;" ::: "memory");
            }
        }
    }
}

KERNEL named_barrier_too_early(float *out) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    if (t < 64) {
        asm volatile("bar.arrive 1, 128;" ::: "memory");
        tile[t] = t; // named_barrier_too_early there
    } else {
        asm volatile("bar.sync 1, 128;" ::: "memory");
        out[t - 64] = tile[127 - t]; // named_barrier_too_early here
    }
}

KERNEL atomics(int *out) {
    __shared__ int count;
    if (threadIdx.x == 0) {
        count = 0;
    }
    __syncthreads();
    atomicAdd(&count, 1);
    __syncthreads();
    out[threadIdx.x] = count;
}

KERNEL atomic_and_plain(int *out) {
    __shared__ int count;
    if (threadIdx.x == 0) {
        count = 0;
    }
    __syncthreads();
    atomicAdd(&count, 1);     // atomic_and_plain there
    out[threadIdx.x] = count; // atomic_and_plain here
}

// A flag in shared memory, raised by one warp and awaited by the other.
KERNEL flag(int *out) {
    __shared__ int data;
    __shared__ volatile int ready;
    if (threadIdx.x == 0) {
        ready = 0;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        data = 42;
        __threadfence_block();
        ready = 1;
    }
    if (threadIdx.x == 32) {
        while (!ready) {
        }
        __threadfence_block();
        out[0] = data;
    }
}

KERNEL uninitialised_shared(float *out) {
    __shared__ float row[64];
    int t = threadIdx.x;
    if (t < 40) {
        row[t] = t;
    }
    __syncthreads();
    out[t] = row[t]; // uninitialised_shared here
}

KERNEL copy(float *out, const float *in) {
    out[threadIdx.x] = in[threadIdx.x]; // copy here
}

KERNEL past_the_end(float *out) {
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1; // past_the_end here
}

__device__ __forceinline__ void store(float *where, float value) {
    *where = value; // inlined here
}

KERNEL inlined(float *out) {
    store(out + 4096 * threadIdx.x, 1); // inlined caller
}

KERNEL shared_past_the_end(float *out, int stride) {
    __shared__ float row[32];
    row[threadIdx.x * stride] = 1; // shared_past_the_end here
    __syncthreads();
    out[threadIdx.x] = row[threadIdx.x];
}

KERNEL local_past_the_end(float *out, int n) {
    float row[8];
    for (int i = 0; i < 8; i++) {
        row[i] = out[i];
    }
    for (int i = 0; i < n; i++) {
        row[i * 1024 & 0xffff] = i; // local_past_the_end here
    }
    out[threadIdx.x] = row[n & 7];
}

KERNEL misaligned(float *out) {
    reinterpret_cast<float4 *>(out + 1)[threadIdx.x] = make_float4(1, 2, 3, 4); // misaligned here
}

KERNEL blocks_race(float *out) {
    out[threadIdx.x] = blockIdx.x; // blocks_race here
}

KERNEL blocks_apart(float *out) {
    out[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x;
}

KERNEL blocks_same_value(float *out) {
    out[threadIdx.x] = 1;
}

// In place, each block reading its right-hand neighbour's first element.
KERNEL blocks_shift(float *row, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float next = i + 1 < n ? row[i + 1] : 0; // blocks_shift there
    __syncthreads();
    row[i] = next; // blocks_shift here
}

// 16-bit elements in place, blocks of an odd size: neighbours share words, not elements.
KERNEL blocks_halves(unsigned short *row) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    row[i] = row[i] + 1;
}

KERNEL last_block(float *part, unsigned *count, float *out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        part[blockIdx.x] = blockIdx.x;
        __threadfence();
        last = atomicAdd(count, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float sum = 0;
        for (int i = 0; i < gridDim.x; i++) {
            sum += part[i];
        }
        *out = sum;
    }
}

KERNEL divergent_barrier(float *out) {
    if (threadIdx.x < 40) {
        out[threadIdx.x] = 1;
        __syncthreads(); // divergent_barrier there
    } else {
        out[threadIdx.x] = 2;
        __syncthreads(); // divergent_barrier here
        out[threadIdx.x] = 3;
    }
}

KERNEL uniform_barrier(float *out, int n) {
    if (n > 3) {
        out[threadIdx.x] = 1;
        __syncthreads();
    } else {
        __syncthreads();
        out[threadIdx.x] = 2;
    }
}

KERNEL early_return(float *out, int n) {
    if (threadIdx.x >= n) {
        return;
    }
    out[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] += 1;
}

KERNEL deadlock(float *out) {
    if (threadIdx.x < 32) {
        asm volatile("bar.sync 1, 64;"); // deadlock here
    } else {
        asm volatile("bar.sync 2, 64;"); // deadlock there
    }
    out[threadIdx.x] = 1;
}

KERNEL exited_lanes(float *out, int n) {
    int t = threadIdx.x;
    if (t >= n) {
        return;
    }
    out[t] += __shfl_xor_sync(0xffffffff, out[t], 16); // exited_lanes here
}

KERNEL present_lanes(float *out, int n) {
    int t = threadIdx.x;
    float mine = t < n ? out[t] : 0;
    mine += __shfl_xor_sync(0xffffffff, mine, 1);
    unsigned mask = __ballot_sync(0xffffffff, t < n);
    if (t < n) {
        out[t] = mine + __shfl_sync(mask, mine, 0);
    }
}

// A full mask where the block's last warp is not: all that are there take part, and none reads from one that is not.
KERNEL partial_warp(float *out) {
    float first = __shfl_sync(0xffffffff, out[threadIdx.x], 0);
    out[threadIdx.x] = first + __popc(__ballot_sync(0xffffffff, first < 1));
    __syncwarp();
}

KERNEL absent_source(float *out) {
    int t = threadIdx.x;
    if (t < 16) {
        out[t] = __shfl_sync(0x0000ffff, out[t], t + 8); // absent_source here
    }
}

KERNEL missing_wait(const float4 *in, float4 *out) {
    __shared__ float4 tile[2][64];
    int t = threadIdx.x;
    for (int stage = 0; stage < 2; stage++) {
        __pipeline_memcpy_async(&tile[stage][t], &in[64 * stage + t], 16); // missing_wait there
        __pipeline_commit();
    }
    __pipeline_wait_prior(1);
    __syncthreads();
    out[t] = tile[0][63 - t];
    out[64 + t] = tile[1][63 - t]; // missing_wait here
}

KERNEL with_wait(const float4 *in, float4 *out) {
    __shared__ float4 tile[2][64];
    int t = threadIdx.x;
    for (int stage = 0; stage < 2; stage++) {
        __pipeline_memcpy_async(&tile[stage][t], &in[64 * stage + t], 16);
        __pipeline_commit();
    }
    __pipeline_wait_prior(1);
    __syncthreads();
    out[t] = tile[0][63 - t];
    __pipeline_wait_prior(0);
    __syncthreads();
    out[64 + t] = tile[1][63 - t];
}

KERNEL endless(volatile int *flag) {
    while (*flag == 0) { // endless here
    }
}

KERNEL busy(int *to, int rounds) {
    int sum = threadIdx.x;
#pragma unroll 1
    for (int i = 0; i < rounds; i++) {
        sum = sum * 3 ^ i;
    }
    if (sum == 1) {
        to[blockIdx.x * 32 + threadIdx.x] = sum;
    }
}

KERNEL endless_in_one_lane(volatile int *flag) {
    if (threadIdx.x == 5) {
        while (*flag == 0) { // endless_in_one_lane here
        }
    }
}

KERNEL endless_with_barrier(volatile int *flag) {
    while (*flag == 0) {
        __syncthreads(); // endless_with_barrier here
    }
}

__constant__ int constant[4];
KERNEL write_constant(int *where) {
    where[threadIdx.x] = constant[threadIdx.x] + 1; // write_constant here
}

KERNEL trapped(int n) {
    if (n == 1) {
        __trap(); // trapped here
    }
}
