// Warp-level and block-level collectives.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

__global__ void shuffles(int *i, float *f, double *d, long long *l, unsigned *u) {
    unsigned all = 0xffffffffu;
    i[0] = __shfl_sync(all, i[1], 3) + __shfl_up_sync(all, i[1], 1) + __shfl_down_sync(all, i[1], 2, 16) +
           __shfl_xor_sync(all, i[1], 4, 8);
    f[0] = __shfl_xor_sync(__activemask(), f[1], 16);
    d[0] = __shfl_sync(all, d[1], threadIdx.x & 31);
    l[0] = __shfl_down_sync(all, l[1], 1);
    u[0] = __ballot_sync(all, i[2] > 0) + __any_sync(all, i[3]) + __all_sync(all, i[4]) + __popc(__activemask());
    int uniform;
    u[1] = __match_any_sync(all, i[5]) + __match_all_sync(all, l[2], &uniform) + uniform;
    __syncwarp();
    __syncwarp(0xff);
#if __CUDA_ARCH__ >= 800
    u[2] = __reduce_add_sync(all, u[3]) + __reduce_min_sync(all, u[3]) + __reduce_max_sync(all, u[3]) +
           __reduce_and_sync(all, u[3]) + __reduce_or_sync(all, u[3]) + __reduce_xor_sync(all, u[3]);
    i[6] = __reduce_max_sync(all, i[7]);
#endif
}

__global__ void barriers(int *i) {
    __shared__ int shared[64];
    shared[threadIdx.x] = i[threadIdx.x];
    __syncthreads();
    i[0] = __syncthreads_count(i[1]) + __syncthreads_and(i[2]) + __syncthreads_or(i[3]);
    asm volatile("bar.sync 1, 64;" ::: "memory");
    asm volatile("bar.arrive %0, %1;" ::"r"(2), "r"(64) : "memory");
    asm volatile("barrier.sync 3;" ::: "memory");
    asm volatile("barrier.sync.aligned 4, 32;" ::: "memory");
    asm volatile("barrier.cta.arrive 5, 64;" ::: "memory");
    asm volatile("{ .reg .pred p, q; setp.ne.s32 p, %1, 0; barrier.red.or.pred q, 6, 64, !p; selp.s32 %0, 1, 0, q; }"
                 : "=r"(i[4])
                 : "r"(i[5]));
    i[6] = shared[63 - threadIdx.x];
}

__global__ void groups(int *i, float *f) {
    namespace cg = cooperative_groups;
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    auto quad = cg::tiled_partition<4>(warp);
    i[0] = cg::reduce(warp, i[1], cg::plus<int>());
    f[0] = cg::reduce(quad, f[1], cg::greater<float>());
    warp.sync();
    block.sync();
    auto active = cg::coalesced_threads();
    i[2] = active.thread_rank() + warp.shfl(i[3], 2) + quad.any(i[4]) + block.group_index().x;
}

__global__ void copies(const float4 *from, float *to, int n) {
    __shared__ float4 tile[2][32];
    for (int stage = 0; stage < 2; stage++) {
        __pipeline_memcpy_async(&tile[stage][threadIdx.x], &from[stage * 32 + threadIdx.x], 16);
        __pipeline_commit();
    }
    __pipeline_memcpy_async(&tile[0][1], &from[3], 8, 4);
    __pipeline_wait_prior(1);
    __syncthreads();
    to[threadIdx.x] = tile[0][n].x;
    __pipeline_wait_prior(0);
    to[threadIdx.x + 32] = tile[1][n].y;
}

#if __CUDA_ARCH__ >= 800
__global__ void cp_async_forms(const float4 *from, float *to, int n) {
    __shared__ float4 tile[64];
    unsigned address = (unsigned)__cvta_generic_to_shared(tile);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from));
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(address + 16), "l"(from + 1), "r"(n));
    asm volatile("cp.async.ca.shared.global.L2::256B [%0], [%1], 8;" ::"r"(address + 32), "l"(from + 2));
    asm volatile("cp.async.ca.shared::cta.global [%0], [%1], 4, 0;" ::"r"(address + 48), "l"(from + 3));
    asm volatile("{ .reg .pred p; setp.eq.s32 p, %2, 0; cp.async.cg.shared.global [%0], [%1], 16, p; }" ::"r"(address),
                 "l"(from), "r"(n));
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group %0;" ::"n"(1));
    asm volatile("cp.async.wait_all;");
    to[0] = tile[n].x;
}
#endif
