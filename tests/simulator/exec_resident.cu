// Blocks that wait for each other.

#define KERNEL extern "C" __global__ void

// A handwritten barrier among all blocks of the grid: iterations of arriving and waiting.
KERNEL grid_barrier(unsigned *arrived, int *sum, int rounds) {
    for (int round = 1; round <= rounds; round++) {
        if (threadIdx.x == 0) {
            atomicAdd(sum, round);
            __threadfence();
            atomicAdd(arrived, 1u);
            while (atomicAdd(arrived, 0u) < round * gridDim.x) { // grid_barrier here
            }
        }
        __syncthreads();
    }
}

// Each block waits for the next one, the last one does not wait.
KERNEL backwards(volatile int *done, int *order) {
    if (threadIdx.x == 0) {
        while (blockIdx.x + 1 < gridDim.x && done[blockIdx.x + 1] == 0) {
            __nanosleep(100);
        }
        order[blockIdx.x] = atomicAdd(order + gridDim.x, 1);
        __threadfence();
        done[blockIdx.x] = 1;
    }
}

// Blocks that wait for an event that never happens.
KERNEL waits_forever(volatile int *flag) {
    while (*flag == 0) {
    }
}

// Blocks that read the same volatile word often while they compute, without waiting for another block.
KERNEL polls_often(volatile int *flag, int *out) {
    int sum = 0;
    for (int i = 0; i < 200000; i++) {
        sum += *flag + i;
    }
    out[blockIdx.x] = sum;
}
