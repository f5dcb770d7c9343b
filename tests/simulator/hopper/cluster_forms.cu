// The features of clusters, one case each, compared with the host: registers, addresses, stores and reductions between
// blocks, the runtime's answers. forms: prints the names of the cases; forms NAME [SEED]: runs one.
#include "cluster.cuh"

#include <cooperative_groups.h>
#include <cstring>

namespace cg = cooperative_groups;

static bool is(const char *what, long long got, long long expected) {
    if (got != expected)
        printf("%s: %lld, expected %lld\n", what, got, expected);
    return got == expected;
}

template <typename T>
static T *on_device(size_t n) {
    T *memory;
    CHECK(cudaMalloc(&memory, n * sizeof(T)));
    CHECK(cudaMemset(memory, 0, n * sizeof(T)));
    return memory;
}

template <typename T>
static void fetch(T *to, const T *from, size_t n) {
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(to, from, n * sizeof(T), cudaMemcpyDeviceToHost));
}

// ---- Registers -----------------------------------------------------------------------------------------------------

constexpr int REGISTERS = 15;

__global__ void registers(unsigned *out) { // [blocks][REGISTERS]
    unsigned *r = out + REGISTERS * (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));
    asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(r[0]));
    asm volatile("mov.u32 %0, %%clusterid.y;" : "=r"(r[1]));
    asm volatile("mov.u32 %0, %%clusterid.z;" : "=r"(r[2]));
    asm volatile("mov.u32 %0, %%nclusterid.x;" : "=r"(r[3]));
    asm volatile("mov.u32 %0, %%nclusterid.y;" : "=r"(r[4]));
    asm volatile("mov.u32 %0, %%nclusterid.z;" : "=r"(r[5]));
    asm volatile("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(r[6]));
    asm volatile("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(r[7]));
    asm volatile("mov.u32 %0, %%cluster_ctaid.z;" : "=r"(r[8]));
    asm volatile("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(r[9]));
    asm volatile("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(r[10]));
    asm volatile("mov.u32 %0, %%cluster_nctaid.z;" : "=r"(r[11]));
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r[12]));
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(r[13]));
    asm volatile("{.reg .pred p;\n mov.pred p, %%is_explicit_cluster;\n selp.u32 %0, 1, 0, p;}" : "=r"(r[14]));
}

static bool check_registers(dim3 grid, dim3 cluster, bool explicit_cluster) {
    static const char *const names[REGISTERS] = {
        "clusterid.x",      "clusterid.y",      "clusterid.z",     "nclusterid.x",     "nclusterid.y",
        "nclusterid.z",     "cluster_ctaid.x",  "cluster_ctaid.y", "cluster_ctaid.z",  "cluster_nctaid.x",
        "cluster_nctaid.y", "cluster_nctaid.z", "cluster_ctarank", "cluster_nctarank", "is_explicit_cluster"};
    int blocks = grid.x * grid.y * grid.z;
    unsigned *out = on_device<unsigned>(blocks * REGISTERS), got[64 * REGISTERS];
    if (explicit_cluster)
        CHECK(launch(registers, grid, 1, cluster, out));
    else
        registers<<<grid, 1>>>(out);
    fetch(got, out, blocks * REGISTERS);
    bool good = true;
    for (unsigned b = 0; b < (unsigned)blocks; b++) {
        unsigned x = b % grid.x, y = b / grid.x % grid.y, z = b / grid.x / grid.y;
        unsigned cx = x % cluster.x, cy = y % cluster.y, cz = z % cluster.z;
        const unsigned expected[REGISTERS] = {x / cluster.x,
                                              y / cluster.y,
                                              z / cluster.z,
                                              grid.x / cluster.x,
                                              grid.y / cluster.y,
                                              grid.z / cluster.z,
                                              cx,
                                              cy,
                                              cz,
                                              cluster.x,
                                              cluster.y,
                                              cluster.z,
                                              cx + cluster.x * (cy + cluster.y * cz),
                                              cluster.x * cluster.y * cluster.z,
                                              explicit_cluster};
        for (int i = 0; i < REGISTERS; i++)
            good &= is(names[i], got[b * REGISTERS + i], expected[i]);
    }
    return good;
}

static bool run_registers() {
    return check_registers(dim3(4, 4, 2), dim3(2, 2, 1), true) & check_registers(dim3(6, 1, 4), dim3(3, 1, 2), true) &
           check_registers(dim3(3, 2, 2), dim3(1, 1, 1), false);
}

// ---- Addresses -----------------------------------------------------------------------------------------------------

__global__ void __cluster_dims__(2, 1, 1) addresses(int *out, int *global) {
    __shared__ int s[4];
    uint32_t rank = cluster_rank(), there = mapa(&s[1], rank ^ 1), again, of_own, of_other;
    uint64_t generic, both, back;
    int bits = 0;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(again) : "r"(there), "r"(rank ^ 1));
    asm volatile("mapa.u64 %0, %1, %2;" : "=l"(generic) : "l"(&s[1]), "r"(rank ^ 1));
    asm volatile("cvta.shared::cluster.u64 %0, %1;" : "=l"(both) : "l"((uint64_t)there));
    asm volatile("cvta.to.shared::cluster.u64 %0, %1;" : "=l"(back) : "l"(generic));
    asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(of_own) : "r"(smem(&s[1])));
    asm volatile("getctarank.u64 %0, %1;" : "=r"(of_other) : "l"(generic));
#define BIT(i, condition) bits |= (condition) ? 1 << i : 0
    BIT(0, again == there);
    BIT(1, both == generic);
    BIT(2, (uint32_t)back == there);
    BIT(3, of_own == rank);
    BIT(4, of_other == (rank ^ 1));
    BIT(5, __isClusterShared((void *)generic));
    BIT(6, __isShared((void *)generic));
    BIT(7, __isClusterShared(&s[1]));
    BIT(8, __isShared(&s[1]));
    BIT(9, __isClusterShared(global));
    BIT(10, __isGlobal((void *)generic));
    BIT(11, __isGlobal(global));
    if (threadIdx.x == 0) {
        s[1] = rank + 10;
        cluster_sync();
        BIT(12, *(volatile int *)generic == (int)(rank ^ 1) + 10);
        BIT(13, load_cluster(there) == (int)(rank ^ 1) + 10);
        BIT(14, load_cluster(mapa(&s[1], rank)) == (int)rank + 10); // its own, by its rank
        cluster_sync();
        out[rank] = bits;
    }
}

static bool run_addresses() {
    int *out = on_device<int>(2), got[2];
    addresses<<<2, 1>>>(out, out);
    fetch(got, out, 2);
    return is("rank 0", got[0], 0x79bf) & is("rank 1", got[1], 0x79bf);
}

// ---- Atomics and flags in another block's memory -------------------------------------------------------------------

struct Words {
    unsigned sum, most, bits, old;
    unsigned long long wide;
    float real;
    int flag, behind_flag;
};

__global__ void __cluster_dims__(4, 1, 1) atomics(Words *out) {
    __shared__ Words mine;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0)
        mine = {0, 0, 0, ~0u, 0, 0, 0, 0};
    cluster.sync();
    Words *first = cluster.map_shared_rank(&mine, 0);
    unsigned id = cluster.thread_rank();
    atomicAdd(&first->sum, id);
    atomicMax(&first->most, id);
    atomicOr(&first->bits, 1u << id % 32);
    atomicAdd(&first->wide, 1ull << 32);
    atomicAdd(&first->real, 0.5f);
    atomicCAS(&first->old, ~0u, 7u);
    // A flag: stores before the release are visible after the acquire.
    if (id == cluster.num_threads() - 1) {
        first->behind_flag = 41;
        asm volatile("st.release.cluster.shared::cluster.u32 [%0], 1;" ::"r"(mapa(&mine.flag, 0)) : "memory");
    }
    if (id == 0) {
        int set;
        do
            asm volatile("ld.acquire.cluster.shared::cta.u32 %0, [%1];" : "=r"(set) : "r"(smem(&mine.flag)) : "memory");
        while (!set);
        mine.behind_flag++;
    }
    cluster.sync();
    if (id == 0)
        *out = mine;
}

static bool run_atomics() {
    Words *out = on_device<Words>(1), got;
    atomics<<<4, 64>>>(out);
    fetch(&got, out, 1);
    return is("sum", got.sum, 255 * 128) & is("most", got.most, 255) & is("bits", got.bits, ~0u) &
           is("old", got.old, 7) & is("wide", got.wide, 256ll << 32) & is("real", (int)got.real, 128) &
           is("behind the flag", got.behind_flag, 42);
}

// ---- st.async of vectors, red.async --------------------------------------------------------------------------------

__global__ void __cluster_dims__(4, 1, 1) stores(int *out) { // [4][64] of rank 0, then its sum
    __shared__ alignas(16) int inbox[4][64];
    __shared__ int sum;
    __shared__ uint64_t arrived;
    int rank = cluster_rank();
    sum = 0;
    set_up(&arrived, 1);
    if (threadIdx.x == 0 && rank == 0)
        mbarrier_arrive_expect_tx(&arrived, 4 * (64 * 4 + 16 * 4));
    int base = rank * 1000 + 4 * threadIdx.x;
    store_async_v4(mapa(&inbox[rank][4 * threadIdx.x], 0), make_int4(base, base + 1, base + 2, base + 3),
                   mapa(&arrived, 0));
    add_async(mapa(&sum, 0), rank + 1, mapa(&arrived, 0));
    if (rank == 0) {
        mbarrier_wait(&arrived, 0);
        for (int r = 0; r < 4; r++)
            for (int i = 0; i < 4; i++)
                out[r * 64 + 4 * threadIdx.x + i] = inbox[r][4 * threadIdx.x + i];
        if (threadIdx.x == 0)
            out[256] = sum;
    }
}

static bool run_stores() {
    int *out = on_device<int>(257), got[257];
    bool good = true;
    stores<<<4, 16>>>(out);
    fetch(got, out, 257);
    for (int i = 0; i < 256; i++)
        good &= is("inbox", got[i], i / 64 * 1000 + i % 64);
    return good & is("sum", got[256], 16 * (1 + 2 + 3 + 4));
}

// ---- A box of a tensor for several blocks --------------------------------------------------------------------------

__global__ void __cluster_dims__(4, 1, 1) boxes(const __grid_constant__ CUtensorMap map, uint16_t *out) {
    extern __shared__ __align__(1024) uint16_t box[]; // [8][64], swizzled
    __shared__ uint64_t full;
    uint32_t rank = cluster_rank();
    set_up(&full, 1);
    if (threadIdx.x == 0 && rank != 2) // 0b1011: not to block 2
        mbarrier_arrive_expect_tx(&full, 8 * 64 * 2);
    if (threadIdx.x == 0 && rank == 1)
        tma_load_2d_multicast(box, &map, &full, 64, 8, 0xb);
    if (rank != 2) {
        mbarrier_wait(&full, 0);
        for (int i = threadIdx.x; i < 8 * 64; i += 32)
            out[rank * 512 + i] = box[i ^ (i / 64 % 8) * 8];
    }
    cluster_sync();
}

static bool run_boxes() {
    static uint16_t values[32 * 128], got[4 * 512];
    uint16_t *tensor = on_device<uint16_t>(32 * 128), *out = on_device<uint16_t>(4 * 512);
    for (int i = 0; i < 32 * 128; i++)
        values[i] = i;
    CHECK(cudaMemcpy(tensor, values, sizeof values, cudaMemcpyHostToDevice));
    boxes<<<4, 32, 1024>>>(map_2d(tensor, 32, 128, 8, 64, CU_TENSOR_MAP_SWIZZLE_128B), out);
    fetch(got, out, 4 * 512);
    bool good = true;
    for (int i = 0; i < 4 * 512; i++)
        good &= is("box", got[i], i / 512 == 2 ? 0 : values[(8 + i % 512 / 64) * 128 + 64 + i % 64]);
    return good;
}

// ---- Reductions in bulk, to global memory --------------------------------------------------------------------------

__global__ void to_global(float *sums, int *least, __nv_bfloat16 *small) {
    __shared__ alignas(16) float x[32];
    __shared__ alignas(16) int y[32];
    __shared__ alignas(16) __nv_bfloat16 z[32];
    int i = threadIdx.x;
    x[i] = i + 0.25f;
    y[i] = (int)blockIdx.x * 3 - i;
    z[i] = __float2bfloat16(i);
    fence_proxy_async();
    __syncwarp();
    if (i == 0) {
        bulk_add_f32(sums, x, sizeof x);
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.min.s32 [%0], [%1], %2;" ::"l"(least),
                     "r"(smem(y)), "r"((int)sizeof y)
                     : "memory");
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16 [%0], [%1], %2;" ::"l"(small),
                     "r"(smem(z)), "r"((int)sizeof z)
                     : "memory");
        bulk_commit_group();
        bulk_wait_group();
    }
}

__global__ void to_tensor(const __grid_constant__ CUtensorMap map) {
    __shared__ alignas(128) int box[4][8];
    box[threadIdx.x / 8][threadIdx.x % 8] = threadIdx.x + 1;
    fence_proxy_async();
    __syncwarp();
    if (threadIdx.x == 0) { // the last four columns are out of bounds of the tensor
        asm volatile(
            "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&map),
            "r"(smem(box)), "r"(8), "r"(1)
            : "memory");
        bulk_commit_group();
        bulk_wait_group();
    }
}

static bool run_reductions() {
    constexpr int BLOCKS = 20, ROWS = 8, COLUMNS = 12;
    float *sums = on_device<float>(32), got_sums[32];
    int *least = on_device<int>(32), got_least[32];
    __nv_bfloat16 *small = on_device<__nv_bfloat16>(32), got_small[32];
    to_global<<<BLOCKS, 32>>>(sums, least, small);
    fetch(got_sums, sums, 32);
    fetch(got_least, least, 32);
    fetch(got_small, small, 32);
    bool good = true;
    for (int i = 0; i < 32; i++) {
        good &= is("sum * 4", (long long)(got_sums[i] * 4), BLOCKS * (4 * i + 1)) & is("least", got_least[i], -i);
        float sum = 0;
        for (int b = 0; b < BLOCKS; b++)
            sum = __bfloat162float(__float2bfloat16(sum + i));
        good &= is("bf16 sum", (long long)__bfloat162float(got_small[i]), (long long)sum);
    }
    int *tensor = on_device<int>(ROWS * COLUMNS), got[ROWS * COLUMNS];
    CUtensorMap map;
    cuuint64_t size[2] = {COLUMNS, ROWS}, stride[1] = {COLUMNS * 4};
    cuuint32_t box[2] = {8, 4}, step[2] = {1, 1};
    if (find_encode()(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, tensor, size, stride, box, step,
                      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
        return false;
    to_tensor<<<BLOCKS, 32>>>(map);
    fetch(got, tensor, ROWS * COLUMNS);
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        int row = i / COLUMNS - 1, column = i % COLUMNS - 8;
        bool inside = row >= 0 && row < 4 && column >= 0;
        good &= is("tensor", got[i], inside ? BLOCKS * (row * 8 + column + 1) : 0);
    }
    return good;
}

// ---- Global memory that blocks of a cluster hand each other --------------------------------------------------------

__global__ void __cluster_dims__(2, 1, 1) handed(int *x) { // [blocks][32]
    x[blockIdx.x * 32 + threadIdx.x] = blockIdx.x;
    cluster_sync();
    int there = x[(blockIdx.x ^ 1) * 32 + threadIdx.x];
    cluster_sync();
    x[blockIdx.x * 32 + threadIdx.x] = there;
}

static bool run_handed() {
    constexpr int BLOCKS = 5000; // more than the GPU holds at a time
    int *x = on_device<int>(BLOCKS * 32);
    static int got[BLOCKS * 32];
    bool good = true;
    handed<<<BLOCKS, 32>>>(x);
    fetch(got, x, BLOCKS * 32);
    for (int i = 0; i < BLOCKS * 32; i++)
        good &= is("handed", got[i], i / 32 ^ 1);
    return good;
}

// ---- What the runtime answers --------------------------------------------------------------------------------------

__global__ void plain(int *x) {
    x[0] = 1;
}

__global__ void __cluster_dims__(2, 1, 1) pairs(int *x) {
    x[0] = 1;
}

__global__ void __launch_bounds__(64, 1, 4) bounded(int *x) {
    x[0] = 1;
}

static bool answers(const char *what, cudaError_t got, cudaError_t expected) {
    if (got != expected)
        printf("%s: %s, expected %s\n", what, cudaGetErrorName(got), cudaGetErrorName(expected));
    cudaGetLastError();
    return got == expected;
}

static bool run_refusals() {
    int *x = on_device<int>(1);
    bool good = true;
    pairs<<<3, 32>>>(x);
    good &= answers("an odd grid of pairs", cudaGetLastError(), cudaErrorInvalidClusterSize);
    good &= answers("a grid of 6 in fours", launch(plain, 6, 32, 4, x), cudaErrorInvalidClusterSize);
    good &= answers("pairs launched in fours", launch(pairs, 8, 32, 4, x), cudaErrorInvalidClusterSize);
    good &= answers("pairs launched in pairs", launch(pairs, 8, 32, 2, x), cudaSuccess);
    good &= answers("16 blocks", launch(plain, 16, 32, 16, x), cudaErrorInvalidClusterSize);
    CHECK(cudaFuncSetAttribute(plain, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    good &= answers("16 blocks that are allowed", launch(plain, 16, 32, 16, x), cudaSuccess);
    good &= answers("32 blocks", launch(plain, 32, 32, 32, x), cudaErrorInvalidClusterSize);
    good &= answers("a size whose product overflows", launch(plain, 4, 32, dim3(1u << 31, 1u << 31, 4), x),
                    cudaErrorInvalidClusterSize);
    good &= answers("8 blocks where 4 are promised", launch(bounded, 8, 32, 8, x), cudaErrorInvalidClusterSize);
    good &= answers("a size set on pairs", cudaFuncSetAttribute(pairs, cudaFuncAttributeRequiredClusterWidth, 2),
                    cudaErrorNotPermitted);
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, pairs));
    good &= is("clusterDimMustBeSet", attributes.clusterDimMustBeSet, 1) &
            is("requiredClusterWidth", attributes.requiredClusterWidth, 2);
    return good;
}

static bool run_occupancy() {
    int clusters = 0, size = 0;
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 4;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.gridDim = 64;
    config.blockDim = 1024;
    config.attrs = &attribute;
    config.numAttrs = 1;
    bool good = true;
    CHECK(cudaOccupancyMaxActiveClusters(&clusters, plain, &config));
    good &= is("fours of 1024 threads", clusters >= 60 && clusters <= 66, 1); // two of 132 SMs' blocks each
    CHECK(cudaOccupancyMaxPotentialClusterSize(&size, plain, &config));
    good &= is("the largest portable size", size, 8);
    CHECK(cudaFuncSetAttribute(plain, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    CHECK(cudaOccupancyMaxPotentialClusterSize(&size, plain, &config));
    good &= is("the largest size", size, 16);
    CHECK(cudaOccupancyMaxPotentialClusterSize(&size, pairs, &config));
    good &= is("the size of pairs", size, 2);
    config.numAttrs = 0;
    return good &
           answers("no size", cudaOccupancyMaxActiveClusters(&clusters, plain, &config), cudaErrorInvalidClusterSize);
}

int main(int argc, char **argv) {
    static const Case cases[] = {
        {"registers", run_registers}, {"addresses", run_addresses}, {"atomics", run_atomics},
        {"stores", run_stores},       {"boxes", run_boxes},         {"reductions", run_reductions},
        {"handed", run_handed},       {"refusals", run_refusals},   {"occupancy", run_occupancy}};
    if (argc > 2)
        set_order(argv[2]);
    return run_case(cases, argc, argv);
}
