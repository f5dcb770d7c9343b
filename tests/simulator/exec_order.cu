// In which order blocks, and the warps of a block, begin.
#define KERNEL extern "C" __global__ void

KERNEL order_of_blocks(unsigned *count, unsigned *place) {
    if (threadIdx.x == 0)
        place[blockIdx.x] = atomicAdd(count, 1);
}

KERNEL order_of_warps(unsigned *count, unsigned *place) {
    if (threadIdx.x % 32 == 0)
        place[threadIdx.x / 32] = atomicAdd(count, 1);
}
