// Clusters with a required and a preferred size: blocks add up the values in the shared memory of their cluster,
// for all cluster sizes.
#include "program.cuh"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// sums[block]: the sum over the cluster, equal in all of its blocks; sizes[block]: the cluster size.
__global__ void add_up(const int *values, int *sums, int *sizes) {
    __shared__ int mine;
    const auto cluster = cg::this_cluster();
    if (threadIdx.x == 0)
        mine = values[blockIdx.x];
    cluster.sync();
    int sum = 0;
    for (unsigned rank = 0; rank < cluster.num_blocks(); rank++)
        sum += *cluster.map_shared_rank(&mine, rank);
    cluster.sync();
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = sum;
        sizes[blockIdx.x] = cluster.num_blocks();
    }
}

static cudaError_t launch(int blocks, int size, int preferred, const int *values, int *sums, int *sizes) {
    cudaLaunchAttribute attributes[2] = {};
    cudaLaunchConfig_t config = {};
    attributes[0].id = cudaLaunchAttributeClusterDimension;
    attributes[0].val.clusterDim = {(unsigned)size, 1, 1};
    config.numAttrs = 1;
#if CUDART_VERSION >= 12080
    attributes[1].id = cudaLaunchAttributePreferredClusterDimension;
    attributes[1].val.preferredClusterDim = {(unsigned)preferred, 1, 1};
    config.numAttrs = 2;
#endif
    config.gridDim = blocks;
    config.blockDim = 32;
    config.attrs = attributes;
    return cudaLaunchKernelEx(&config, add_up, values, sums, sizes);
}

int main() {
    const int blocks = 16;
    std::vector<int> values(blocks);
    for (int i = 0; i < blocks; i++)
        values[i] = i * i;
    const int *from = to_device(values);
    int *sums = zeros<int>(blocks), *sizes = zeros<int>(blocks);
    for (const int preferred : {2, 4, 8, 16}) { // 16 blocks need a kernel attribute, which is not set
        OK(launch(blocks, 2, preferred, from, sums, sizes));
        const std::vector<int> sum = to_host(sums, blocks), size = to_host(sizes, blocks);
        for (int i = 0; i < blocks; i++) {
            int expected = 0;
            EXPECT(size[i] == 2 || (size[i] == preferred && preferred <= 8));
            for (int k = i / size[i] * size[i]; k < (i / size[i] + 1) * size[i]; k++)
                expected += values[k];
            EXPECT(sum[i] == expected);
        }
    }
#if CUDART_VERSION >= 12080
    EXPECT(launch(blocks, 2, 3, from, sums, sizes) != cudaSuccess);
    EXPECT(cudaGetLastError() != cudaSuccess);
#endif
    return 0;
}
