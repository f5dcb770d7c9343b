// Memory pools of the program, and multi-device calls on a single device: it copies to itself and has no peers.
#include "program.cuh"

#include <cstdint>

__global__ void fill(int *x, int value) {
    x[threadIdx.x] = value;
}

static void pools() {
    cudaMemPoolProps properties = {};
    cudaMemPool_t pool, current, before;
    uint64_t threshold = 1 << 20, kept = 0;
    int may_reuse = 0, never = 0, *x;
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, 0};
    OK(cudaMemPoolCreate(&pool, &properties));
    OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept));
    EXPECT(kept == threshold);
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &may_reuse));
    EXPECT(may_reuse == 1);
    OK(cudaMemPoolSetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &never));
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &may_reuse));
    EXPECT(may_reuse == 0);
    OK(cudaMallocFromPoolAsync(&x, 32 * sizeof(int), pool, 0));
    fill<<<1, 32>>>(x, 7);
    EXPECT(to_host(x, 32)[31] == 7);
    OK(cudaDeviceGetMemPool(&before, 0));
    OK(cudaDeviceSetMemPool(0, pool));
    OK(cudaDeviceGetMemPool(&current, 0));
    EXPECT(current == pool);
    OK(cudaFreeAsync(x, 0));
    OK(cudaDeviceSynchronize());
    OK(cudaMemPoolDestroy(pool));
    OK(cudaDeviceGetMemPool(&current, 0));
    EXPECT(current == before);
}

static void devices() {
    int *from = zeros<int>(32), *to = zeros<int>(32), device = -1;
    cudaDeviceProp properties;
    fill<<<1, 32>>>(from, 3);
    OK(cudaMemcpyPeer(to, 0, from, 0, 32 * sizeof(int)));
    EXPECT(to_host(to, 32)[5] == 3);
    fill<<<1, 32>>>(from, 4);
    OK(cudaMemcpyPeerAsync(to, 0, from, 0, 32 * sizeof(int), 0));
    EXPECT(to_host(to, 32)[5] == 4);
    const cudaError_t refused = cudaDeviceEnablePeerAccess(0, 0);
    EXPECT(refused == cudaErrorInvalidDevice || (!simulated() && refused != cudaSuccess));
    EXPECT(cudaGetLastError() == refused);
    OK(cudaGetDeviceProperties(&properties, 0));
    OK(cudaChooseDevice(&device, &properties));
    EXPECT(device == 0);
}

static void arrays() {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
    const int width = 6, height = 4;
    std::vector<int> texels(width * height), result(width * height);
    cudaArray_t one, other;
    for (int i = 0; i < width * height; i++)
        texels[i] = i;
    OK(cudaMallocArray(&one, &format, width, height));
    OK(cudaMallocArray(&other, &format, width, height));
    for (const cudaArray_t array : {one, other})
        OK(cudaMemcpy2DToArray(array, 0, 0, texels.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2DArrayToArray(other, 4, 1, one, 8, 2, 3 * 4, 2, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpy2DFromArray(result.data(), width * 4, other, 0, 0, width * 4, height, cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const bool copied = x >= 1 && x < 4 && y >= 1 && y < 3;
            EXPECT(result[y * width + x] == (copied ? (y + 1) * width + x + 1 : y * width + x));
        }
}

int main() {
    pools();
    devices();
    arrays();
    return 0;
}
