// Clusters: distributed shared memory, cluster barriers, stores, reductions and copies between blocks, multicast
// copies; programmatic dependent launch; setmaxnreg.
//
// architecture: sm_90a
#include "hopper.cuh"
#include "maps.cuh"

#define PAIRS __cluster_dims__(2, 1, 1)

DEVICE unsigned cluster_rank() {
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

DEVICE void cluster_sync() {
    asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// The same offset in the shared memory of another block.
DEVICE uint32_t mapa(const void *own, unsigned rank) {
    uint32_t address;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(smem(own)), "r"(rank));
    return address;
}

DEVICE unsigned load_cluster(uint32_t address) {
    unsigned value;
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
    return value;
}

// ---- Addresses and barriers ----------------------------------------------------------------------------------------

// Each thread reads a word of each block of its cluster by both kinds of address, and queries the block of the address.
__global__ void __cluster_dims__(4, 1, 1)
    mapa_getctarank(unsigned *result, const unsigned *a, const unsigned *, const unsigned *) {
    __shared__ unsigned tile[TRUTH_BLOCK];
    tile[threadIdx.x] = a[INDEX];
    cluster_sync();
    unsigned seen = cluster_rank();
    for (unsigned rank = 0; rank < 4; rank++) {
        const uint32_t there = mapa(&tile[threadIdx.x ^ 37], rank);
        uint64_t generic;
        unsigned of_window, of_generic, value;
        asm volatile("mapa.u64 %0, %1, %2;" : "=l"(generic) : "l"(&tile[threadIdx.x ^ 5]), "r"(rank));
        asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(of_window) : "r"(there));
        asm volatile("getctarank.u64 %0, %1;" : "=r"(of_generic) : "l"(generic));
        asm volatile("ld.u32 %0, [%1];" : "=r"(value) : "l"(generic) : "memory");
        seen = seen * 31 + load_cluster(there) * 7 + value * 3 + of_window * 4 + of_generic;
    }
    cluster_sync();
    result[INDEX] = seen;
}

// A word is passed around a cluster of eight, with one barrier per step.
#define BARRIER(name, arrive, wait)                                                                                    \
    __global__ void __cluster_dims__(8, 1, 1)                                                                          \
        name(unsigned *result, const unsigned *a, const unsigned *, const unsigned *) {                                \
        __shared__ unsigned tile[2][TRUTH_BLOCK];                                                                      \
        tile[0][threadIdx.x] = a[INDEX];                                                                               \
        for (int i = 0; i < 8; i++) {                                                                                  \
            asm volatile(arrive ::: "memory");                                                                         \
            asm volatile(wait ::: "memory");                                                                           \
            tile[(i + 1) % 2][threadIdx.x] =                                                                           \
                load_cluster(mapa(&tile[i % 2][threadIdx.x ^ 1], (cluster_rank() + 1) % 8)) + i;                       \
        }                                                                                                              \
        cluster_sync();                                                                                                \
        result[INDEX] = tile[0][threadIdx.x];                                                                          \
    }
BARRIER(barrier_cluster_aligned, "barrier.cluster.arrive.release.aligned;", "barrier.cluster.wait.acquire.aligned;")
BARRIER(barrier_cluster, "barrier.cluster.arrive.release;", "barrier.cluster.wait.acquire;")
BARRIER(barrier_cluster_plain, "barrier.cluster.arrive;", "barrier.cluster.wait;")
BARRIER(barrier_cluster_relaxed, "fence.acq_rel.cluster; barrier.cluster.arrive.relaxed;",
        "barrier.cluster.wait.acquire;")

// All threads of four blocks use a barrier of the first block: single arrivals, arrivals with a count, and remote
// expect_tx.
__global__ void __cluster_dims__(4, 1, 1)
    mbarrier_remote(unsigned *result, const unsigned *a, const unsigned *, const unsigned *) {
    __shared__ uint64_t barrier;
    __shared__ unsigned inbox[4][TRUTH_BLOCK];
    const unsigned rank = cluster_rank();
    if (threadIdx.x == 0) {
        mbarrier_init(&barrier, 4 * (TRUTH_BLOCK + 3));
    }
    cluster_sync();
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(mapa(&inbox[rank][threadIdx.x], 0)), "r"(a[INDEX])
                 : "memory");
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%0], 64; "
                     "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0], 2; "
                     "mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%0], 100; "
                     "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%0], 164;" ::"r"(mapa(&barrier, 0))
                     : "memory");
    }
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(mapa(&barrier, 0)) : "memory");
    unsigned sum = 0, done = 0;
    for (int i = 0; i < 50000 && !done && rank == 0; i++) {
        asm volatile(
            "{.reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}"
            : "=r"(done)
            : "r"(smem(&barrier))
            : "memory");
    }
    for (int r = 0; r < 4 && rank == 0; r++) {
        sum = sum * 3 + inbox[r][threadIdx.x ^ 1];
    }
    cluster_sync();
    result[INDEX] = sum * 2 + done;
}

// ---- Stores and reductions between blocks --------------------------------------------------------------------------

// Each thread stores to the tile of the other block, which holds b; the barrier there counts the bytes.
#define SEND(name, V, letter, instruction, tail)                                                                       \
    __global__ void PAIRS name(V *result, const V *a, const V *b, const V *) {                                         \
        __shared__ V tile[TRUTH_BLOCK];                                                                                \
        __shared__ uint64_t barrier;                                                                                   \
        const unsigned other = cluster_rank() ^ 1;                                                                     \
        tile[threadIdx.x] = b[INDEX];                                                                                  \
        if (threadIdx.x == 0) {                                                                                        \
            mbarrier_init(&barrier, 1);                                                                                \
            mbarrier_expect(&barrier, sizeof tile);                                                                    \
        }                                                                                                              \
        cluster_sync();                                                                                                \
        asm volatile(instruction ".shared::cluster.mbarrier::complete_tx::bytes." tail                                 \
                                 " [%0], %1, [%2];" ::"r"(mapa(&tile[threadIdx.x ^ 37], other)),                       \
                     letter(a[INDEX]), "r"(mapa(&barrier, other))                                                      \
                     : "memory");                                                                                      \
        const unsigned good = mbarrier_wait(&barrier, 0);                                                              \
        result[INDEX] = good ? tile[threadIdx.x] : 0;                                                                  \
        cluster_sync();                                                                                                \
    }

#define SENT(F)                                                                                                        \
    F(st_async_b32, unsigned, "r", "st.async.weak", "b32", I32)                                                        \
    F(st_async_b64, unsigned long long, "l", "st.async.weak", "b64", I64)                                              \
    F(st_async_f32, float, "f", "st.async", "f32", F32)                                                                \
    F(red_async_add_u32, unsigned, "r", "red.async.relaxed.cluster", "add.u32", I32)                                   \
    F(red_async_add_s32, unsigned, "r", "red.async.relaxed.cluster", "add.s32", I32)                                   \
    F(red_async_add_u64, unsigned long long, "l", "red.async.relaxed.cluster", "add.u64", I64)                         \
    F(red_async_inc_u32, unsigned, "r", "red.async.relaxed.cluster", "inc.u32", I32)                                   \
    F(red_async_dec_u32, unsigned, "r", "red.async.relaxed.cluster", "dec.u32", I32)                                   \
    F(red_async_min_u32, unsigned, "r", "red.async.relaxed.cluster", "min.u32", I32)                                   \
    F(red_async_min_s32, unsigned, "r", "red.async.relaxed.cluster", "min.s32", I32)                                   \
    F(red_async_max_u32, unsigned, "r", "red.async.relaxed.cluster", "max.u32", I32)                                   \
    F(red_async_max_s32, unsigned, "r", "red.async.relaxed.cluster", "max.s32", I32)                                   \
    F(red_async_and_b32, unsigned, "r", "red.async.relaxed.cluster", "and.b32", I32)                                   \
    F(red_async_or_b32, unsigned, "r", "red.async.relaxed.cluster", "or.b32", I32)                                     \
    F(red_async_xor_b32, unsigned, "r", "red.async.relaxed.cluster", "xor.b32", I32)
#define SEND_KERNEL(name, V, letter, instruction, tail, T) SEND(name, V, letter, instruction, tail)
SENT(SEND_KERNEL)

// Four words per thread; a quarter of the threads signal the barrier of the other block.
__global__ void PAIRS st_async_v4(unsigned *result, const unsigned *a, const unsigned *, const unsigned *) {
    __shared__ alignas(16) unsigned tile[TRUTH_BLOCK];
    __shared__ uint64_t barrier;
    const unsigned other = cluster_rank() ^ 1;
    if (threadIdx.x == 0) {
        mbarrier_init(&barrier, 1);
        mbarrier_expect(&barrier, sizeof tile);
    }
    cluster_sync();
    const unsigned *from = a + blockIdx.x * TRUTH_BLOCK + 4 * threadIdx.x;
    if (threadIdx.x < 32) {
        asm volatile(
            "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(
                mapa(&tile[4 * threadIdx.x], other)),
            "r"(from[3]), "r"(from[2]), "r"(from[1]), "r"(from[0]), "r"(mapa(&barrier, other))
            : "memory");
    } else if (threadIdx.x < 64) {
        asm volatile(
            "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%0], {%1, %2}, [%5]; "
            "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%0 + 8], {%3, %4}, [%5];" ::"r"(
                mapa(&tile[4 * threadIdx.x], other)),
            "r"(from[1]), "r"(from[0]), "r"(from[3]), "r"(from[2]), "r"(mapa(&barrier, other))
            : "memory");
    }
    const unsigned good = mbarrier_wait(&barrier, 0);
    result[INDEX] = good ? tile[threadIdx.x] : 0;
    cluster_sync();
}

// Bulk copies and reductions from one block's shared memory to the other's.
#define BULK_BETWEEN(name, V, instruction)                                                                             \
    __global__ void PAIRS name(V *result, const V *a, const V *b, const V *) {                                         \
        __shared__ alignas(16) V own[TRUTH_BLOCK], tile[TRUTH_BLOCK];                                                  \
        __shared__ uint64_t barrier;                                                                                   \
        const unsigned other = cluster_rank() ^ 1;                                                                     \
        own[threadIdx.x] = a[INDEX];                                                                                   \
        tile[threadIdx.x] = b[INDEX];                                                                                  \
        fence_proxy_async();                                                                                           \
        if (threadIdx.x == 0) {                                                                                        \
            mbarrier_init(&barrier, 1);                                                                                \
            mbarrier_expect(&barrier, sizeof tile);                                                                    \
        }                                                                                                              \
        cluster_sync();                                                                                                \
        if (threadIdx.x == 0) {                                                                                        \
            asm volatile(instruction " [%0], [%1], %2, [%3];" ::"r"(mapa(tile, other)), "r"(smem(own)),                \
                         "r"((unsigned)sizeof tile), "r"(mapa(&barrier, other))                                        \
                         : "memory");                                                                                  \
        }                                                                                                              \
        const unsigned good = mbarrier_wait(&barrier, 0);                                                              \
        result[INDEX] = good ? tile[threadIdx.x ^ 1] : 0;                                                              \
        cluster_sync();                                                                                                \
    }
#define TO_CLUSTER "async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
#define BETWEEN(F)                                                                                                     \
    F(bulk_between, unsigned, "cp." TO_CLUSTER, I32)                                                                   \
    F(bulk_between_add_u32, unsigned, "cp.reduce." TO_CLUSTER ".add.u32", I32)                                         \
    F(bulk_between_add_s32, unsigned, "cp.reduce." TO_CLUSTER ".add.s32", I32)                                         \
    F(bulk_between_add_u64, unsigned long long, "cp.reduce." TO_CLUSTER ".add.u64", I64)                               \
    F(bulk_between_inc_u32, unsigned, "cp.reduce." TO_CLUSTER ".inc.u32", I32)                                         \
    F(bulk_between_dec_u32, unsigned, "cp.reduce." TO_CLUSTER ".dec.u32", I32)                                         \
    F(bulk_between_min_s32, unsigned, "cp.reduce." TO_CLUSTER ".min.s32", I32)                                         \
    F(bulk_between_max_u32, unsigned, "cp.reduce." TO_CLUSTER ".max.u32", I32)                                         \
    F(bulk_between_and_b32, unsigned, "cp.reduce." TO_CLUSTER ".and.b32", I32)                                         \
    F(bulk_between_or_b32, unsigned, "cp.reduce." TO_CLUSTER ".or.b32", I32)                                           \
    F(bulk_between_xor_b32, unsigned, "cp.reduce." TO_CLUSTER ".xor.b32", I32)
#define BETWEEN_KERNEL(name, V, instruction, T) BULK_BETWEEN(name, V, instruction)
BETWEEN(BETWEEN_KERNEL)

// ---- Multicast copies ----------------------------------------------------------------------------------------------

// Block 1 of each four copies its words to the blocks of a mask, which excludes block 2.
__global__ void __cluster_dims__(4, 1, 1)
    bulk_multicast(unsigned *result, const unsigned *a, const unsigned *, const unsigned *) {
    __shared__ alignas(16) unsigned tile[TRUTH_BLOCK];
    __shared__ uint64_t barrier;
    const unsigned rank = cluster_rank();
    tile[threadIdx.x] = 7;
    fence_proxy_async();
    if (threadIdx.x == 0) {
        mbarrier_init(&barrier, 1);
        if (rank != 2) {
            mbarrier_expect(&barrier, sizeof tile);
        }
    }
    cluster_sync();
    if (threadIdx.x == 0 && rank == 1) {
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, "
            "[%3], %4;" ::"r"(smem(tile)),
            "l"(&a[INDEX]), "r"((unsigned)sizeof tile), "r"(smem(&barrier)), "h"((unsigned short)0xb)
            : "memory");
    }
    const unsigned good = rank == 2 ? 1 : mbarrier_wait(&barrier, 0);
    cluster_sync();
    result[INDEX] = tile[threadIdx.x ^ 37] * 2 + good;
}

__global__ void PAIRS multicast_box(const __grid_constant__ CUtensorMap map, unsigned *result) {
    __shared__ alignas(1024) unsigned box[16 * 32];
    __shared__ uint64_t barrier;
    const unsigned rank = cluster_rank();
    if (threadIdx.x == 0) {
        mbarrier_init(&barrier, 1);
        mbarrier_expect(&barrier, sizeof box);
    }
    cluster_sync();
    if (threadIdx.x == 0) { // each block loads half of the box for both blocks
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
            "[%0], [%1, {%3, %4}], [%2], %5;" ::"r"(smem(box + 256 * rank)),
            "l"(&map), "r"(smem(&barrier)), "r"(8), "r"(8 * rank + 5), "h"((unsigned short)3)
            : "memory");
    }
    const unsigned good = mbarrier_wait(&barrier, 0);
    for (unsigned i = threadIdx.x; i < 512; i += blockDim.x) {
        result[512 * rank + i] = good ? box[i] : 0xbad;
    }
    cluster_sync();
}

static constexpr Tensor half_box = {2,  CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, {40, 50}, {32, 8},
                                    {}, CU_TENSOR_MAP_SWIZZLE_128B};

static int launch_multicast(const struct truth_form *, void *result, void *const input[3]) {
    CUtensorMap map;
    Places places;
    if (!make_map(half_box, input[0], &map, &places)) {
        return cudaErrorInvalidValue;
    }
    multicast_box<<<2, 128>>>(map, static_cast<unsigned *>(result));
    return cudaGetLastError();
}

// ---- Dependent launches, registers ---------------------------------------------------------------------------------

__global__ void first_of_two(unsigned *result, const unsigned *a) {
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    result[INDEX] = a[INDEX] * 3;
}

__global__ void second_of_two(unsigned *result, const unsigned *b) {
    const unsigned own = b[INDEX];
    asm volatile("griddepcontrol.wait;" ::: "memory");
    result[INDEX] += own;
}

// The second kernel may start before the first one ends, and waits for the data of the first.
static int launch_overlapping(const struct truth_form *, void *result, void *const input[3]) {
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = TRUTH_ELEMENTS / TRUTH_BLOCK;
    config.blockDim = TRUTH_BLOCK;
    config.attrs = &attribute;
    config.numAttrs = 1;
    first_of_two<<<TRUTH_ELEMENTS / TRUTH_BLOCK, TRUTH_BLOCK>>>(static_cast<unsigned *>(result),
                                                                static_cast<const unsigned *>(input[0]));
    const cudaError_t launched = cudaLaunchKernelEx(&config, second_of_two, static_cast<unsigned *>(result),
                                                    static_cast<const unsigned *>(input[1]));
    return launched == cudaSuccess ? cudaGetLastError() : launched;
}

// Three warpgroups of 168 registers: one deallocates most of its registers, and the others allocate 240.
__global__ void __launch_bounds__(384, 1) uneven_registers(unsigned *result, const unsigned *a) {
    __shared__ unsigned tile[TRUTH_BLOCK];
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
        for (int i = threadIdx.x; i < TRUTH_BLOCK; i += 128) {
            tile[i] = a[blockIdx.x * TRUTH_BLOCK + i];
        }
        asm volatile("bar.arrive 1, 384;" ::: "memory");
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
        asm volatile("bar.sync 1, 384;" ::: "memory");
        const unsigned t = threadIdx.x - 128;
        result[blockIdx.x * TRUTH_BLOCK + t] = tile[t ^ 37] * 5 + t;
    }
}

static int launch_uneven(const struct truth_form *, void *result, void *const input[3]) {
    uneven_registers<<<TRUTH_ELEMENTS / TRUTH_BLOCK, 384>>>(static_cast<unsigned *>(result),
                                                            static_cast<const unsigned *>(input[0]));
    return cudaGetLastError();
}

#define ENTRY(name, T, A, B)                                                                                           \
    {#name, (const void *)name, TRUTH_##T, {TRUTH_##A, TRUTH_##B, TRUTH_NONE}, TRUTH_EXACT, 0, nullptr},
#define SENT_ENTRY(name, V, letter, instruction, tail, T) ENTRY(name, T, T, T)
#define BETWEEN_ENTRY(name, V, instruction, T) ENTRY(name, T, T, T)
#define LAUNCHED(name, launch, B)                                                                                      \
    {#name, nullptr, TRUTH_I32, {TRUTH_I32, TRUTH_##B, TRUTH_NONE}, TRUTH_EXACT, 0, launch},

// clang-format off
extern "C" const struct truth_form truth_cluster[] = {
    ENTRY(mapa_getctarank, I32, I32, NONE)
    ENTRY(barrier_cluster_aligned, I32, I32, NONE)
    ENTRY(barrier_cluster, I32, I32, NONE)
    ENTRY(barrier_cluster_plain, I32, I32, NONE)
    ENTRY(barrier_cluster_relaxed, I32, I32, NONE)
    ENTRY(mbarrier_remote, I32, I32, NONE)
    SENT(SENT_ENTRY)
    ENTRY(st_async_v4, I32, I32, NONE)
    BETWEEN(BETWEEN_ENTRY)
    ENTRY(bulk_multicast, I32, I32, NONE)
    LAUNCHED(tensor_multicast, launch_multicast, NONE)
    LAUNCHED(griddepcontrol, launch_overlapping, I32)
    LAUNCHED(setmaxnreg, launch_uneven, NONE)
    {},
};
