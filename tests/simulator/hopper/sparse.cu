// wgmma with a sparse A whose metadata is undefined: of each pair of tf32 one is kept, and zeros name none.
#include "hopper.cuh"

__global__ void zeros(const uint32_t *metadata, float *sums) {
    __shared__ __align__(128) char a[64 * 32], b[16 * 64];
    for (int i = threadIdx.x; i < (int)sizeof a; i += 128)
        a[i] = b[i % sizeof b] = 0;
    fence_proxy_async();
    __syncthreads();
    float d[8] = {};
    wgmma_fence();
    asm volatile(
        "wgmma.mma_async.sp.sync.aligned.m64n16k16.f32.tf32.tf32 {%0,%1,%2,%3,%4,%5,%6,%7}, %8, %9, %10, 0, 1, 1, 1;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
        : "l"(descriptor(smem(a), 64 * 16, 128, 0)), "l"(descriptor(smem(b), 16 * 16, 128, 0)),
          "r"(metadata[threadIdx.x]));
    wgmma_commit_group();
    wgmma_wait_group<0>();
    sums[threadIdx.x] = d[0];
}

int main(int, char **) {
    uint32_t *memory;
    CHECK(cudaMalloc(&memory, 1024));
    CHECK(cudaMemset(memory, 0, 1024));
    zeros<<<1, 128>>>(memory, (float *)memory + 128);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
