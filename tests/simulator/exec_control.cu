// Control flow of every kind; each kernel stores the results of its threads in out.
#include <cassert>
#include <cstdio>

#define KERNEL extern "C" __global__ void

KERNEL nested(int *out) {
    int t = threadIdx.x, value = 0;
    if (t & 1) {
        value += 1;
        if (t & 2) {
            value += 10;
            for (int i = 0; i < t; i++) {
                value += i & 4 ? 100 : 1;
            }
        } else {
            value += 20;
        }
    } else if (t & 4) {
        value -= 5;
    }
    out[t] = value;
}

KERNEL loops(int *out) {
    int t = threadIdx.x, value = 0;
    for (int i = 0; i < t; i++) {
        if (i % 3 == t % 3) {
            continue;
        }
        int k = i;
        while (k > 0) {
            value += k;
            if (value % 7 == 3) {
                break;
            }
            k -= 2;
        }
    }
    out[t] = value;
}

KERNEL early_return(int *out) {
    int t = threadIdx.x;
    out[t] = 1;
    if (t % 5 == 0) {
        return;
    }
    out[t] = 2;
    if (t > 40) {
        return;
    }
    out[t] = 3;
}

KERNEL switched(int *out) {
    int t = threadIdx.x, value = 0;
    switch (t % 9) {
    case 0:
        value = t * 3;
        break;
    case 1:
        value = t - 100;
        // fall through
    case 2:
        value ^= 0x55;
        break;
    case 3:
        value = out[t] + 7;
        break;
    case 4:
        value = t * t;
        break;
    case 5:
        value = -t;
        break;
    case 6:
        value = t << 3;
        break;
    default:
        value = 99;
    }
    out[t] = value;
}

__device__ __noinline__ int factorial(int n) {
    return n < 2 ? 1 : n * factorial(n - 1);
}

__device__ __noinline__ int fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

// A recursion whose callers need their locals afterwards.
__device__ __noinline__ int walk(int depth, int *sum) {
    int mine[4];
    for (int i = 0; i < 4; i++) {
        mine[i] = depth * 10 + i;
    }
    if (depth > 0) {
        walk(depth - 1, &mine[depth & 3]);
    }
    *sum += mine[0] + mine[1] + mine[2] + mine[3];
    return *sum;
}

KERNEL recursion(int *out) {
    int t = threadIdx.x, sum = 0;
    out[t] = t % 3 == 0 ? factorial(t % 11) : t % 3 == 1 ? fibonacci(t % 13) : walk(t % 6, &sum);
}

__device__ __noinline__ int plus(int x) {
    return x + 1;
}

__device__ __noinline__ int times(int x) {
    return x * 3;
}

__device__ __noinline__ int minus(int x) {
    return -x;
}

KERNEL pointers(int *out) {
    int (*function[3])(int) = {plus, times, minus};
    int t = threadIdx.x;
    out[t] = function[t % 3](t) + function[(t + 1) % 3](t);
}

// Each lane takes the same lock: the kernel ends only if lanes progress independently.
KERNEL spin_lock(int *lock, int *sum) {
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            volatile int *total = sum;
            *total = *total + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

// The lower half of the warp waits for the upper half.
KERNEL lanes_wait(volatile int *flag, int *out) {
    int t = threadIdx.x;
    if (t < 16) {
        while (flag[t + 16] == 0) {
        }
        out[t] = flag[t + 16];
    } else {
        out[t] = -1;
        flag[t] = t;
    }
}

// __syncwarp() at two different instructions.
KERNEL syncwarp_apart(int *out) {
    __shared__ int box;
    if (threadIdx.x == 0) {
        box = 5;
        __syncwarp();
    } else {
        __syncwarp();
        out[threadIdx.x] = box;
    }
}

KERNEL shuffle_apart(int *out) {
    int t = threadIdx.x, value = t;
    unsigned mask = t < 8 ? 0xffu : 0xffffff00u;
    for (int i = 0; i < (t < 8 ? 3 : 5); i++) {
        value += __shfl_xor_sync(mask, value, 1);
    }
    out[t] = value;
}

KERNEL barrier_reduction(int *out, int limit) {
    int t = threadIdx.x;
    out[t] = __syncthreads_count(t < limit) * 4 + __syncthreads_or(t == limit) * 2 + __syncthreads_and(t < limit);
}

// Ping-pong over two named barriers, with another number of iterations than warps.
KERNEL ping_pong(int *out) {
    __shared__ int ball;
    int t = threadIdx.x;
    if (t == 0) {
        ball = 0;
    }
    __syncthreads();
    for (int i = 0; i < 5; i++) {
        if (t < 32) {
            if (t == 0) {
                ball += 1;
            }
            asm volatile("bar.arrive 1, 64;" ::: "memory");
            asm volatile("bar.sync 2, 64;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            if (t == 32) {
                ball *= 2;
            }
            asm volatile("bar.arrive 2, 64;" ::: "memory");
        }
    }
    __syncthreads();
    out[t] = ball;
}

KERNEL prints(const int *in) {
    if (threadIdx.x < 2) {
        printf("%d|%5u|%-4x|%llu|%c|%s|%.3f|%e|%%|%*d\n", in[threadIdx.x], 7u, 255, 1ull << 40, 'z', "text", 1.5f, 0.25,
               6, 42);
    }
}

KERNEL asserts(int *out) {
    assert(out[threadIdx.x] != 3);
    out[threadIdx.x] += 1;
}

KERNEL heap(int *out) {
    int *mine = static_cast<int *>(malloc(16));
    mine[1] = threadIdx.x;
    out[threadIdx.x] = mine[1] * 2;
    free(mine);
}

KERNEL specials(int *out) {
    unsigned lanes;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lanes));
    long long before = clock64();
    int t = threadIdx.x + blockDim.x * blockIdx.x;
    out[t] = (int)(blockIdx.x * 1000 + gridDim.x * 100 + threadIdx.x % warpSize + (__popc(lanes) == threadIdx.x % 32));
    if (clock64() <= before) {
        out[t] = -1;
    }
}
