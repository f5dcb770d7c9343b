// Counters in global memory by which blocks wait for one another in a given order.
#pragma once

#include <stdint.h>

// Waits until the counter has this value: what its writer did before is then visible, also to the asynchronous proxy.
__device__ inline void semaphore_wait(const unsigned *semaphore, unsigned value) {
    unsigned now;
    do
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(semaphore) : "memory");
    while (now != value);
    asm volatile("fence.proxy.async.global;" ::: "memory");
}

// Sets the counter, after everything that the thread has done, also by bulk groups that it has waited for.
__device__ inline void semaphore_set(unsigned *semaphore, unsigned value) {
    asm volatile("fence.proxy.async.global;" ::: "memory");
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(semaphore), "r"(value) : "memory");
}
