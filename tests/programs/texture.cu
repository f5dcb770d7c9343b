// Textures and surfaces: filtering between texels and at texel centres, every addressing mode, normalized reads of
// bytes, layers, depth, linear memory.
#include "program.cuh"

#include <algorithm>
#include <cmath>

__global__ void fetch(cudaTextureObject_t texture, float *out, int width, int height, float step, float scale) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x < width && y < height)
        out[y * width + x] = tex2D<float>(texture, (x * step - 3) * scale, (y * step - 2) * scale);
}

static cudaArray_t to_array(const std::vector<float> &texels, int width, int height) {
    cudaArray_t array;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    OK(cudaMallocArray(&array, &format, width, height));
    OK(cudaMemcpy2DToArray(array, 0, 0, texels.data(), width * sizeof(float), width * sizeof(float), height,
                           cudaMemcpyHostToDevice));
    return array;
}

static cudaTextureObject_t texture_of(cudaArray_t array, cudaTextureAddressMode mode, cudaTextureFilterMode filter,
                                      bool unit, cudaTextureReadMode read = cudaReadModeElementType) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc description = {};
    description.addressMode[0] = description.addressMode[1] = description.addressMode[2] = mode;
    description.filterMode = filter;
    description.readMode = read;
    description.normalizedCoords = unit;
    cudaTextureObject_t texture;
    OK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    return texture;
}

constexpr int WIDTH = 8, HEIGHT = 6;

// The texel that an addressing mode returns for an out-of-bounds index.
static float texel(const std::vector<float> &texels, int x, int y, cudaTextureAddressMode mode) {
    if (mode == cudaAddressModeBorder && (x < 0 || y < 0 || x >= WIDTH || y >= HEIGHT))
        return 0;
    if (mode == cudaAddressModeWrap) {
        x = (x % WIDTH + WIDTH) % WIDTH;
        y = (y % HEIGHT + HEIGHT) % HEIGHT;
    }
    x = std::min(std::max(x, 0), WIDTH - 1);
    y = std::min(std::max(y, 0), HEIGHT - 1);
    return texels[y * WIDTH + x];
}

static void filters(cudaTextureAddressMode mode, cudaTextureFilterMode filter) {
    const int width = 28, height = 21;
    const float step = 0.5f;
    const std::vector<float> texels = whole_numbers(WIDTH * HEIGHT, 100);
    const bool unit = mode == cudaAddressModeWrap;
    const cudaArray_t array = to_array(texels, WIDTH, HEIGHT);
    const cudaTextureObject_t texture = texture_of(array, mode, filter, unit);
    float *out = zeros<float>(width * height);
    if (unit) // a common factor of both sizes would not do: use a square
        fetch<<<dim3(1, height), 32>>>(texture, out, width, height, step, 1.0f / WIDTH);
    else
        fetch<<<dim3(1, height), 32>>>(texture, out, width, height, step, 1);
    const std::vector<float> result = to_host(out, width * height);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            float u = x * step - 3, v = y * step - 2, expected;
            if (unit)
                v *= (float)HEIGHT / WIDTH;
            if (filter == cudaFilterModePoint) {
                expected = texel(texels, (int)std::floor(u), (int)std::floor(v), mode);
            } else {
                u -= 0.5f;
                v -= 0.5f;
                const int i = (int)std::floor(u), j = (int)std::floor(v);
                const float a = u - i, b = v - j;
                expected = (1 - a) * (1 - b) * texel(texels, i, j, mode) + a * (1 - b) * texel(texels, i + 1, j, mode) +
                           (1 - a) * b * texel(texels, i, j + 1, mode) + a * b * texel(texels, i + 1, j + 1, mode);
            }
            EXPECT(std::fabs(result[y * width + x] - expected) < (filter == cudaFilterModePoint ? 1e-6f : 0.5f));
        }
    }
    OK(cudaDestroyTextureObject(texture));
    OK(cudaFreeArray(array));
}

__global__ void read_bytes(cudaTextureObject_t texture, float4 *out) {
    out[threadIdx.x] = tex1D<float4>(texture, threadIdx.x + 0.5f);
}

__global__ void read_linear(cudaTextureObject_t texture, int2 *out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = tex1Dfetch<int2>(texture, n - 1 - i); // negative indices are out of bounds
}

__global__ void read_volume(cudaTextureObject_t volume, cudaTextureObject_t layers, float *out) {
    const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    float *at = out + 2 * ((z * blockDim.y + y) * blockDim.x + x);
    at[0] = tex3D<float>(volume, x + 0.5f, y + 0.5f, z + 1.0f); // the mean of this slice and the next
    at[1] = tex2DLayered<float>(layers, x + 0.5f, y + 0.5f, z);
}

// Rotates the image in place, four bytes per texel, and writes out of bounds.
__global__ void turn(cudaSurfaceObject_t surface, int width, int height) {
    const int x = threadIdx.x, y = threadIdx.y;
    uchar4 one = {}, none = {1, 1, 1, 1};
    if (x < width && y < height)
        surf2Dread(&one, surface, 4 * x, y);
    surf2Dread(&none, surface, 4 * width, y, cudaBoundaryModeZero);
    __syncthreads();
    if (x < width && y < height)
        surf2Dwrite(make_uchar4(one.w, one.z, one.y, one.x + none.x), surface, 4 * (width - 1 - x), height - 1 - y);
    surf2Dwrite(one, surface, 4 * width, y, cudaBoundaryModeZero);
}

static void bytes() {
    const int n = 16;
    std::vector<uchar4> texels(n);
    for (int i = 0; i < n; i++)
        texels[i] = make_uchar4(i, 2 * i, 255 - i, 255);
    cudaArray_t array;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
    OK(cudaMallocArray(&array, &format, n, 0));
    OK(cudaMemcpy2DToArray(array, 0, 0, texels.data(), n * sizeof(uchar4), n * sizeof(uchar4), 1,
                           cudaMemcpyHostToDevice));
    float4 *out = zeros<float4>(n);
    read_bytes<<<1, n>>>(
        texture_of(array, cudaAddressModeClamp, cudaFilterModePoint, false, cudaReadModeNormalizedFloat), out);
    const std::vector<float4> result = to_host(out, n);
    for (int i = 0; i < n; i++)
        EXPECT(result[i].x == i / 255.0f && result[i].y == 2 * i / 255.0f && result[i].w == 1);
}

static void linear() {
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
}

static void volume() {
    const int width = 5, height = 4, depth = 3;
    std::vector<float> texels = whole_numbers(width * height * depth, 64);
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t arrays[2];
    for (int layered = 0; layered < 2; layered++) {
        OK(cudaMalloc3DArray(&arrays[layered], &format, make_cudaExtent(width, height, depth),
                             layered ? cudaArrayLayered : 0));
        cudaMemcpy3DParms copy = {};
        copy.srcPtr = make_cudaPitchedPtr(texels.data(), width * sizeof(float), width, height);
        copy.dstArray = arrays[layered];
        copy.extent = make_cudaExtent(width, height, depth);
        copy.kind = cudaMemcpyHostToDevice;
        OK(cudaMemcpy3D(&copy));
    }
    float *out = zeros<float>(2 * width * height * depth);
    read_volume<<<1, dim3(width, height, depth)>>>(
        texture_of(arrays[0], cudaAddressModeClamp, cudaFilterModeLinear, false),
        texture_of(arrays[1], cudaAddressModeClamp, cudaFilterModePoint, false), out);
    const std::vector<float> result = to_host(out, 2 * width * height * depth);
    for (int z = 0; z < depth; z++) {
        for (int i = 0; i < width * height; i++) {
            const float here = texels[z * width * height + i];
            const float next = texels[std::min(z + 1, depth - 1) * width * height + i];
            EXPECT(result[2 * (z * width * height + i)] == 0.5f * here + 0.5f * next);
            EXPECT(result[2 * (z * width * height + i) + 1] == here);
        }
    }
}

static void surface() {
    const int width = 7, height = 5;
    std::vector<uchar4> texels(width * height), result(width * height);
    for (int i = 0; i < width * height; i++)
        texels[i] = make_uchar4(i, i + 50, i + 100, i + 150);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
    OK(cudaMallocArray(&resource.res.array.array, &format, width, height, cudaArraySurfaceLoadStore));
    const cudaArray_t array = resource.res.array.array;
    OK(cudaMemcpy2DToArray(array, 0, 0, texels.data(), 4 * width, 4 * width, height, cudaMemcpyHostToDevice));
    cudaSurfaceObject_t object;
    OK(cudaCreateSurfaceObject(&object, &resource));
    turn<<<1, dim3(8, 8)>>>(object, width, height);
    OK(cudaMemcpy2DFromArray(result.data(), 4 * width, array, 0, 0, 4 * width, height, cudaMemcpyDeviceToHost));
    for (int i = 0; i < width * height; i++) {
        const uchar4 from = texels[width * height - 1 - i];
        EXPECT(result[i].x == from.w && result[i].y == from.z && result[i].z == from.y && result[i].w == from.x);
    }
    OK(cudaDestroySurfaceObject(object));
    OK(cudaFreeArray(array));
}

int main() {
    for (const auto mode : {cudaAddressModeClamp, cudaAddressModeBorder, cudaAddressModeWrap})
        for (const auto filter : {cudaFilterModePoint, cudaFilterModeLinear})
            filters(mode, filter);
    bytes();
    linear();
    volume();
    surface();
    return 0;
}
