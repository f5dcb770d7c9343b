// Producers and consumers: which warpgroup a thread belongs to, and how consumers give a stage back.
#pragma once

#include "hopper.cuh"

// The index of the warp's warpgroup. The shuffle tells the compiler that it is warp-uniform: it then computes with it
// in uniform registers, and branches on it do not diverge.
__device__ inline int canonical_warpgroup_index() {
    return __shfl_sync(0xffffffffu, threadIdx.x / WARPGROUP_SIZE, 0);
}

// The index of a thread among the consumer threads: warpgroup 0 is the producer.
__device__ inline int consumer_thread() {
    return threadIdx.x - WARPGROUP_SIZE;
}

// Releases a stage by one arrival per warpgroup. The warpgroup has waited for the wgmmas that read the stage: a wgmma
// completes for the whole warpgroup.
__device__ inline void consumer_release(uint64_t *empty) {
    if (threadIdx.x % WARPGROUP_SIZE == 0)
        mbarrier_arrive(empty);
}
