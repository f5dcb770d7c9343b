// Hopper's instructions by their names: barriers in shared memory, bulk copies of tensors, products of a warpgroup, and
// what goes with them. From sm_90 on; wgmma and setmaxnreg on sm_90a alone. PTX ISA, "Asynchronous Warpgroup Level
// Matrix Instructions", "mbarrier", "cp.async.bulk.tensor".
#pragma once

#include "wgmma.cuh"

#include <cuda.h>
#include <stdint.h>

__device__ inline uint32_t smem_address(const void *p_smem) {
    return (uint32_t)__cvta_generic_to_shared(p_smem);
}

// Barriers: a phase ends when `count` threads have arrived and all expected bytes are there.

__device__ inline void mbarrier_init(uint64_t *barrier, int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem_address(barrier)), "r"(count) : "memory");
}

template <int BARRIERS>
__device__ inline void mbarriers_init(uint64_t (&barriers)[BARRIERS], int count) {
    for (uint64_t &barrier : barriers)
        mbarrier_init(&barrier, count);
}

// Copies in bulk know of the barriers that the thread has set up.
__device__ inline void fence_mbarrier_init() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ inline void mbarrier_arrive(uint64_t *barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(smem_address(barrier)) : "memory");
}

// Arrives, and adds to the bytes that the phase waits for.
__device__ inline void mbarrier_arrive_expect_tx(uint64_t *barrier, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem_address(barrier)), "r"(bytes)
                 : "memory");
}

// Whether the phase of this parity has ended, 0 for the first one. A barrier's phase before the first counts as ended.
__device__ inline bool mbarrier_test_wait(uint64_t *barrier, uint32_t parity) {
    uint32_t ended;
    asm volatile("{.reg .pred p;\n mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;}"
                 : "=r"(ended)
                 : "r"(smem_address(barrier)), "r"(parity)
                 : "memory");
    return ended;
}

// The same, but waits for it a while.
__device__ inline bool mbarrier_try_wait(uint64_t *barrier, uint32_t parity) {
    uint32_t ended;
    asm volatile("{.reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;}"
                 : "=r"(ended)
                 : "r"(smem_address(barrier)), "r"(parity)
                 : "memory");
    return ended;
}

__device__ inline void mbarrier_wait(uint64_t *barrier, uint32_t parity) {
    while (!mbarrier_try_wait(barrier, parity)) {
    }
}

// A place in a ring of stages, and how often it was gone round, modulo 2: the parity of its barriers' phase.
template <int STAGES>
struct Ring {
    int stage = 0;
    uint32_t parity = 0;

    __device__ void next() {
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
};

// Barriers of some of a block's warps, 1 to 15 (0 is that of __syncthreads): waits for `threads` to come, itself among
// them.
__device__ inline void bar_sync(int barrier, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

// Counts as come, and waits for nobody.
__device__ inline void bar_arrive(int barrier, int threads) {
    asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

// Bulk copies. A tensor is [batch][head][row][column]; what lies beyond it is read as 0 and not written.

// Starts to copy a box of a tensor into shared memory; its bytes count for the barrier's phase as they arrive.
__device__ inline void cp_async_bulk_tensor(void *to_smem, const CUtensorMap *map, uint64_t *barrier, int column,
                                            int row, int head, int batch) {
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "
                 "[%1, {%3, %4, %5, %6}], [%2];" ::"r"(smem_address(to_smem)),
                 "l"(map), "r"(smem_address(barrier)), "r"(column), "r"(row), "r"(head), "r"(batch)
                 : "memory");
}

// The same, with a hint for L2 about what is read.
__device__ inline void cp_async_bulk_tensor(void *to_smem, const CUtensorMap *map, uint64_t *barrier, int column,
                                            int row, int head, int batch, uint64_t policy) {
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], "
                 "[%1, {%3, %4, %5, %6}], [%2], %7;" ::"r"(smem_address(to_smem)),
                 "l"(map), "r"(smem_address(barrier)), "r"(column), "r"(row), "r"(head), "r"(batch), "l"(policy)
                 : "memory");
}

// Policies: what is read once may leave L2 first, what others will read last.
__device__ inline uint64_t createpolicy_evict_first() {
    uint64_t policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}
__device__ inline uint64_t createpolicy_evict_last() {
    uint64_t policy;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}

// Starts to copy a box from shared memory into a tensor.
__device__ inline void cp_async_bulk_tensor_store(const CUtensorMap *map, const void *from_smem, int column, int row,
                                                  int head, int batch) {
    asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.bulk_group [%0, {%2, %3, %4, %5}], [%1];" ::"l"(map),
                 "r"(smem_address(from_smem)), "r"(column), "r"(row), "r"(head), "r"(batch)
                 : "memory");
}

__device__ inline void cp_async_bulk_commit_group() {
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Waits until what this thread has committed has been read from shared memory; without _read, until it is written, too.
__device__ inline void cp_async_bulk_wait_group_read() {
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
__device__ inline void cp_async_bulk_wait_group() {
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// What this thread has written to shared memory, or knows of, is there for bulk copies and wgmma that are started
// later.
__device__ inline void fence_proxy_async() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Each warp of a warpgroup gives up registers down to as many a thread, or waits until it can have as many.
template <int REGISTERS>
__device__ inline void setmaxnreg_dec() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}
template <int REGISTERS>
__device__ inline void setmaxnreg_inc() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}

// Four matrices of 8 x 8 elements from registers to shared memory: the reverse of ldmatrix_x4.
__device__ inline void stmatrix_x4(void *row_smem, const uint32_t (&from)[4]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(smem_address(row_smem)),
                 "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3])
                 : "memory");
}
