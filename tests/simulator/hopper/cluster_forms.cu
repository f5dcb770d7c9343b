// The features of clusters, one case each, compared with the host: registers, addresses, atomics between blocks, the
// runtime's answers; copies and reductions between blocks are compared with a GPU (tests/truth/cluster.cu). forms:
// prints the names of the cases; forms NAME [SEED]: runs one.
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
    static const Case cases[] = {{"registers", run_registers}, {"addresses", run_addresses},
                                 {"atomics", run_atomics},     {"handed", run_handed},
                                 {"refusals", run_refusals},   {"occupancy", run_occupancy}};
    if (argc > 2)
        set_order(argv[2]);
    return run_case(cases, argc, argv);
}
