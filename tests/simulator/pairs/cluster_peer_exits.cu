// No block of a cluster exits before the other block has read its shared memory.
#include <cooperative_groups.h>
#include <cstdio>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) exchange(const int *values, int *exchanged) {
    __shared__ int mine[64];
    const auto cluster = cg::this_cluster();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    mine[threadIdx.x] = values[i];
    cluster.sync();
    const int *theirs = cluster.map_shared_rank(mine, cluster.block_rank() ^ 1);
    exchanged[i] = theirs[threadIdx.x];
    cluster.sync();
}

int main() {
    const int count = 256;
    int *values, *exchanged, host[count];
    for (int i = 0; i < count; i++)
        host[i] = i;
    cudaMalloc(&values, sizeof host);
    cudaMalloc(&exchanged, sizeof host);
    cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice);
    exchange<<<4, 64>>>(values, exchanged);
    const cudaError_t error = cudaMemcpy(host, exchanged, sizeof host, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < count; i++)
        wrong += host[i] != (i ^ 64);
    printf("%s, %d wrong\n", cudaGetErrorName(error), wrong);
    return error != cudaSuccess || wrong != 0;
}
