// Kernels with one mistake each, except races (exec_races.cu), each with its correct version. The line that a finding
// has to name has the comment "here", a second one "there".
#include <cuda_pipeline.h>

#define KERNEL extern "C" __global__ void

KERNEL uninitialized_shared(float *out) {
    __shared__ float row[64];
    int t = threadIdx.x;
    if (t < 40) {
        row[t] = t;
    }
    __syncthreads();
    out[t] = row[t]; // uninitialized_shared here
}

// All threads initialize shared memory by an exchange.
KERNEL exchanged(float *out) {
    __shared__ unsigned count;
    atomicExch(&count, 7);
    __syncthreads();
    out[threadIdx.x] = count;
}

// Rows of three floats and an uninitialized one, read four at a time.
KERNEL padding(float *out, int used) {
    __shared__ float4 row[32], other[32];
    int t = threadIdx.x;
    row[t].x = row[t].y = row[t].z = t;
    __syncthreads();
    float4 v = row[31 - t]; // padding here
    other[t] = v;           // as uninitialized there as here
    __syncthreads();
    float4 w = other[t ^ 1]; // padding second
    float sum = w.x + w.y + w.z;
    out[t] = used & 1 ? sum + 0 * w.w : sum; // padding chosen
    if (used & 2)
        out[32 + t] = v.w;   // padding stored
    if (used & 4 && v.w > 1) // padding decided
        atomicAdd(out, 2);
    if (used & 8)
        out[t] = row[__float_as_int(v.w) & 31].x; // padding address
    if (used & 16)
        out[t] = __shfl_xor_sync(~0u, v.w, 1); // padding shuffled
    if (used & 32)
        out[t] = __any_sync(~0u, v.w > 1); // padding voted
}

// A warp scans the sums of fewer warps than it has lanes: what the other lanes have read comes into no sum that is
// used, unless the sums are moved the other way.
KERNEL scan_of_few(float *out, int downwards) {
    __shared__ float sums[32];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    if (lane == 31)
        sums[warp] = t;
    __syncthreads();
    if (warp == 0) {
        float sum = sums[lane];
        for (int i = 1; i < 32; i *= 2) {
            float other = downwards ? __shfl_down_sync(~0u, sum, i) : __shfl_up_sync(~0u, sum, i);
            if (downwards ? lane + i < 32 : lane >= i)
                sum += other;
        }
        sums[lane] = sum;
    }
    __syncthreads();
    out[t] = sums[warp]; // scan_of_few here
}

// A row past the end is loaded and not written again.
KERNEL past_the_rows(float *out, const float4 *in, int rows) {
    __shared__ float4 tile[32];
    int t = threadIdx.x;
    if (t < rows)
        tile[t] = in[t];
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < 32; i++) {
        float4 v = tile[i];
        float product = v.x * v.y + v.z * v.w;
        sum += i < rows ? product : 0;
    }
    out[t] = sum;
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

// A sparse product whose lanes 0, 4, 8, ... have this metadata, and the others none.
KERNEL sparse_product(float *out, unsigned metadata) {
    float d[4] = {};
    unsigned e = threadIdx.x % 4 == 0 ? metadata : 0, x = threadIdx.x;
    asm volatile("mma.sp.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %4}, {%4, %4}, "
                 "{%0, %1, %2, %3}, %5, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(x), "r"(e)); // sparse_product here
    out[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

KERNEL sparse_product_in_order(float *out, unsigned metadata) {
    float d[4] = {};
    unsigned x = threadIdx.x;
    asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %4}, "
                 "{%4, %4}, {%0, %1, %2, %3}, %5, 2;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(x), "r"(metadata)); // sparse_product_in_order here
    out[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
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
    while (*flag == 0) { // endless_with_barrier here
        __syncthreads();
    }
}

KERNEL endless_on_shared(int *out) {
    __shared__ volatile int ready[4];
    if (threadIdx.x < 4)
        ready[threadIdx.x] = 7;
    __syncthreads();
    while (ready[2] == 7) { // endless_on_shared here
    }
    out[threadIdx.x] = ready[2];
}

__device__ unsigned taken;

KERNEL endless_lock(unsigned *out) {
    while (atomicCAS(&taken, 0, 3) != 0) { // endless_lock here
    }
    out[threadIdx.x] = 1;
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
