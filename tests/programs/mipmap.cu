// Mipmaps: a kernel computes each level from the previous one; reads at a level, between two levels, and with a clamped
// level.
#include "program.cuh"

#include <cmath>

constexpr int SIDE = 16, LEVELS = 5; // 16, 8, 4, 2, 1

// Each texel is the mean of four texels.
__global__ void halve(cudaTextureObject_t from, cudaSurfaceObject_t to, int side) {
    const int x = threadIdx.x, y = threadIdx.y;
    const float u = (x + 0.5f) / side, v = (y + 0.5f) / side;
    if (x < side && y < side)
        surf2Dwrite(tex2D<float>(from, u, v), to, (int)sizeof(float) * x, y);
}

__global__ void read_levels(cudaTextureObject_t texture, float *out, int n) {
    const int i = threadIdx.x;
    if (i < n)
        out[i] = tex2DLod<float>(texture, 0.3f, 0.7f, 0.25f * i - 1);
}

__global__ void read_layers(cudaTextureObject_t texture, float4 *out) {
    out[threadIdx.x] = tex2DLayeredLod<float4>(texture, 0.5f, 0.5f, threadIdx.x % 3, threadIdx.x / 3);
}

static cudaTextureObject_t texture_of(const cudaResourceDesc &resource, cudaTextureFilterMode within,
                                      cudaTextureFilterMode between, float bias, float least, float most) {
    cudaTextureDesc description = {};
    description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
    description.filterMode = within;
    description.normalizedCoords = 1;
    description.mipmapFilterMode = between;
    description.mipmapLevelBias = bias;
    description.minMipmapLevelClamp = least;
    description.maxMipmapLevelClamp = most;
    cudaTextureObject_t texture;
    OK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    return texture;
}

static cudaResourceDesc of_array(cudaArray_t array) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    return resource;
}

static void pyramid() {
    std::vector<float> level[LEVELS] = {whole_numbers(SIDE * SIDE, 256)};
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeMipmappedArray;
    cudaMipmappedArray_t &mipmap = resource.res.mipmap.mipmap;
    OK(cudaMallocMipmappedArray(&mipmap, &format, make_cudaExtent(SIDE, SIDE, 0), 100, cudaArraySurfaceLoadStore));
    cudaArray_t array, next;
    OK(cudaGetMipmappedArrayLevel(&array, mipmap, 0));
    OK(cudaMemcpy2DToArray(array, 0, 0, level[0].data(), SIDE * 4, SIDE * 4, SIDE, cudaMemcpyHostToDevice));
    for (int l = 1, side = SIDE / 2; l < LEVELS; l++, side /= 2) {
        OK(cudaGetMipmappedArrayLevel(&next, mipmap, l));
        cudaExtent extent;
        OK(cudaArrayGetInfo(nullptr, &extent, nullptr, next));
        EXPECT((int)extent.width == side && (int)extent.height == side);
        const cudaTextureObject_t from =
            texture_of(of_array(array), cudaFilterModeLinear, cudaFilterModePoint, 0, 0, 0);
        const cudaResourceDesc target = of_array(next);
        cudaSurfaceObject_t to;
        OK(cudaCreateSurfaceObject(&to, &target));
        halve<<<1, dim3(8, 8)>>>(from, to, side);
        level[l].resize(side * side);
        for (int y = 0; y < side; y++)
            for (int x = 0; x < side; x++) {
                const float *at = &level[l - 1][2 * y * 2 * side + 2 * x];
                level[l][y * side + x] = (at[0] + at[1] + at[2 * side] + at[2 * side + 1]) / 4;
            }
        OK(cudaDestroySurfaceObject(to));
        OK(cudaDestroyTextureObject(from));
        array = next;
    }
    EXPECT(cudaGetMipmappedArrayLevel(&array, mipmap, LEVELS) == cudaErrorInvalidValue);
    if (simulated()) {
        EXPECT(cudaFreeArray(next) == cudaErrorInvalidResourceHandle);
        EXPECT(cudaGetLastError() == cudaErrorInvalidResourceHandle);
    }

    const int n = 28;
    float *out = zeros<float>(n);
    const auto at = [&](int l) {
        const int side = SIDE >> l;
        return level[l][(int)(0.7f * side) * side + (int)(0.3f * side)];
    };
    const struct {
        cudaTextureFilterMode between;
        float bias, least, most;
    } cases[] = {{cudaFilterModePoint, 0, 0, 99},
                 {cudaFilterModeLinear, 0, 0, 99},
                 {cudaFilterModeLinear, 0.5f, 1, 2.75f},
                 {cudaFilterModePoint, 0, 0, 0}};
    for (const auto &c : cases) {
        const cudaTextureObject_t texture =
            texture_of(resource, cudaFilterModePoint, c.between, c.bias, c.least, c.most);
        read_levels<<<1, 32>>>(texture, out, n);
        const std::vector<float> result = to_host(out, n);
        for (int i = 0; i < n; i++) {
            const float bounded = std::fmin(std::fmax(0.25f * i - 1 + c.bias, c.least), c.most);
            const float lod = std::fmin(std::fmax(bounded, 0.0f), LEVELS - 1.0f);
            const int whole = (int)lod, nearest = (int)(lod + 0.5f);
            const float part = lod - whole;
            const float expected = c.between == cudaFilterModePoint ? at(nearest)
                                   : part == 0                      ? at(whole)
                                                                    : (1 - part) * at(whole) + part * at(whole + 1);
            if (c.between == cudaFilterModeLinear || lod - whole != 0.5f) // halfway, either level is the nearest
                EXPECT(std::fabs(result[i] - expected) < 1e-3f);
        }
        OK(cudaDestroyTextureObject(texture));
    }
    OK(cudaFreeMipmappedArray(mipmap));
    EXPECT(cudaFreeMipmappedArray(mipmap) != cudaSuccess); // CUDA does not document which error
    EXPECT(cudaGetLastError() != cudaSuccess);
}

// All levels have the same number of layers.
static void layers() {
    const int count = 3, levels = 3;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float4>();
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeMipmappedArray;
    cudaMipmappedArray_t &mipmap = resource.res.mipmap.mipmap;
    OK(cudaMallocMipmappedArray(&mipmap, &format, make_cudaExtent(4, 4, count), levels, cudaArrayLayered));
    for (int l = 0, side = 4; l < levels; l++, side /= 2) {
        std::vector<float4> texels(side * side * count);
        for (size_t i = 0; i < texels.size(); i++)
            texels[i] = make_float4(l, i / (side * side), side, 1);
        cudaMemcpy3DParms copy = {};
        copy.srcPtr = make_cudaPitchedPtr(texels.data(), side * sizeof(float4), side, side);
        OK(cudaGetMipmappedArrayLevel(&copy.dstArray, mipmap, l));
        copy.extent = make_cudaExtent(side, side, count);
        copy.kind = cudaMemcpyHostToDevice;
        OK(cudaMemcpy3D(&copy));
    }
    float4 *out = zeros<float4>(count * levels);
    read_layers<<<1, count * levels>>>(texture_of(resource, cudaFilterModeLinear, cudaFilterModeLinear, 0, 0, levels),
                                       out);
    const std::vector<float4> result = to_host(out, count * levels);
    for (int i = 0; i < count * levels; i++)
        EXPECT(result[i].x == i / 3 && result[i].y == i % 3 && result[i].z == 4 >> (i / 3) && result[i].w == 1);
}

int main() {
    pyramid();
    layers();
    return 0;
}
