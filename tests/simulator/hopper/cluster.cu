// Kernels with clusters, each compared with the host. cluster: prints the names of the cases; cluster NAME [SEED]: runs
// one. cluster.bats makes variants of this file with one mistake each, and finds the lines by their comments.
#include "cluster.cuh"

#include <cooperative_groups.h>
#include <cstring>
#include <vector>

namespace cg = cooperative_groups;

constexpr int THREADS = 128, BLOCKS = 8;

template <typename T>
struct Array { // on the host and on the device
    T *device;
    std::vector<T> host;

    explicit Array(size_t n) : host(n) {
        CHECK(cudaMalloc(&device, n * sizeof(T)));
    }
    void fill(T (*value)(size_t)) {
        for (size_t i = 0; i < host.size(); i++)
            host[i] = value(i);
        CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    void fetch() {
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaMemcpy(host.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost));
    }
};

template <typename T>
static bool equal(const char *what, size_t i, T got, T expected) {
    if (got != expected)
        printf("%s: element %zu is %g, expected %g\n", what, i, (double)got, (double)expected);
    return got == expected;
}

// ---- A histogram whose bins are spread over the cluster's blocks ---------------------------------------------------

constexpr int BINS = 256; // of a block

__global__ void __cluster_dims__(2, 1, 1) histogram(const int *x, int n, int *bins) { // x [n], bins [2 * BINS]
    __shared__ int mine[BINS];
    cg::cluster_group cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < BINS; i += THREADS)
        mine[i] = 0;
    cluster.sync(); // zeroed
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
        int *there = cluster.map_shared_rank(mine, x[i] / BINS);
        atomicAdd(&there[x[i] % BINS], 1); // count
    }
    cluster.sync(); // counted
    for (int i = threadIdx.x; i < BINS; i += THREADS)
        atomicAdd(&bins[cluster.block_rank() * BINS + i], mine[i]); // collect
}

static bool run_histogram() {
    constexpr int N = 5000;
    Array<int> x(N), bins(2 * BINS);
    x.fill([](size_t i) { return (int)(i * 7919 % (2 * BINS)); });
    bins.fill([](size_t) { return 0; });
    histogram<<<BLOCKS, THREADS>>>(x.device, N, bins.device);
    CHECK(cudaGetLastError());
    std::vector<int> expected(2 * BINS);
    for (int value : x.host)
        expected[value]++;
    bins.fetch();
    bool good = true;
    for (size_t i = 0; i < expected.size(); i++)
        good &= equal("histogram", i, bins.host[i], expected[i]);
    return good;
}

// ---- A sum of all blocks of a cluster, by loads from each ----------------------------------------------------------

constexpr int ADDENDS = 4; // blocks of a cluster

__global__ void reduction(const int *x, int *sums) { // x [blocks][THREADS], sums [clusters]
    __shared__ int part[THREADS];
    part[threadIdx.x] = x[blockIdx.x * THREADS + threadIdx.x]; // part
    cluster_sync();                                            // parts are there
    if (cluster_rank() == 0) {
        int sum = 0;
        for (int rank = 0; rank < ADDENDS; rank++)
            sum += load_cluster(mapa(&part[threadIdx.x], rank)); // add
        atomicAdd(&sums[blockIdx.x / ADDENDS], sum);
    }
    cluster_sync(); // parts are read
}

static bool run_reduction() {
    Array<int> x(BLOCKS * THREADS), sums(BLOCKS / ADDENDS);
    x.fill([](size_t i) { return (int)(i % 101); });
    sums.fill([](size_t) { return 0; });
    CHECK(launch(reduction, BLOCKS, THREADS, ADDENDS, x.device, sums.device));
    sums.fetch();
    bool good = true;
    for (size_t c = 0; c < sums.host.size(); c++) {
        int expected = 0;
        for (int i = 0; i < ADDENDS * THREADS; i++)
            expected += x.host[c * ADDENDS * THREADS + i];
        good &= equal("reduction", c, sums.host[c], expected);
    }
    return good;
}

// ---- Tiles that each block of a pair loads in half, for both of them, in stages ------------------------------------

constexpr int STAGES = 2, TILE = 512, HALF = TILE / 2; // elements

struct Stages {
    alignas(128) int tile[STAGES][TILE];
    uint64_t full[STAGES], empty[STAGES];
};

__global__ void __cluster_dims__(2, 1, 1) multicast(const int *x, int tiles, int *sums) { // x [tiles][TILE]
    __shared__ Stages s;
    uint32_t rank = cluster_rank();
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            mbarrier_init(&s.full[i], 1);
            mbarrier_init(&s.empty[i], 2); // empty count
        }
        fence_mbarrier_init(); // init fence
    }
    cluster_arrive_relaxed(); // set up
    cluster_wait();           // wait set up
    if (threadIdx.x == 0) {
        for (int i = 0; i < tiles; i++) {
            int stage = i % STAGES;
            mbarrier_wait(&s.empty[stage], (i / STAGES & 1) ^ 1); // wait empty
            mbarrier_arrive_expect_tx(&s.full[stage], TILE * 4);  // expect
            bulk_load_multicast(&s.tile[stage][rank * HALF], x + i * TILE + rank * HALF, HALF * 4, &s.full[stage],
                                3); // load
        }
    } else if (threadIdx.x >= 32) {
        int sum = 0;
        for (int i = 0; i < tiles; i++) {
            int stage = i % STAGES;
            mbarrier_wait(&s.full[stage], i / STAGES & 1); // wait full
            for (int k = threadIdx.x - 32; k < TILE; k += THREADS - 32)
                sum += s.tile[stage][k] * (int)(rank + 1);       // use
            asm volatile("bar.sync 1, %0;" ::"n"(THREADS - 32)); // all have read
            if (threadIdx.x < 34)
                mbarrier_arrive_cluster(mapa(&s.empty[stage], threadIdx.x - 32)); // release
        }
        atomicAdd(&sums[rank], sum);
    }
    __syncwarp();
    cluster_sync(); // done
}

static bool run_multicast() {
    constexpr int TILES = 7;
    Array<int> x(TILES * TILE), sums(2);
    x.fill([](size_t i) { return (int)(i % 97); });
    sums.fill([](size_t) { return 0; });
    multicast<<<2, THREADS>>>(x.device, TILES, sums.device);
    CHECK(cudaGetLastError());
    sums.fetch();
    int expected = 0;
    for (int value : x.host)
        expected += value;
    return equal("multicast", 0, sums.host[0], expected) & equal("multicast", 1, sums.host[1], 2 * expected);
}

// ---- A ring: each block hands what it has to the next, which adds to it --------------------------------------------

constexpr int RING = 4;

__global__ void __cluster_dims__(RING, 1, 1) ring(const int *x, int *out) { // [blocks][THREADS]
    __shared__ int inbox[2][THREADS];
    __shared__ uint64_t filled[2], taken;
    uint32_t rank = cluster_rank(), next = (rank + 1) % RING, before = (rank + RING - 1) % RING;
    int value = x[blockIdx.x * THREADS + threadIdx.x], sum = value;
    if (threadIdx.x == 0) {
        mbarrier_init(&filled[0], 1);
        mbarrier_init(&filled[1], 1);
        mbarrier_init(&taken, THREADS);
        fence_mbarrier_init();
    }
    cluster_sync(); // inboxes are there
    for (int step = 0; step < RING - 1; step++) {
        int box = step % 2;
        if (step >= 2)
            mbarrier_wait(&taken, step & 1); // wait taken
        if (threadIdx.x == 0)
            mbarrier_arrive_expect_tx(&filled[box], THREADS * 4);                           // expect
        store_async(mapa(&inbox[box][threadIdx.x], next), value, mapa(&filled[box], next)); // hand on
        mbarrier_wait(&filled[box], step / 2 & 1);                                          // wait filled
        value = inbox[box][threadIdx.x];                                                    // take
        sum += value;
        if (step + 2 < RING - 1)
            mbarrier_arrive_cluster(mapa(&taken, before)); // say taken
    }
    out[blockIdx.x * THREADS + threadIdx.x] = sum;
    cluster_sync(); // all is taken
}

static bool run_ring() {
    Array<int> x(BLOCKS * THREADS), out(BLOCKS * THREADS);
    x.fill([](size_t i) { return (int)(i * 31 % 1009); });
    ring<<<BLOCKS, THREADS>>>(x.device, out.device);
    CHECK(cudaGetLastError());
    out.fetch();
    bool good = true;
    for (size_t i = 0; i < out.host.size(); i++) {
        int expected = 0;
        for (int r = 0; r < RING; r++)
            expected += x.host[(i / THREADS / RING * RING + r) * THREADS + i % THREADS];
        good &= equal("ring", i, out.host[i], expected);
    }
    return good;
}

// ---- Bulk copies from shared memory to that of another block, which adds -------------------------------------------

__global__ void __cluster_dims__(2, 1, 1) exchange(const int *x, int *out) { // [blocks][THREADS]
    __shared__ alignas(16) int mine[THREADS], copied[THREADS], added[THREADS];
    __shared__ uint64_t arrived;
    uint32_t other = cluster_rank() ^ 1;
    mine[threadIdx.x] = x[blockIdx.x * THREADS + threadIdx.x]; // mine
    added[threadIdx.x] = threadIdx.x;
    fence_proxy_async(); // proxy fence
    set_up(&arrived, 1);
    if (threadIdx.x == 0) {
        mbarrier_arrive_expect_tx(&arrived, 2 * THREADS * 4);
        bulk_copy_cluster(mapa(copied, other), mine, THREADS * 4, mapa(&arrived, other)); // copy
        bulk_add_cluster(mapa(added, other), mine, THREADS * 4, mapa(&arrived, other));   // copy and add
    }
    mbarrier_wait(&arrived, 0); // wait arrived
    out[blockIdx.x * THREADS + threadIdx.x] = copied[threadIdx.x] + 3 * added[threadIdx.x];
    cluster_sync();        // both have read
    mine[threadIdx.x] = 0; // use again
}

static bool run_exchange() {
    Array<int> x(BLOCKS * THREADS), out(BLOCKS * THREADS);
    x.fill([](size_t i) { return (int)(i * 13 % 999); });
    exchange<<<BLOCKS, THREADS>>>(x.device, out.device);
    CHECK(cudaGetLastError());
    out.fetch();
    bool good = true;
    for (size_t i = 0; i < out.host.size(); i++) {
        int there = x.host[i ^ THREADS];
        good &= equal("exchange", i, out.host[i], there + 3 * (there + (int)(i % THREADS)));
    }
    return good;
}

int main(int argc, char **argv) {
    static const Case cases[] = {{"histogram", run_histogram},
                                 {"reduction", run_reduction},
                                 {"multicast", run_multicast},
                                 {"ring", run_ring},
                                 {"exchange", run_exchange}};
    if (argc > 2)
        set_order(argv[2]);
    return run_case(cases, argc, argv);
}
