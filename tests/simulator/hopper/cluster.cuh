// Instructions of thread block clusters, by their names.
#pragma once

#include "hopper.cuh"

#include <dlfcn.h>

DEVICE uint32_t cluster_rank() {
    uint32_t rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

DEVICE void cluster_arrive() {
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

DEVICE void cluster_arrive_relaxed() {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}

DEVICE void cluster_wait() {
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

DEVICE void cluster_sync() {
    cluster_arrive();
    cluster_wait();
}

// The same place in the shared memory of another block.
DEVICE uint32_t mapa(const void *own, uint32_t rank) {
    uint32_t address;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(smem(own)), "r"(rank));
    return address;
}

DEVICE int load_cluster(uint32_t address) {
    int value;
    asm volatile("ld.shared::cluster.s32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
    return value;
}

DEVICE void mbarrier_arrive_cluster(uint32_t barrier) {
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
}

DEVICE void store_async(uint32_t to, int value, uint32_t barrier) {
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.s32 [%0], %1, [%2];" ::"r"(to), "r"(value),
                 "r"(barrier)
                 : "memory");
}

// From the block's own shared memory to a block's of the cluster.
DEVICE void bulk_copy_cluster(uint32_t to, const void *from, int bytes, uint32_t barrier) {
    asm volatile(
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
        "r"(smem(from)), "r"(bytes), "r"(barrier)
        : "memory");
}

DEVICE void bulk_add_cluster(uint32_t to, const void *from, int bytes, uint32_t barrier) {
    asm volatile(
        "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.s32 [%0], [%1], %2, [%3];" ::
            "r"(to),
        "r"(smem(from)), "r"(bytes), "r"(barrier)
        : "memory");
}

// From global memory to the same offset in each block of the mask, where it signals the mbarrier.
DEVICE void bulk_load_multicast(void *to, const void *from, int bytes, uint64_t *barrier, uint16_t blocks) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, "
                 "[%3], %4;" ::"r"(smem(to)),
                 "l"(from), "r"(bytes), "r"(smem(barrier)), "h"(blocks)
                 : "memory");
}

// The first thread sets a barrier up; no block goes on before all know of it.
DEVICE void set_up(uint64_t *barrier, int count) {
    if (threadIdx.x == 0) {
        mbarrier_init(barrier, count);
        fence_mbarrier_init();
    }
    cluster_sync();
}

// On the simulator: the order of blocks and warps follows from the seed.
static inline void set_order(const char *seed) {
    void (*order)(uint64_t) = (void (*)(uint64_t))dlsym(RTLD_DEFAULT, "simulator_set_order");
    if (order)
        order(strtoull(seed, nullptr, 10));
}

template <typename... Parameters, typename... Arguments>
static cudaError_t launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, dim3 cluster, Arguments... arguments) {
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = cluster.x;
    attribute.val.clusterDim.y = cluster.y;
    attribute.val.clusterDim.z = cluster.z;
    config.gridDim = grid;
    config.blockDim = block;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...);
}
