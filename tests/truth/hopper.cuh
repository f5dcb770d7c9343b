// What forms of Hopper's instructions share.
#ifndef HOPPER_CUH
#define HOPPER_CUH

#include "forms.cuh"

#include <cstdint>

#define DEVICE __device__ __forceinline__

DEVICE uint32_t smem(const void *p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

DEVICE void fence_proxy_async() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

DEVICE void mbarrier_init(uint64_t *barrier, unsigned count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem(barrier)), "r"(count) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

DEVICE void mbarrier_expect(uint64_t *barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem(barrier)), "r"(bytes) : "memory");
}

// Returns how the wait ended: 1, or 0 if the phase never came. So a form that is wrong ends, and shows it.
DEVICE unsigned mbarrier_wait(uint64_t *barrier, unsigned parity) {
    unsigned done = 0;
    for (int i = 0; i < 50000 && !done; i++) {
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                     : "=r"(done)
                     : "r"(smem(barrier)), "r"(parity)
                     : "memory");
    }
    return done;
}

DEVICE void bulk_commit_and_wait() {
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}

// The bits of a word in disorder: what is drawn as special values becomes random.
DEVICE unsigned mixed(unsigned x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

#endif
