// Textures and surfaces of every dimension: at texels, between texels, out of bounds in each mode, in layers, cubes and
// levels. Reads at texels are exact. Between texels the weights have 9 bits, 8 of them fractional (CUDA C++ Programming
// Guide, "Linear Filtering"); their rounding is not documented, hence the bounds below.
#include "arrays.cuh"

enum { SIDE = 8, CUBES = 2 };

// ---- Arrays --------------------------------------------------------------------------------------------------------

// The texture: an array of words of an input, and the mapping of coordinates to texels.
struct Picture {
    cudaChannelFormatDesc format;
    cudaExtent extent;
    unsigned flags;
    cudaTextureAddressMode addressing;
    cudaTextureFilterMode filter;
    cudaTextureReadMode read;
    int unit, levels; // coordinates from 0 to 1; levels of detail, 0: no mipmap
    cudaTextureFilterMode between;
};

static size_t texel_bytes(const Picture &p) {
    return (p.format.x + p.format.y + p.format.z + p.format.w) / 8;
}

// Copies words in device memory to an array, from an offset in texels.
static cudaError_t fill(const Picture &p, cudaArray_t array, cudaExtent extent, const void *words, size_t offset) {
    cudaMemcpy3DParms copy = {};
    const size_t row = extent.width * texel_bytes(p);
    copy.srcPtr = make_cudaPitchedPtr((char *)words + offset * texel_bytes(p), row, extent.width,
                                      extent.height ? extent.height : 1);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(extent.width, extent.height ? extent.height : 1, extent.depth ? extent.depth : 1);
    copy.kind = cudaMemcpyDeviceToDevice;
    return cudaMemcpy3D(&copy);
}

// The texture is not destroyed; a process creates few.
static cudaError_t make_texture(const Picture &p, const void *words, cudaTextureObject_t *texture) {
    cudaResourceDesc resource = {};
    cudaTextureDesc description = {};
    if (p.levels) {
        cudaExtent extent = p.extent;
        size_t offset = 0;
        resource.resType = cudaResourceTypeMipmappedArray;
        TRY(cudaMallocMipmappedArray(&resource.res.mipmap.mipmap, &p.format, p.extent, p.levels, p.flags));
        for (int level = 0; level < p.levels; level++) {
            cudaArray_t array;
            TRY(cudaGetMipmappedArrayLevel(&array, resource.res.mipmap.mipmap, level));
            TRY(fill(p, array, extent, words, offset));
            offset += 61;
            extent.width = extent.width > 1 ? extent.width / 2 : 1;
            extent.height = extent.height > 1 ? extent.height / 2 : extent.height;
            extent.depth = extent.depth > 1 && !p.flags ? extent.depth / 2 : extent.depth;
        }
    } else {
        resource.resType = cudaResourceTypeArray;
        TRY(cudaMalloc3DArray(&resource.res.array.array, &p.format, p.extent, p.flags));
        TRY(fill(p, resource.res.array.array, p.extent, words, 0));
    }
    for (int d = 0; d < 3; d++) {
        description.addressMode[d] = p.addressing;
    }
    description.filterMode = p.filter;
    description.readMode = p.read;
    description.normalizedCoords = p.unit;
    description.mipmapFilterMode = p.between;
    description.maxMipmapLevelClamp = p.levels;
    return cudaCreateTextureObject(texture, &resource, &description, nullptr);
}

// ---- Kernels -------------------------------------------------------------------------------------------------------

// Coordinate d of thread i in texels, from -2 to the size + 2, at an offset from the edge of a texel. FRACTION: the
// offset differs between threads.
enum { FRACTION = 1000 };
__device__ float coordinate(unsigned i, int d, int quarters, int unit) {
    const int size[3] = {WIDTH, HEIGHT, DEPTH};
    const unsigned along = d == 0 ? i : d == 1 ? i / (WIDTH + 4) : i / (WIDTH + 4) / (HEIGHT + 4);
    const float offset = quarters == FRACTION ? static_cast<float>(i * 7919 % 1013) / 1013.0f : 0.25f * quarters;
    const float texel = static_cast<float>(static_cast<int>(along % (size[d] + 4)) - 2) + offset;
    return unit ? texel / static_cast<float>(size[d]) : texel;
}
__device__ int layer_of(unsigned i) { // and two out of bounds
    return i / 240 % (DEPTH + 2);
}
__device__ float level_of(unsigned i, int quarters) {
    return quarters == FRACTION ? static_cast<float>(i % 13) * 0.21f : static_cast<float>(i / 4 % 4) + 0.25f;
}

// Channels that the format lacks are not compared.
template <typename V>
__device__ auto one_of(V v, unsigned i, int channels) {
    i %= channels;
    return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}

// A direction through texel (s, t) of a face, with an arbitrary length.
__device__ float3 direction(unsigned i, int quarters) {
    const float offset = quarters == FRACTION ? 0.5f + static_cast<float>(i * 7919 % 1013) / 1100.0f : 0.25f * quarters;
    const float length = 0.25f + i % 3, a = (2 * (i / 6 % (SIDE - 1) + offset) / SIDE - 1) * length,
                b = (2 * (i / 42 % (SIDE - 1) + offset) / SIDE - 1) * length;
    switch (i % 6) {
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

// How thread i reads texture t: V is float4, or an integer vector.
#define READ(name, expression)                                                                                         \
    template <typename V>                                                                                              \
    struct name {                                                                                                      \
        typedef V vector;                                                                                              \
        __device__ static V read(cudaTextureObject_t t, unsigned i, int quarters, int unit) {                          \
            const float x = coordinate(i, 0, quarters, unit), y = coordinate(i, 1, quarters, unit),                    \
                        z = coordinate(i, 2, quarters, unit), level = level_of(i, quarters);                           \
            const float3 to = direction(i, quarters);                                                                  \
            const int layer = layer_of(i), cube = i / 294 % CUBES;                                                     \
            (void)x, (void)y, (void)z, (void)level, (void)to, (void)layer, (void)cube;                                 \
            return expression;                                                                                         \
        }                                                                                                              \
    };
READ(Line, tex1D<V>(t, x))
READ(Plane, tex2D<V>(t, x, y))
READ(Volume, tex3D<V>(t, x, y, z))
READ(Lines, tex1DLayered<V>(t, x, layer))
READ(Planes, tex2DLayered<V>(t, x, y, layer))
READ(Cube, texCubemap<V>(t, to.x, to.y, to.z))
READ(Cubes, texCubemapLayered<V>(t, to.x, to.y, to.z, cube))
READ(LineLevel, tex1DLod<V>(t, x, level))
READ(PlaneLevel, tex2DLod<V>(t, x, y, level))
READ(VolumeLevel, tex3DLod<V>(t, x, y, z, level))
READ(LinesLevel, tex1DLayeredLod<V>(t, x, layer, level))
READ(PlanesLevel, tex2DLayeredLod<V>(t, x, y, layer, level))
READ(CubeLevel, texCubemapLod<V>(t, to.x, to.y, to.z, level))
READ(CubesLevel, texCubemapLayeredLod<V>(t, to.x, to.y, to.z, cube, level))
READ(GatherRed, tex2Dgather<V>(t, x, y, 0))
READ(GatherGreen, tex2Dgather<V>(t, x, y, 1))
READ(GatherBlue, tex2Dgather<V>(t, x, y, 2))
READ(GatherAlpha, tex2Dgather<V>(t, x, y, 3))

// The bits of a NaN are not defined: 2^31 stands for it.
template <class R, typename T>
__global__ void fetch(cudaTextureObject_t texture, T *result, int quarters, int unit, int channels) {
    const T value = one_of(R::read(texture, INDEX, quarters, unit), INDEX, channels);
    result[INDEX] = value == value ? value : static_cast<T>(0x7fffffff);
}

template <const Picture &P, class R, int QUARTERS>
static int launch(const struct truth_form *, void *result, void *const input[3]) {
    typedef decltype(R::vector::x) T;
    cudaTextureObject_t texture;
    TRY(make_texture(P, input[0], &texture));
    fetch<R><<<TRUTH_ELEMENTS / TRUTH_BLOCK, TRUTH_BLOCK>>>(texture, static_cast<T *>(result), QUARTERS, P.unit,
                                                            P.format.y == 0   ? 1
                                                            : P.format.z == 0 ? 2
                                                                              : 4);
    return cudaGetLastError();
}

// Integer coordinates in linear memory; out-of-bounds reads return 0.
__global__ void fetch_linear(cudaTextureObject_t texture, unsigned *result) {
    result[INDEX] = one_of(tex1Dfetch<uint4>(texture, static_cast<int>(INDEX) - 100), INDEX, 4);
}

static int launch_linear(const struct truth_form *, void *result, void *const input[3]) {
    cudaResourceDesc resource = {};
    cudaTextureDesc description = {};
    cudaTextureObject_t texture;
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = input[0];
    resource.res.linear.desc = cudaCreateChannelDesc<uint4>();
    resource.res.linear.sizeInBytes = 4 * TRUTH_ELEMENTS;
    TRY(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    fetch_linear<<<TRUTH_ELEMENTS / TRUTH_BLOCK, TRUTH_BLOCK>>>(texture, static_cast<unsigned *>(result));
    return cudaGetLastError();
}

// ---- The table -----------------------------------------------------------------------------------------------------

#define FLOAT1                                                                                                         \
    { 32, 0, 0, 0, cudaChannelFormatKindFloat }
#define FLOAT4                                                                                                         \
    { 32, 32, 32, 32, cudaChannelFormatKindFloat }
#define AS_IT_IS cudaReadModeElementType
#define NORMALIZED cudaReadModeNormalizedFloat
#define POINT cudaFilterModePoint
#define LINEAR cudaFilterModeLinear
#define CLAMP cudaAddressModeClamp
#define BORDER cudaAddressModeBorder
#define WRAP cudaAddressModeWrap
#define MIRROR cudaAddressModeMirror

// clang-format off
#define LINE {WIDTH, 0, 0}, 0
#define PLANE {WIDTH, HEIGHT, 0}, 0
#define VOLUME {WIDTH, HEIGHT, DEPTH}, 0
#define LINES {WIDTH, 0, DEPTH}, cudaArrayLayered
#define PLANES {WIDTH, HEIGHT, DEPTH}, cudaArrayLayered
#define CUBE {SIDE, SIDE, 6}, cudaArrayCubemap
#define CUBE_LAYERS {SIDE, SIDE, 6 * CUBES}, cudaArrayCubemap | cudaArrayLayered
#define GATHER {WIDTH, HEIGHT, 0}, cudaArrayTextureGather
static constexpr Picture
    line_clamp = {FLOAT1, LINE, CLAMP, POINT, AS_IT_IS}, line_border = {FLOAT4, LINE, BORDER, POINT, AS_IT_IS},
    line_wrap = {FLOAT4, LINE, WRAP, POINT, AS_IT_IS, 1}, line_mirror = {FLOAT4, LINE, MIRROR, POINT, AS_IT_IS, 1},
    line_linear = {FLOAT4, LINE, CLAMP, LINEAR, AS_IT_IS}, line_linear_wrap = {FLOAT4, LINE, WRAP, LINEAR, AS_IT_IS, 1},
    plane_clamp = {FLOAT4, PLANE, CLAMP, POINT, AS_IT_IS}, plane_border = {FLOAT4, PLANE, BORDER, POINT, AS_IT_IS},
    plane_wrap = {FLOAT4, PLANE, WRAP, POINT, AS_IT_IS, 1}, plane_mirror = {FLOAT4, PLANE, MIRROR, POINT, AS_IT_IS, 1},
    plane_clamp_unit = {FLOAT4, PLANE, CLAMP, POINT, AS_IT_IS, 1},
    plane_linear = {FLOAT4, PLANE, CLAMP, LINEAR, AS_IT_IS}, plane_linear_border = {FLOAT4, PLANE, BORDER, LINEAR, AS_IT_IS},
    plane_linear_mirror = {FLOAT4, PLANE, MIRROR, LINEAR, AS_IT_IS, 1},
    volume_clamp = {FLOAT1, VOLUME, CLAMP, POINT, AS_IT_IS}, volume_wrap = {FLOAT1, VOLUME, WRAP, POINT, AS_IT_IS, 1},
    volume_linear = {FLOAT1, VOLUME, CLAMP, LINEAR, AS_IT_IS},
    lines_clamp = {FLOAT4, LINES, CLAMP, POINT, AS_IT_IS}, lines_linear = {FLOAT4, LINES, CLAMP, LINEAR, AS_IT_IS},
    planes_clamp = {FLOAT1, PLANES, CLAMP, POINT, AS_IT_IS}, planes_linear = {FLOAT1, PLANES, CLAMP, LINEAR, AS_IT_IS},
    cube_point = {FLOAT4, CUBE, CLAMP, POINT, AS_IT_IS, 1}, cube_linear = {FLOAT4, CUBE, CLAMP, LINEAR, AS_IT_IS, 1},
    cubes_point = {FLOAT1, CUBE_LAYERS, CLAMP, POINT, AS_IT_IS, 1}, cubes_linear = {FLOAT1, CUBE_LAYERS, CLAMP, LINEAR, AS_IT_IS, 1},
    line_levels = {FLOAT4, LINE, CLAMP, POINT, AS_IT_IS, 1, 3, POINT}, plane_levels = {FLOAT4, PLANE, CLAMP, POINT, AS_IT_IS, 1, 3, POINT},
    volume_levels = {FLOAT1, VOLUME, CLAMP, POINT, AS_IT_IS, 1, 3, POINT}, lines_levels = {FLOAT4, LINES, CLAMP, POINT, AS_IT_IS, 1, 3, POINT},
    planes_levels = {FLOAT1, PLANES, CLAMP, POINT, AS_IT_IS, 1, 3, POINT}, cube_levels = {FLOAT4, CUBE, CLAMP, POINT, AS_IT_IS, 1, 3, POINT},
    cubes_levels = {FLOAT1, CUBE_LAYERS, CLAMP, POINT, AS_IT_IS, 1, 3, POINT},
    plane_between_levels = {FLOAT4, PLANE, CLAMP, LINEAR, AS_IT_IS, 1, 3, LINEAR},
    gather = {FLOAT4, GATHER, CLAMP, POINT, AS_IT_IS},
    words = {{32, 32, 32, 32, cudaChannelFormatKindUnsigned}, PLANE, CLAMP, POINT, AS_IT_IS},
    signed_bytes = {{8, 8, 8, 8, cudaChannelFormatKindSigned}, PLANE, CLAMP, POINT, AS_IT_IS},
    unsigned_halves = {{16, 16, 0, 0, cudaChannelFormatKindUnsigned}, PLANE, CLAMP, POINT, AS_IT_IS},
    bytes_as_parts = {{8, 8, 8, 8, cudaChannelFormatKindUnsigned}, PLANE, CLAMP, POINT, NORMALIZED},
    signed_bytes_as_parts = {{8, 8, 8, 8, cudaChannelFormatKindSigned}, PLANE, CLAMP, POINT, NORMALIZED},
    halves_as_parts = {{16, 16, 16, 16, cudaChannelFormatKindUnsigned}, PLANE, CLAMP, POINT, NORMALIZED},
    signed_halves_as_parts = {{16, 16, 0, 0, cudaChannelFormatKindSigned}, PLANE, CLAMP, POINT, NORMALIZED},
    fp16 = {{16, 16, 16, 16, cudaChannelFormatKindFloat}, PLANE, CLAMP, POINT, AS_IT_IS};
// clang-format on

// The error of a weight is less than 2^-8, and texels differ by up to 2; per dimension, and once more for two levels.
#define WEIGHTS(dimensions) (dimensions * 0x1p-7)
// A weight of 1/4 is exact; the remaining error is from fp32 sums of 8 numbers up to 1.
#define WHOLE_WEIGHTS 0x1p-20

#define NAMED(name, R, A, comparison, bound, function)                                                                 \
    { "tex_" name, nullptr, TRUTH_##R, {TRUTH_##A, TRUTH_NONE, TRUTH_NONE}, TRUTH_##comparison, bound, function }
#define AT_TEXELS(P, READER) NAMED(#P, F32, UNIT_F32, EXACT, 0, (launch<P, READER<float4>, 2>))
#define BESIDE(P, READER) NAMED(#P "_beside", F32, UNIT_F32, EXACT, 0, (launch<P, READER<float4>, 3>))
#define QUARTERS(P, READER) NAMED(#P "_quarter", F32, UNIT_F32, NEAR, WHOLE_WEIGHTS, (launch<P, READER<float4>, 3>))
#define MIXED(P, READER, dimensions)                                                                                   \
    NAMED(#P, F32, UNIT_F32, NEAR, WEIGHTS(dimensions), (launch<P, READER<float4>, FRACTION>))
#define TYPED(P, R, A, V) NAMED(#P, R, A, EXACT, 0, (launch<P, Plane<V>, 2>))

extern "C" const struct truth_form truth_texture[] = {
    AT_TEXELS(line_clamp, Line),
    AT_TEXELS(line_border, Line),
    AT_TEXELS(line_wrap, Line),
    AT_TEXELS(line_mirror, Line),
    BESIDE(line_mirror, Line),
    AT_TEXELS(plane_clamp, Plane),
    BESIDE(plane_clamp, Plane),
    AT_TEXELS(plane_clamp_unit, Plane),
    AT_TEXELS(plane_border, Plane),
    AT_TEXELS(plane_wrap, Plane),
    AT_TEXELS(plane_mirror, Plane),
    AT_TEXELS(volume_clamp, Volume),
    AT_TEXELS(volume_wrap, Volume),
    AT_TEXELS(lines_clamp, Lines),
    AT_TEXELS(planes_clamp, Planes),
    AT_TEXELS(cube_point, Cube),
    AT_TEXELS(cubes_point, Cubes),
    AT_TEXELS(line_levels, LineLevel),
    AT_TEXELS(plane_levels, PlaneLevel),
    AT_TEXELS(volume_levels, VolumeLevel),
    AT_TEXELS(lines_levels, LinesLevel),
    AT_TEXELS(planes_levels, PlanesLevel),
    AT_TEXELS(cube_levels, CubeLevel),
    AT_TEXELS(cubes_levels, CubesLevel),
    NAMED("gather_r", F32, UNIT_F32, EXACT, 0, (launch<gather, GatherRed<float4>, 1>)),
    NAMED("gather_g", F32, UNIT_F32, EXACT, 0, (launch<gather, GatherGreen<float4>, 3>)),
    NAMED("gather_b", F32, UNIT_F32, EXACT, 0, (launch<gather, GatherBlue<float4>, 1>)),
    NAMED("gather_a", F32, UNIT_F32, EXACT, 0, (launch<gather, GatherAlpha<float4>, 3>)),
    QUARTERS(line_linear, Line),
    QUARTERS(plane_linear, Plane),
    QUARTERS(volume_linear, Volume),
    MIXED(line_linear, Line, 1),
    MIXED(line_linear_wrap, Line, 1),
    MIXED(plane_linear, Plane, 2),
    MIXED(plane_linear_border, Plane, 2),
    MIXED(plane_linear_mirror, Plane, 2),
    MIXED(volume_linear, Volume, 3),
    MIXED(lines_linear, Lines, 1),
    MIXED(planes_linear, Planes, 2),
    MIXED(cube_linear, Cube, 2),
    MIXED(cubes_linear, Cubes, 2),
    MIXED(plane_between_levels, PlaneLevel, 3),
    TYPED(words, I32, I32, uint4),
    TYPED(signed_bytes, I32, I32, int4),
    TYPED(unsigned_halves, I32, I32, uint4),
    TYPED(bytes_as_parts, F32, I32, float4),
    TYPED(signed_bytes_as_parts, F32, I32, float4),
    TYPED(halves_as_parts, F32, I32, float4),
    TYPED(signed_halves_as_parts, F32, I32, float4),
    TYPED(fp16, F32, F16X2, float4),
    NAMED("linear_memory", I32, I32, EXACT, 0, launch_linear),
    {},
};
