// Wrappers of Hopper's PTX instructions, by their PTX names: mbarrier, named barriers, TMA loads and stores
// (cp.async.bulk.tensor), setmaxnreg, stmatrix. From sm_90 on; setmaxnreg on sm_90a only. wgmma: wgmma.cuh.
#pragma once

#include <cuda.h>
#include <stdint.h>

// Threads of a warpgroup: four consecutive warps, the first with an index that is a multiple of four. They hold 64 rows
// of a wgmma's result.
constexpr int WARPGROUP_SIZE = 128;
constexpr int WARPGROUP_ROWS = 64;

__device__ inline uint32_t smem_address(const void *p_smem) {
    return (uint32_t)__cvta_generic_to_shared(p_smem);
}

// mbarriers in shared memory: a phase completes when `count` arrivals have come and all expected bytes have been
// written.

__device__ inline void mbarrier_init(uint64_t *barrier, int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem_address(barrier)), "r"(count) : "memory");
}

// Initializes one mbarrier, or an array of them.
template <class Barriers>
__device__ inline void mbarriers_init(Barriers &barriers, int count) {
    for (int i = 0; i < (int)(sizeof barriers / sizeof(uint64_t)); i++)
        mbarrier_init((uint64_t *)&barriers + i, count);
}

// Makes this thread's mbarrier initializations visible to the asynchronous proxy (TMA) and to other threads.
__device__ inline void fence_mbarrier_init() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ inline void mbarrier_arrive(uint64_t *barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(smem_address(barrier)) : "memory");
}

// Arrives, and adds `bytes` to the transaction count for which the current phase waits (expect-tx).
__device__ inline void mbarrier_arrive_expect_tx(uint64_t *barrier, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem_address(barrier)), "r"(bytes)
                 : "memory");
}

// Whether the phase with this parity has completed. The first phase has parity 0; the phase before it, of parity 1,
// counts as completed, so a producer's first wait for an empty stage returns immediately.
__device__ inline bool mbarrier_test_wait(uint64_t *barrier, uint32_t parity) {
    uint32_t ended;
    asm volatile("{.reg .pred p;\n mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;}"
                 : "=r"(ended)
                 : "r"(smem_address(barrier)), "r"(parity)
                 : "memory");
    return ended;
}

// The same, but suspends the thread for up to a system-dependent time limit.
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

// A position in a circular buffer of stages. phase: the parity for which a consumer waits on the stage's `full`
// mbarrier; the producer waits on `empty` with phase ^ 1. It flips at each wrap-around.
template <int STAGES>
struct PipelineState {
    int stage = 0;
    uint32_t phase = 0;

    __device__ void advance() {
        if (++stage == STAGES) {
            stage = 0;
            phase ^= 1;
        }
    }
};

// Named barriers, IDs 1 to 15 (__syncthreads() uses 0). Waits until `threads` threads have arrived, including
// this one.
__device__ inline void bar_sync(int barrier, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

// Arrives without waiting.
__device__ inline void bar_arrive(int barrier, int threads) {
    asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

// TMA loads and stores. A tensor is [batch][head][row][column]. Out-of-bounds elements are read as 0 and not written.

// TMA load: starts to copy a box of a tensor into shared memory. The bytes are counted at the mbarrier as they arrive.
__device__ inline void cp_async_bulk_tensor(void *to_smem, const CUtensorMap *map, uint64_t *barrier, int column,
                                            int row, int head, int batch) {
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "
                 "[%1, {%3, %4, %5, %6}], [%2];" ::"r"(smem_address(to_smem)),
                 "l"(map), "r"(smem_address(barrier)), "r"(column), "r"(row), "r"(head), "r"(batch)
                 : "memory");
}

// The same, with an L2 cache-eviction policy.
__device__ inline void cp_async_bulk_tensor(void *to_smem, const CUtensorMap *map, uint64_t *barrier, int column,
                                            int row, int head, int batch, uint64_t policy) {
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], "
                 "[%1, {%3, %4, %5, %6}], [%2], %7;" ::"r"(smem_address(to_smem)),
                 "l"(map), "r"(smem_address(barrier)), "r"(column), "r"(row), "r"(head), "r"(batch), "l"(policy)
                 : "memory");
}

// L2 policies: evict_first for data that is read once, evict_last for data that other blocks will read.
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

// TMA store: starts to copy a box from shared memory into a tensor.
__device__ inline void cp_async_bulk_tensor_store(const CUtensorMap *map, const void *from_smem, int column, int row,
                                                  int head, int batch) {
    asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.bulk_group [%0, {%2, %3, %4, %5}], [%1];" ::"l"(map),
                 "r"(smem_address(from_smem)), "r"(column), "r"(row), "r"(head), "r"(batch)
                 : "memory");
}

__device__ inline void cp_async_bulk_commit_group() {
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Waits until the TMA stores that this thread committed have read shared memory; without _read, until they are
// complete.
__device__ inline void cp_async_bulk_wait_group_read() {
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
__device__ inline void cp_async_bulk_wait_group() {
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// Makes earlier writes to shared memory, also acquired ones, visible to the asynchronous proxy (TMA stores, wgmma).
__device__ inline void fence_proxy_async() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Sets the number of registers per thread: _dec deallocates registers, _inc waits until enough are free. All warps of a
// warpgroup execute it.
template <int REGISTERS>
__device__ inline void setmaxnreg_dec() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}
template <int REGISTERS>
__device__ inline void setmaxnreg_inc() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}

// Stores four 8 x 8 matrices of 16-bit elements from registers to shared memory: the inverse of ldmatrix_x4.
__device__ inline void stmatrix_x4(void *row_smem, const uint32_t (&from)[4]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(smem_address(row_smem)),
                 "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3])
                 : "memory");
}

// Stores two 8 x 8 matrices, and transposes each: lane i holds elements of row i / 4, which become column i / 4. Lane i
// of the first 16 passes the address of row i % 8 of matrix i / 8 as it is stored.
__device__ inline void stmatrix_x2_trans(void *row_smem, uint32_t first, uint32_t second) {
    asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(smem_address(row_smem)),
                 "r"(first), "r"(second)
                 : "memory");
}
