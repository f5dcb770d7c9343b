// Cubemap textures: lookup by direction, layered cubemaps, and texture gather.
#include "program.cuh"

#include <algorithm>

constexpr int SIDE = 8, FACES = 6, CUBES = 2;

// A direction through the point (s, t) of a face, both from 0 to 1; its length has no effect.
__device__ float3 direction(int face, float s, float t, float length) {
    const float a = (2 * s - 1) * length, b = (2 * t - 1) * length;
    switch (face) {
    case 0:
        return {length, -b, -a};
    case 1:
        return {-length, -b, a};
    case 2:
        return {a, length, b};
    case 3:
        return {a, -length, -b};
    case 4:
        return {a, -b, length};
    default:
        return {-a, -b, -length};
    }
}

__global__ void look(cudaTextureObject_t cube, cudaTextureObject_t cubes, float2 *out, float shift) {
    const int x = threadIdx.x, y = threadIdx.y, face = blockIdx.x, layer = blockIdx.y;
    const float3 to = direction(face, (x + shift) / SIDE, (y + shift) / SIDE, 0.25f + x);
    out[((layer * FACES + face) * SIDE + y) * SIDE + x] = {texCubemap<float>(cube, to.x, to.y, to.z),
                                                           texCubemapLayered<float>(cubes, to.x, to.y, to.z, layer)};
}

__global__ void gather(cudaTextureObject_t texture, float4 *out) {
    const int x = threadIdx.x, y = threadIdx.y;
    float4 *at = out + 2 * (y * blockDim.x + x);
    at[0] = tex2Dgather<float4>(texture, x, y, 0);
    at[1] = tex2Dgather<float4>(texture, x, y, 1);
}

static cudaTextureObject_t texture_of(cudaArray_t array, cudaTextureFilterMode filter, bool unit) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc description = {};
    for (cudaTextureAddressMode &mode : description.addressMode)
        mode = cudaAddressModeClamp;
    description.filterMode = filter;
    description.normalizedCoords = unit;
    cudaTextureObject_t texture;
    OK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    return texture;
}

static cudaArray_t cubes_of(const std::vector<float> &texels, int cubes, unsigned flags) {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMemcpy3DParms copy = {};
    copy.extent = make_cudaExtent(SIDE, SIDE, FACES * cubes);
    OK(cudaMalloc3DArray(&copy.dstArray, &format, copy.extent, cudaArrayCubemap | flags));
    copy.srcPtr = make_cudaPitchedPtr((void *)texels.data(), SIDE * sizeof(float), SIDE, SIDE);
    copy.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&copy));
    return copy.dstArray;
}

// Samples at texel centres, and with linear filtering at texel corners; filtering stops at the edge of a face.
static void faces(cudaTextureFilterMode filter) {
    const std::vector<float> texels = whole_numbers(SIDE * SIDE * FACES * CUBES, 256);
    const cudaArray_t one = cubes_of(texels, 1, 0), several = cubes_of(texels, CUBES, cudaArrayLayered);
    const bool mixed = filter == cudaFilterModeLinear;
    float2 *out = zeros<float2>(texels.size());
    look<<<dim3(FACES, CUBES), dim3(SIDE, SIDE)>>>(texture_of(one, filter, true), texture_of(several, filter, true),
                                                   out, mixed ? 1 - 1 / 64.0f : 0.5f);
    const std::vector<float2> result = to_host(out, texels.size());
    for (int layer = 0; layer < CUBES; layer++) {
        for (int i = 0; i < FACES * SIDE * SIDE; i++) {
            const int x = i % SIDE, y = i / SIDE % SIDE, face = i / (SIDE * SIDE);
            for (int in_layers = 0; in_layers < 2; in_layers++) {
                const float *at = texels.data() + (in_layers * layer * FACES + face) * SIDE * SIDE;
                const int right = std::min(x + 1, SIDE - 1), below = std::min(y + 1, SIDE - 1);
                const float w = mixed ? 0.5f - 1 / 64.0f : 0;
                const float expected = (1 - w) * ((1 - w) * at[y * SIDE + x] + w * at[y * SIDE + right]) +
                                       w * ((1 - w) * at[below * SIDE + x] + w * at[below * SIDE + right]);
                const float2 got = result[layer * FACES * SIDE * SIDE + i];
                const float difference = (in_layers ? got.y : got.x) - expected;
                // Filter weights have 8 fractional bits, and the direction is rounded.
                EXPECT(mixed ? difference > -2 && difference < 2 : difference == 0);
            }
        }
    }
}

static void gathers() {
    const int width = 6, height = 5;
    std::vector<float2> texels(width * height);
    for (int i = 0; i < width * height; i++)
        texels[i] = {(float)i, (float)(1000 - i)};
    cudaArray_t array;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float2>();
    OK(cudaMallocArray(&array, &format, width, height, cudaArrayTextureGather));
    OK(cudaMemcpy2DToArray(array, 0, 0, texels.data(), width * sizeof(float2), width * sizeof(float2), height,
                           cudaMemcpyHostToDevice));
    float4 *out = zeros<float4>(2 * width * height);
    gather<<<1, dim3(width, height)>>>(texture_of(array, cudaFilterModePoint, false), out);
    const std::vector<float4> result = to_host(out, 2 * width * height);
    for (int i = 0; i < width * height; i++) {
        const int x = i % width, y = i / width, left = std::max(x - 1, 0), above = std::max(y - 1, 0);
        const float4 first = result[2 * i], second = result[2 * i + 1];
        EXPECT(first.x == y * width + left && first.y == y * width + x);
        EXPECT(first.z == above * width + x && first.w == above * width + left);
        EXPECT(second.x == 1000 - first.x && second.w == 1000 - first.w);
    }
}

int main() {
    faces(cudaFilterModePoint);
    faces(cudaFilterModeLinear);
    gathers();
    cudaArray_t array;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    EXPECT(cudaMalloc3DArray(&array, &format, make_cudaExtent(8, 4, 6), cudaArrayCubemap) == cudaErrorInvalidValue);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    return 0;
}
