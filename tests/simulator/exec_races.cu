// Kernels with one race each, between the warps of a block, within a warp or between blocks, each with its correct
// version. A line that a finding has to name has the comment "here", the other line of the race "there".
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

// One bug with several symptoms: in each copy of the unrolled load, within the warp and across warps, and as an
// uninitialized read.
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

// Halves of a warp that synchronize among themselves only.
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

// A new value, the same for all lanes, which each of them reads again.
KERNEL same_value_of_a_warp(float *out, const float *in) {
    __shared__ float4 one[2];
    int warp = threadIdx.x / 32;
    one[warp] = make_float4(in[warp] + 1, in[warp] + 2, in[warp] + 3, in[warp] + 4);
    float own = one[warp + (int)in[7]].x; // in[7] is 0, which the compiler does not know
    __syncthreads();
    out[threadIdx.x] = one[1 - warp].w + own;
}

// All lanes except one.
KERNEL nearly_the_same_value(float *out) {
    __shared__ float one;
    one = threadIdx.x == 17 ? 8 : 7; // nearly_the_same_value here
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

// A flag in shared memory, set by one warp and awaited by the other.
KERNEL flag(int *out) {
    __shared__ int data;
    __shared__ volatile int ready;
    if (threadIdx.x == 0) {
        ready = 0;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        data = out[1];
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

// The same without the writer's fence.
KERNEL flag_without_fence(int *out) {
    __shared__ int data;
    __shared__ volatile int ready;
    if (threadIdx.x == 0) {
        ready = 0;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        data = out[1]; // flag_without_fence there
        ready = 1;
    }
    if (threadIdx.x == 32) {
        while (!ready) {
        }
        __threadfence_block();
        out[0] = data; // flag_without_fence here
    }
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

// In place: each block reads its right-hand neighbour's first element.
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
        __threadfence();
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

// All threads of a block write; WHO selects the fencing threads, and whether they synchronize before one of them
// counts.
enum { ALL_FENCE, FIRST_FENCES, FIRST_FENCES_AFTER, FENCES_TOO_EARLY };
template <int WHO, bool MEET>
__device__ void last_block_of_many(float *part, unsigned *count, float *out) {
    __shared__ bool last;
    if (WHO == FENCES_TOO_EARLY)
        __threadfence();
    part[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x;
    if (WHO == ALL_FENCE || (WHO == FIRST_FENCES && threadIdx.x == 0))
        __threadfence();
    if (MEET)
        __syncthreads();
    if (threadIdx.x == 0) {
        if (WHO == FIRST_FENCES_AFTER)
            __threadfence();
        last = atomicAdd(count, 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float sum = 0;
        for (int i = 0; i < gridDim.x * blockDim.x; i++) {
            sum += part[i]; // first_fences_alone here // all_fence_and_do_not_meet here // fences_too_early here
        }
        *out = sum;
    }
}

KERNEL all_fence(float *part, unsigned *count, float *out) {
    last_block_of_many<ALL_FENCE, true>(part, count, out);
}

KERNEL first_fences_after(float *part, unsigned *count, float *out) {
    last_block_of_many<FIRST_FENCES_AFTER, true>(part, count, out);
}

KERNEL first_fences_alone(float *part, unsigned *count, float *out) {
    last_block_of_many<FIRST_FENCES, true>(part, count, out);
}

KERNEL all_fence_and_do_not_meet(float *part, unsigned *count, float *out) {
    last_block_of_many<ALL_FENCE, false>(part, count, out);
}

KERNEL fences_too_early(float *part, unsigned *count, float *out) {
    last_block_of_many<FENCES_TOO_EARLY, true>(part, count, out);
}

KERNEL last_block_without_fence(float *part, unsigned *count, float *out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        part[blockIdx.x] = blockIdx.x; // last_block_without_fence there
        last = atomicAdd(count, 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float sum = 0;
        for (int i = 0; i < gridDim.x; i++) {
            sum += part[i]; // last_block_without_fence here
        }
        *out = sum;
    }
}

// Two stages, each with a flag of its own. The consumer waits for the first stage's flag and reads the second stage.
template <int READ>
__device__ void pass_stages(int *out) {
    __shared__ int stage[2][32];
    __shared__ volatile int full[2];
    const int t = threadIdx.x % 32;
    if (threadIdx.x < 2) {
        full[threadIdx.x] = 0;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        for (int s = 0; s < 2; s++) {
            stage[s][t] = s + 1; // another_stage there
            __threadfence_block();
            __syncwarp();
            if (t == 0) {
                full[s] = 1;
            }
        }
    } else {
        while (full[READ == 1 ? 1 : 0] == 0) {
        }
        __threadfence_block();
        out[t] = stage[READ == 0 ? 0 : 1][t]; // another_stage here
    }
}

KERNEL another_stage(int *out) {
    pass_stages<2>(out);
}

KERNEL first_stage(int *out) {
    pass_stages<0>(out);
}

KERNEL second_stage(int *out) {
    pass_stages<1>(out);
}

// The same by named barriers: warp 1 arrives at the barrier of its stage, and warp 0 waits at another one.
template <int WAITED>
__device__ void pass_by_barriers(int *out) {
    __shared__ int stage[2][32];
    const int t = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (warp > 0) {
        stage[warp - 1][t] = warp; // another_barrier there
        asm volatile("bar.arrive %0, 64;" ::"r"(warp) : "memory");
    } else {
        asm volatile("bar.sync %0, 64;" ::"n"(WAITED) : "memory");
        out[t] = stage[1][t]; // another_barrier here
    }
}

KERNEL another_barrier(int *out) {
    pass_by_barriers<1>(out);
}

KERNEL own_barrier(int *out) {
    pass_by_barriers<2>(out);
}
