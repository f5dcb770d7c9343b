// cp.async: copies from global to shared memory that pass no register and need no waiting for, from sm_80 on. Before,
// the same functions copy at once, through a register.
#pragma once

#include <stdint.h>

// Copies BYTES bytes, 4 or 16, both addresses aligned to them; where not valid, writes zeros instead and reads nothing.
template <int BYTES>
__device__ inline void cp_async(float *to_smem, const float *from, bool valid = true) {
    static_assert(BYTES == 4 || BYTES == 16, "one float, or four that L1 need not keep");
#if __CUDA_ARCH__ >= 800
    const uint32_t to = (uint32_t)__cvta_generic_to_shared(to_smem);
    const int bytes = valid ? BYTES : 0;
    if (BYTES == 4)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
    else
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
#else
    for (int i = 0; i < BYTES / 4; i++)
        to_smem[i] = valid ? from[i] : 0.0f;
#endif
}

// Waits until everything that this thread has copied is there, for this thread; others need a barrier after it.
__device__ inline void cp_async_wait_all() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}
