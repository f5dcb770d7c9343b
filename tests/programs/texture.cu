// A texture of linear memory: reads inside and out of bounds, and a filter that such a texture cannot have. Arrays are
// read in surfaces.cu and mipmap.cu, and every way of reading is compared with a GPU in tests/truth.
#include "program.cuh"

__global__ void read_linear(cudaTextureObject_t texture, int2 *out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = tex1Dfetch<int2>(texture, n - 1 - i); // negative indices are out of bounds
}

int main() {
    const int n = 50;
    std::vector<int2> texels(n);
    for (int i = 0; i < n; i++)
        texels[i] = make_int2(i, -i);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = to_device(texels);
    resource.res.linear.desc = cudaCreateChannelDesc<int2>();
    resource.res.linear.sizeInBytes = n * sizeof(int2);
    cudaTextureDesc description = {};
    cudaTextureObject_t texture;
    OK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    int2 *out = zeros<int2>(64);
    read_linear<<<1, 64>>>(texture, out, n);
    const std::vector<int2> result = to_host(out, 64);
    for (int i = 0; i < 64; i++)
        EXPECT(result[i].x == (i < n ? n - 1 - i : 0) && result[i].y == (i < n ? i + 1 - n : 0));
    description.filterMode = cudaFilterModeLinear;
    EXPECT(cudaCreateTextureObject(&texture, &resource, &description, nullptr) == cudaErrorInvalidFilterSetting);
    EXPECT(cudaGetLastError() == cudaErrorInvalidFilterSetting);
    return 0;
}
