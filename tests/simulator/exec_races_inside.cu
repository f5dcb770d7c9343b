// Kernels whose threads of one block race on global memory, each with its correct version. A line that a finding has to
// name has the comment "here", the other line of the race "there".
#include <cuda_bf16.h>

#define KERNEL extern "C" __global__ void

KERNEL missing_barrier(float *data, float *out) {
    int t = threadIdx.x;
    data[t] = t + 1;            // missing_barrier there
    out[t] = data[t + 32 & 63]; // missing_barrier here
}

KERNEL with_barrier(float *data, float *out) {
    int t = threadIdx.x;
    data[t] = t + 1;
    __syncthreads();
    out[t] = data[t + 32 & 63];
}

// The element is written only after it was read: the result depends on the order of the warps.
KERNEL written_later(float *data, float *out) {
    int t = threadIdx.x;
    if (t < 32)
        out[t] = data[t]; // written_later there
    else
        data[t - 32] = t; // written_later here
}

KERNEL written_behind_a_barrier(float *data, float *out) {
    int t = threadIdx.x;
    if (t < 32)
        out[t] = data[t];
    __syncthreads();
    if (t >= 32)
        data[t - 32] = t;
}

// In place: each thread reads its neighbour's element.
KERNEL shift_in_place(float *data) {
    int t = threadIdx.x;
    float next = data[t + 1]; // shift_in_place there
    data[t] = next + 1;       // shift_in_place here
}

KERNEL shift_behind_a_barrier(float *data) {
    int t = threadIdx.x;
    float next = data[t + 1];
    __syncthreads();
    data[t] = next + 1;
}

// Iterations that each need a barrier, which is missing after the first one.
KERNEL scan_step_missing(float *data) {
    int t = threadIdx.x;
    for (int d = 32; d < 128; d *= 2) {
        float other = t >= d ? data[t - d] : 0; // scan_step_missing here
        __syncthreads();
        data[t] += other; // scan_step_missing there
    }
}

KERNEL scan_steps(float *data) {
    int t = threadIdx.x;
    for (int d = 32; d < 128; d *= 2) {
        float other = t >= d ? data[t - d] : 0;
        __syncthreads();
        data[t] += other;
        __syncthreads();
    }
}

KERNEL two_writers(float *data) {
    data[threadIdx.x % 32] = threadIdx.x; // two_writers here
}

KERNEL same_value(float *data) {
    data[threadIdx.x % 32] = 7;
}

KERNEL same_value_of_a_warp(int *flag) {
    if (threadIdx.x < 32)
        flag[0] = 7;
}

KERNEL named_barrier(float *data, float *out) {
    int t = threadIdx.x;
    if (t < 32) {
        data[t] = t + 1;
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else if (t < 64) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[t] = data[t - 32];
    }
}

KERNEL named_barrier_too_early(float *data, float *out) {
    int t = threadIdx.x;
    if (t < 32) {
        asm volatile("bar.arrive 1, 64;" ::: "memory");
        data[t] = t + 1; // named_barrier_too_early there
    } else if (t < 64) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[t] = data[t - 32]; // named_barrier_too_early here
    }
}

KERNEL missing_syncwarp(float *data, float *out) {
    int t = threadIdx.x;
    data[t] = t + 1;           // missing_syncwarp there
    out[t] = data[t + 1 & 31]; // missing_syncwarp here
}

KERNEL with_syncwarp(float *data, float *out) {
    int t = threadIdx.x;
    data[t] = t + 1;
    __syncwarp();
    out[t] = data[t + 1 & 31];
}

// All lanes read the value that one of them wrote.
KERNEL broadcast(float *data, float *out) {
    int t = threadIdx.x;
    if (t == 5)
        data[0] = 3;  // broadcast there
    out[t] = data[0]; // broadcast here
}

KERNEL broadcast_behind_syncwarp(float *data, float *out) {
    int t = threadIdx.x;
    if (t == 5)
        data[0] = 3;
    __syncwarp();
    out[t] = data[0];
}

// Each thread repeatedly accesses its own elements, with stores of all widths.
KERNEL own_places(__nv_bfloat16 *halves, float4 *vectors, int *words) {
    int t = threadIdx.x;
    for (int i = 0; i < 3; i++) {
        halves[t] = __float2bfloat16(__bfloat162float(halves[t]) + 1);
        float4 v = vectors[t];
        v.x += 1;
        vectors[t] = v;
        words[3 * t] += words[3 * t + 1];
        words[3 * t + 1] = i;
    }
}

// Neighbours in one word; then one thread reads the other's half.
KERNEL halves_of_a_word(__nv_bfloat16 *data, float *out) {
    int t = threadIdx.x;
    data[t] = __float2bfloat16(t);                // halves_of_a_word there
    out[t] = __bfloat162float(data[t + 33 & 63]); // halves_of_a_word here
}

KERNEL atomics(float *data) {
    atomicAdd(&data[threadIdx.x % 8], 1);
}

KERNEL atomic_and_plain(float *data, float *out) {
    int t = threadIdx.x;
    if (t < 32)
        atomicAdd(&data[0], 1); // atomic_and_plain there
    else
        out[0] = data[0]; // atomic_and_plain here
}

KERNEL atomics_then_plain(float *data, float *out) {
    atomicAdd(&data[0], 1);
    __syncthreads();
    out[threadIdx.x] = data[0];
}

// A guess that the atomic tests.
KERNEL guess(float *data) {
    unsigned *word = (unsigned *)data, old = *word, seen;
    do {
        seen = old;
        old = atomicCAS(word, seen, seen + 1);
    } while (old != seen);
}

KERNEL flag(float *data, float *out, int *word) {
    int t = threadIdx.x;
    if (t == 0) {
        data[0] = 5;
        __threadfence();
        atomicExch(word, 1);
    } else if (t == 32) {
        while (atomicAdd(word, 0) == 0)
            ;
        __threadfence();
        out[0] = data[0];
    }
}

KERNEL flag_without_fence(float *data, float *out, int *word) {
    int t = threadIdx.x;
    if (t == 0) {
        data[0] = 5; // flag_without_fence there
        atomicExch(word, 1);
    } else if (t == 32) {
        while (atomicAdd(word, 0) == 0)
            ;
        __threadfence();
        out[0] = data[0]; // flag_without_fence here
    }
}

KERNEL volatile_flag(volatile float *data, float *out, volatile int *word) {
    int t = threadIdx.x;
    if (t == 0) {
        data[0] = 5;
        __threadfence();
        *word = 1;
    } else if (t == 32) {
        while (*word == 0)
            ;
        out[0] = data[0];
    }
}

// A lock that guards a plain counter, for threads of all warps and within one warp.
KERNEL lock(int *word, int *count) {
    for (bool done = false; !done;) {
        if (atomicCAS(word, 0, 1) == 0) {
            __threadfence();
            *count += 1;
            __threadfence();
            atomicExch(word, 0);
            done = true;
        }
    }
}

// Two warps increment the same counter without synchronization.
KERNEL count_without_lock(int *count) {
    if (threadIdx.x % 32 == 0)
        *count += threadIdx.x + 1; // count_without_lock here
}

// Blocks read the same data and write their own: a barrier is missing in each block.
KERNEL in_each_block(float *data, float *out) {
    int t = threadIdx.x, first = blockIdx.x * 64;
    float all = 0;
    for (int i = 0; i < 4; i++)
        all += data[i];
    out[first + t] = all;                        // in_each_block there
    data[512 + first + t] = out[first + 63 - t]; // in_each_block here
}

__device__ float scratch[64];

KERNEL scratch_of_the_device(float *out) {
    int t = threadIdx.x;
    scratch[t] = t + 1;       // scratch_of_the_device there
    out[t] = scratch[63 - t]; // scratch_of_the_device here
}
