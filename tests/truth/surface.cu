// Surfaces: one kernel writes elements of 1 to 16 bytes to an array, another kernel reads them; both also use
// out-of-bounds coordinates. The first coordinate is in bytes.
#include "arrays.cuh"

enum Kind { LINE, LINES, PLANE, PLANES, VOLUME };

// The coordinates of thread i: in each dimension from -1 to the size, all different. Layers are always in bounds.
struct Place {
    int x, y, z;
    bool taken;
};
template <Kind KIND>
__device__ Place place_of(unsigned i, bool inside) {
    const int margin = inside ? 0 : 1, flat = KIND == LINE || KIND == LINES ? 1 : 0;
    const int deep = KIND == VOLUME ? margin : 0;
    const unsigned w = WIDTH + 2 * margin, h = flat ? 1 : HEIGHT + 2 * margin;
    const unsigned d = KIND == LINE || KIND == PLANE ? 1 : DEPTH + 2 * deep;
    return {static_cast<int>(i % w) - margin, static_cast<int>(i / w % h) - (flat ? 0 : margin),
            static_cast<int>(i / w / h % d) - deep, i < w * h * d};
}

template <Kind KIND, typename V, cudaSurfaceBoundaryMode MODE>
__global__ void write(cudaSurfaceObject_t surface, const V *values) {
    const Place p = place_of<KIND>(INDEX, MODE == cudaBoundaryModeTrap);
    const int x = p.x * static_cast<int>(sizeof(V));
    const V value = values[INDEX % (TRUTH_ELEMENTS * 4 / sizeof(V))];
    if (!p.taken) {
        return;
    }
    if constexpr (KIND == LINE) {
        surf1Dwrite(value, surface, x, MODE);
    } else if constexpr (KIND == LINES) {
        surf1DLayeredwrite(value, surface, x, p.z, MODE);
    } else if constexpr (KIND == PLANE) {
        surf2Dwrite(value, surface, x, p.y, MODE);
    } else if constexpr (KIND == PLANES) {
        surf2DLayeredwrite(value, surface, x, p.y, p.z, MODE);
    } else {
        surf3Dwrite(value, surface, x, p.y, p.z, MODE);
    }
}

template <Kind KIND, typename V, cudaSurfaceBoundaryMode MODE>
__global__ void read(cudaSurfaceObject_t surface, unsigned *result) {
    const Place p = place_of<KIND>(INDEX, MODE == cudaBoundaryModeTrap);
    const int x = p.x * static_cast<int>(sizeof(V));
    union {
        V value;
        unsigned word[4];
    } got = {};
    if (!p.taken) {
        return;
    }
    if constexpr (KIND == LINE) {
        surf1Dread(&got.value, surface, x, MODE);
    } else if constexpr (KIND == LINES) {
        surf1DLayeredread(&got.value, surface, x, p.z, MODE);
    } else if constexpr (KIND == PLANE) {
        surf2Dread(&got.value, surface, x, p.y, MODE);
    } else if constexpr (KIND == PLANES) {
        surf2DLayeredread(&got.value, surface, x, p.y, p.z, MODE);
    } else {
        surf3Dread(&got.value, surface, x, p.y, p.z, MODE);
    }
    constexpr int WORDS = sizeof(V) < 4 ? 1 : sizeof(V) / 4;
    result[INDEX] = got.word[INDEX % WORDS] & (sizeof(V) < 4 ? (1u << 8 * (sizeof(V) % 4)) - 1 : ~0u);
}

// MODE: the boundary mode of reads. Out-of-bounds writes are ignored, unless the mode is zero.
template <Kind KIND, typename V, cudaSurfaceBoundaryMode MODE>
static int launch(const struct truth_form *, void *result, void *const input[3]) {
    constexpr cudaSurfaceBoundaryMode WRITES = MODE == cudaBoundaryModeTrap ? MODE : cudaBoundaryModeZero;
    const bool flat = KIND == LINE || KIND == LINES, deep = KIND == LINES || KIND == PLANES || KIND == VOLUME;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<V>();
    cudaResourceDesc resource = {};
    cudaSurfaceObject_t surface;
    resource.resType = cudaResourceTypeArray;
    TRY(cudaMalloc3DArray(&resource.res.array.array, &format,
                          make_cudaExtent(WIDTH, flat ? 0 : HEIGHT, deep ? DEPTH : 0),
                          cudaArraySurfaceLoadStore | (KIND == LINES || KIND == PLANES ? cudaArrayLayered : 0)));
    TRY(cudaCreateSurfaceObject(&surface, &resource));
    write<KIND, V, WRITES><<<TRUTH_ELEMENTS / TRUTH_BLOCK, TRUTH_BLOCK>>>(surface, static_cast<const V *>(input[0]));
    read<KIND, V, MODE><<<TRUTH_ELEMENTS / TRUTH_BLOCK, TRUTH_BLOCK>>>(surface, static_cast<unsigned *>(result));
    return cudaGetLastError();
}

#define FORM(name, KIND, V, MODE)                                                                                      \
    {                                                                                                                  \
        "surf_" name, nullptr, TRUTH_I32, {TRUTH_I32, TRUTH_NONE, TRUTH_NONE}, TRUTH_EXACT, 0,                         \
            (launch<KIND, V, cudaBoundaryMode##MODE>)                                                                  \
    }
#define MODES(name, KIND)                                                                                              \
    FORM(name "_trap", KIND, unsigned, Trap), FORM(name "_clamp", KIND, unsigned, Clamp),                              \
        FORM(name "_zero", KIND, unsigned, Zero)

extern "C" const struct truth_form truth_surface[] = {
    MODES("1d", LINE),
    MODES("2d", PLANE),
    MODES("3d", VOLUME),
    MODES("a1d", LINES),
    MODES("a2d", PLANES),
    FORM("2d_b8", PLANE, unsigned char, Clamp),
    FORM("2d_b16", PLANE, unsigned short, Clamp),
    FORM("2d_b64", PLANE, uint2, Clamp),
    FORM("2d_v2_b8", PLANE, uchar2, Zero),
    FORM("2d_v4_b8", PLANE, uchar4, Zero),
    FORM("2d_v4_b32", PLANE, uint4, Clamp),
    FORM("3d_v4_b16", VOLUME, ushort4, Clamp),
    FORM("a2d_v2_b32", PLANES, uint2, Clamp),
    {},
};
