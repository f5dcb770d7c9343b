// Surfaces and textures of one, two and three dimensions and layered: a kernel writes to a surface, the next one reads
// through the surface, a texture, and a texture with a level of detail.
#include "program.cuh"

constexpr int WIDTH = 6, HEIGHT = 5, DEPTH = 4, TEXELS = WIDTH * HEIGHT * DEPTH;

enum kind { LINE, LINES, PICTURE, PICTURES, VOLUME, KINDS }; // 1D, layered 1D; 2D, layered 2D; 3D

// The value of an element, different for each element and kind.
__host__ __device__ inline float value(int kind, int x, int y, int z) {
    return (float)(((kind * DEPTH + z) * HEIGHT + y) * WIDTH + x);
}

__global__ void write(cudaSurfaceObject_t surface, int kind) {
    const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    const float v = value(kind, x, y, z);
    if (kind == LINE && y == 0 && z == 0)
        surf1Dwrite(v, surface, 4 * x);
    else if (kind == LINES && y == 0)
        surf1DLayeredwrite(v, surface, 4 * x, z);
    else if (kind == PICTURE && z == 0)
        surf2Dwrite(v, surface, 4 * x, y);
    else if (kind == PICTURES)
        surf2DLayeredwrite(v, surface, 4 * x, y, z);
    else if (kind == VOLUME)
        surf3Dwrite(v, surface, 4 * x, y, z);
}

struct Values {
    float surface, texture, level;
};

__global__ void read(cudaSurfaceObject_t surface, cudaTextureObject_t texture, int kind, Values *values) {
    const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    const float u = x + 0.5f, v = y + 0.5f, w = z + 0.5f;
    Values &at = values[(z * HEIGHT + y) * WIDTH + x];
    if (kind == LINE) {
        surf1Dread(&at.surface, surface, 4 * x);
        at.texture = tex1D<float>(texture, u);
        at.level = tex1DLod<float>(texture, u, 0);
    } else if (kind == LINES) {
        surf1DLayeredread(&at.surface, surface, 4 * x, z);
        at.texture = tex1DLayered<float>(texture, u, z);
        at.level = at.texture;
    } else if (kind == PICTURE) {
        surf2Dread(&at.surface, surface, 4 * x, y);
        at.texture = tex2D<float>(texture, u, v);
        at.level = tex2DLod<float>(texture, u, v, 0);
    } else if (kind == PICTURES) {
        surf2DLayeredread(&at.surface, surface, 4 * x, y, z);
        at.texture = tex2DLayered<float>(texture, u, v, z);
        at.level = at.texture;
    } else {
        surf3Dread(&at.surface, surface, 4 * x, y, z);
        at.texture = tex3D<float>(texture, u, v, w);
        at.level = tex3DLod<float>(texture, u, v, w, 0);
    }
}

static void written_and_read(int kind) {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    const cudaExtent extent =
        make_cudaExtent(WIDTH, kind >= PICTURE ? HEIGHT : 0, kind == LINE || kind == PICTURE ? 0 : DEPTH);
    const unsigned layered = kind == LINES || kind == PICTURES ? cudaArrayLayered : 0;
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    OK(cudaMalloc3DArray(&resource.res.array.array, &format, extent, layered | cudaArraySurfaceLoadStore));
    cudaTextureDesc description = {};
    description.addressMode[0] = description.addressMode[1] = description.addressMode[2] = cudaAddressModeClamp;
    cudaSurfaceObject_t surface;
    cudaTextureObject_t texture;
    OK(cudaCreateSurfaceObject(&surface, &resource));
    OK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    Values *values = zeros<Values>(TEXELS);
    write<<<1, dim3(WIDTH, HEIGHT, DEPTH)>>>(surface, kind);
    OK(cudaGetLastError());
    read<<<1, dim3(WIDTH, HEIGHT, DEPTH)>>>(surface, texture, kind, values);
    const std::vector<Values> result = to_host(values, TEXELS);
    for (int i = 0; i < TEXELS; i++) {
        const int x = i % WIDTH, y = kind >= PICTURE ? i / WIDTH % HEIGHT : 0,
                  z = kind == LINE || kind == PICTURE ? 0 : i / WIDTH / HEIGHT;
        const float expected = value(kind, x, y, z);
        EXPECT(result[i].surface == expected && result[i].texture == expected && result[i].level == expected);
    }
    OK(cudaDestroySurfaceObject(surface));
    OK(cudaDestroyTextureObject(texture));
    OK(cudaFreeArray(resource.res.array.array));
}

int main() {
    for (int kind = 0; kind < KINDS; kind++)
        written_and_read(kind);
    return 0;
}
