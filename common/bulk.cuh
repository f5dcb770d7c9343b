// Plain bulk copies, of contiguous bytes: cp.async.bulk and cp.reduce.async.bulk (sm_90). Addresses and sizes are
// multiples of 16 bytes.
#pragma once

#include "hopper.cuh"

// Starts to copy bytes from global to shared memory; they are counted at the mbarrier as they arrive.
__device__ inline void cp_async_bulk(void *to_smem, const void *from, int bytes, uint64_t *barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     smem_address(to_smem)),
                 "l"(from), "r"(bytes), "r"(smem_address(barrier))
                 : "memory");
}

// Starts to add floats in shared memory to floats in global memory, each by an atomic addition. A bulk group of the
// thread, as of a TMA store.
__device__ inline void cp_reduce_async_bulk_add(float *to, const float *from_smem, int bytes) {
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(to),
                 "r"(smem_address(from_smem)), "r"(bytes)
                 : "memory");
}
