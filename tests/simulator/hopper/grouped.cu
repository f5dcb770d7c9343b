// A grouped GEMM's tensor maps: matrices of several sizes, one after the other, through maps that the kernel derives
// from one map of the host: grouped NAME, which is the correct version or one of the mistakes.
#include "hopper.cuh"

#include <vector>

constexpr int BOX = 16, BLOCKS = 3, GROUPS = 7;

enum What {
    RIGHT,         // made in shared memory, copied and released by the warp
    IN_GLOBAL,     // changed where it is used, and released by a fence
    FROM_ZEROS,    // made of zeros, field by field, by generic addresses
    BY_STORES,     // made in shared memory, copied by ordinary stores
    NO_ACQUIRE,    // the mistakes
    OTHER_ACQUIRE, // of another map
    EARLY_ACQUIRE, // before the map is changed
    NO_RELEASE,    // by ordinary stores
    NO_SYNCWARP,   // between the lane that changes the map and the warp that copies it
    ODD_ADDRESS,   // fields that cuTensorMapEncodeTiled refuses
    ODD_STRIDE,
    NO_SIZE,
    LARGE_BOX,
    LARGE_STEP,
    NAN_OF_INTEGERS,
    INTERLEAVED,
    WIDE_FOR_SWIZZLE,
    OTHER_RANK,
    NO_MAP,
    SMALL_TENSOR, // the next group's memory is behind it
};

struct Group {
    const float *from;
    float *to;
    int rows, columns; // a row has a multiple of 4 elements
};

DEVICE void replace_in_shared(uint32_t at, const void *memory, int rows, int columns, uint64_t stride) {
    asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;"
                 "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 0, %2;"
                 "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, %3;"
                 "tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], 0, %4;" ::"r"(at),
                 "l"(memory), "r"(columns), "r"(rows), "l"(stride)
                 : "memory");
}

DEVICE void replace_in_global(CUtensorMap *at, const void *memory, int rows, int columns) {
    asm volatile("tensormap.replace.tile.global_address.global.b1024.b64 [%0], %1;"
                 "tensormap.replace.tile.global_dim.global.b1024.b32 [%0], 0, %2;"
                 "tensormap.replace.tile.global_dim.global.b1024.b32 [%0], 1, %3;"
                 "tensormap.replace.tile.global_stride.global.b1024.b64 [%0], 0, %4;" ::"l"(at),
                 "l"(memory), "r"(columns), "r"(rows), "l"((uint64_t)columns * 4)
                 : "memory");
}

// Fields that are already set in the host's map, but not in a map of zeros.
DEVICE void replace_the_rest(CUtensorMap *at) {
    asm volatile("tensormap.replace.tile.rank.b1024.b32 [%0], 1;"
                 "tensormap.replace.tile.box_dim.b1024.b32 [%0], 0, %1;"
                 "tensormap.replace.tile.box_dim.b1024.b32 [%0], 1, %1;"
                 "tensormap.replace.tile.element_stride.b1024.b32 [%0], 0, 1;"
                 "tensormap.replace.tile.elemtype.b1024.b32 [%0], 7;"
                 "tensormap.replace.tile.interleave_layout.b1024.b32 [%0], 0;"
                 "tensormap.replace.tile.swizzle_mode.b1024.b32 [%0], 0;"
                 "tensormap.replace.tile.fill_mode.b1024.b32 [%0], 0;" ::"l"(at),
                 "r"(BOX)
                 : "memory");
}

DEVICE void replace_wrongly(What what, uint32_t at, const void *memory) {
    if (what == ODD_ADDRESS)
        asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(at),
                     "l"((const char *)memory + 4)
                     : "memory");
    if (what == ODD_STRIDE)
        asm volatile("tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], 0, 72;" ::"r"(at) : "memory");
    if (what == NO_SIZE)
        asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, 0;" ::"r"(at) : "memory");
    if (what == LARGE_BOX)
        asm volatile("tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], 1, 65552;" ::"r"(at) : "memory");
    if (what == LARGE_STEP)
        asm volatile("tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%0], 1, 257;" ::"r"(at) : "memory");
    if (what == NAN_OF_INTEGERS)
        asm volatile("tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%0], 3;"
                     "tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%0], 1;" ::"r"(at)
                     : "memory");
    if (what == INTERLEAVED)
        asm volatile("tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%0], 1;" ::"r"(at) : "memory");
    if (what == WIDE_FOR_SWIZZLE)
        asm volatile("tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%0], 1;" ::"r"(at) : "memory");
    if (what == OTHER_RANK)
        asm volatile("tensormap.replace.tile.rank.shared::cta.b1024.b32 [%0], 2;" ::"r"(at) : "memory");
    if (what == SMALL_TENSOR)
        asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, 1000;" ::"r"(at) : "memory");
}

DEVICE void copy_and_release(CUtensorMap *to, const CUtensorMap *from) {
    asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], "
                 "128;" ::"l"(to),
                 "r"(smem(from))
                 : "memory");
}

DEVICE void release() {
    asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
}

DEVICE void acquire(const CUtensorMap *map) {
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
}

// Each block iterates over the groups, copies each matrix to its own part of out, one box at a time, and doubles it.
__global__ void grouped(const __grid_constant__ CUtensorMap model, const Group *groups, CUtensorMap *maps, What what) {
    __shared__ __align__(128) CUtensorMap made[2];
    __shared__ __align__(128) float tile[BOX * BOX];
    __shared__ uint64_t barrier;
    const int lane = threadIdx.x;
    CUtensorMap *in = &maps[2 * blockIdx.x], *out = in + 1;
    uint32_t phase = 0;
    if (lane == 0) {
        mbarrier_init(&barrier, 1);
        fence_mbarrier_init();
    }
    if (lane < 16) // the two of them, in words of 16 bytes
        ((uint4 *)made)[lane] = what == FROM_ZEROS ? make_uint4(0, 0, 0, 0) : ((const uint4 *)&model)[lane % 8];
    if (what == NO_MAP && lane == 0)
        made[0].opaque[0] = 12345;
    __syncwarp();
    if (what == IN_GLOBAL && lane < 16)
        ((uint4 *)in)[lane] = ((const uint4 *)&model)[lane % 8];
    __syncwarp();
    for (int g = blockIdx.x; g < GROUPS; g += gridDim.x) {
        const Group group = groups[g];
        const int rows = group.rows, columns = group.columns;
        if (what == EARLY_ACQUIRE)
            acquire(in);
        if (lane == 0 && what == IN_GLOBAL) {
            replace_in_global(in, group.from, rows, columns);
            replace_in_global(out, group.to, rows, columns);
            release();
        } else if (lane == 0) {
            if (what == FROM_ZEROS) {
                replace_the_rest(&made[0]);
                replace_the_rest(&made[1]);
            }
            replace_in_shared(smem(&made[0]), group.from, rows, columns, columns * 4); // change
            replace_in_shared(smem(&made[1]), group.to, rows, columns, columns * 4);
            replace_wrongly(what, smem(&made[0]), group.from);
        }
        if (what != NO_SYNCWARP)
            __syncwarp();
        if (what == BY_STORES || what == NO_RELEASE) {
            if (lane < 16)
                ((uint4 *)in)[lane] = ((const uint4 *)made)[lane];
            if (what == BY_STORES)
                release();
            __syncwarp();
        } else if (what != IN_GLOBAL) {
            copy_and_release(in, &made[0]);
            copy_and_release(out, &made[1]);
        }
        if (what == OTHER_ACQUIRE)
            acquire(out);
        else if (what != NO_ACQUIRE && what != EARLY_ACQUIRE)
            acquire(in);
        acquire(out);
        for (int y = 0; y < rows; y += BOX) {
            for (int x = 0; x < columns; x += BOX) {
                if (lane == 0) {
                    mbarrier_arrive_expect_tx(&barrier, sizeof tile);
                    tma_load_2d(tile, in, &barrier, x, y); // load
                }
                mbarrier_wait(&barrier, phase);
                phase ^= 1;
                for (int i = lane; i < BOX * BOX; i += 32)
                    tile[i] *= 2;
                fence_proxy_async();
                __syncwarp();
                if (lane == 0) {
                    tma_store_2d(out, tile, x, y);
                    bulk_commit_group();
                    bulk_wait_group();
                }
                __syncwarp();
            }
        }
    }
}

int main(int, char **argv) {
    static const char *const names[] = {
        "right",         "in_global",        "from_zeros", "by_stores",   "no_acquire",
        "other_acquire", "early_acquire",    "no_release", "no_syncwarp", "odd_address",
        "odd_stride",    "no_size",          "large_box",  "large_step",  "nan_of_integers",
        "interleaved",   "wide_for_swizzle", "other_rank", "no_map",      "small_tensor"};
    int what = 0;
    while (strcmp(names[what], argv[1]))
        what++;
    std::vector<Group> groups(GROUPS);
    std::vector<std::vector<float>> wanted(GROUPS);
    float number = 0;
    for (int g = 0; g < GROUPS; g++) {
        groups[g].rows = 5 + 9 * g;
        groups[g].columns = 4 * (1 + 3 * g);
        std::vector<float> &numbers = wanted[g];
        for (int i = 0; i < groups[g].rows * groups[g].columns; i++)
            numbers.push_back(number++);
        CHECK(cudaMalloc(&groups[g].from, numbers.size() * 4));
        CHECK(cudaMalloc(&groups[g].to, numbers.size() * 4));
        CHECK(cudaMemcpy((void *)groups[g].from, numbers.data(), numbers.size() * 4, cudaMemcpyHostToDevice));
    }
    Group *device;
    CUtensorMap *maps, model;
    CHECK(cudaMalloc(&device, sizeof(Group) * GROUPS));
    CHECK(cudaMemcpy(device, groups.data(), sizeof(Group) * GROUPS, cudaMemcpyHostToDevice));
    CHECK(cudaMalloc(&maps, 2 * BLOCKS * sizeof *maps));
    const cuuint64_t size[2] = {64, 64}, stride[1] = {256};
    const cuuint32_t box[2] = {BOX, BOX}, step[2] = {1, 1};
    if (find_encode()(&model, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, (void *)groups[0].from, size, stride, box, step,
                      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
        return 2;
    grouped<<<BLOCKS, 32>>>(model, device, maps, (What)what);
    CHECK(cudaDeviceSynchronize());
    for (int g = 0; g < GROUPS; g++) {
        std::vector<float> got(wanted[g].size());
        CHECK(cudaMemcpy(got.data(), groups[g].to, got.size() * 4, cudaMemcpyDeviceToHost));
        for (size_t i = 0; i < got.size(); i++) {
            if (got[i] != 2 * wanted[g][i]) {
                printf("group %d: element %zu is %g, not %g\n", g, i, got[i], 2 * wanted[g][i]);
                return 1;
            }
        }
    }
    return 0;
}
