// Bulk copies between global and shared memory, and bulk reductions: the contents of memory afterwards.
//
// architecture: sm_90a
#include "hopper.cuh"

DEVICE void bulk_load(void *to, const void *from, unsigned bytes, uint64_t *barrier) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(smem(to)),
        "l"(from), "r"(bytes), "r"(smem(barrier))
        : "memory");
}

DEVICE void bulk_store(void *to, const void *from, unsigned bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(smem(from)), "r"(bytes)
                 : "memory");
}

// ---- Copies --------------------------------------------------------------------------------------------------------

// One copy per block; its bytes complete the transaction count of the barrier.
#define LOAD(name, words, copy)                                                                                        \
    __global__ void name(unsigned *result, const unsigned *a, const unsigned *, const unsigned *) {                    \
        __shared__ alignas(16) unsigned tile[TRUTH_BLOCK];                                                             \
        __shared__ uint64_t barrier;                                                                                   \
        tile[threadIdx.x] = threadIdx.x;                                                                               \
        const unsigned *from = a + blockIdx.x * TRUTH_BLOCK;                                                           \
        if (threadIdx.x == 0) {                                                                                        \
            mbarrier_init(&barrier, 1);                                                                                \
        }                                                                                                              \
        fence_proxy_async();                                                                                           \
        __syncthreads();                                                                                               \
        if (threadIdx.x == 0) {                                                                                        \
            mbarrier_expect(&barrier, 4 * words);                                                                      \
            copy;                                                                                                      \
        }                                                                                                              \
        const unsigned good = mbarrier_wait(&barrier, 0);                                                              \
        result[INDEX] = tile[threadIdx.x ^ 37] * 2 + good;                                                             \
    }

LOAD(bulk_load_all, TRUTH_BLOCK, bulk_load(tile, from, 4 * TRUTH_BLOCK, &barrier))
LOAD(bulk_load_part, 100, bulk_load(tile + 60, from + 4, 400, &barrier))
LOAD(bulk_load_least, 4, bulk_load(tile + 252, from + 252, 16, &barrier))
LOAD(bulk_load_many, TRUTH_BLOCK, {
    for (unsigned i = 0, n; i < TRUTH_BLOCK; i += n) {
        n = i < 128 ? 4 : 32;
        bulk_load(tile + i, from + (i ^ 32), 4 * n, &barrier);
    }
})
LOAD(bulk_load_prefetched, TRUTH_BLOCK, {
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(4 * TRUTH_BLOCK) : "memory");
    bulk_load(tile, from, 4 * TRUTH_BLOCK, &barrier);
})

// Cache policies do not affect results; their bits are not compared.
#define LOAD_WITH_POLICY(name, policy_text)                                                                            \
    LOAD(name, TRUTH_BLOCK,                                                                                            \
         asm volatile("{.reg .b64 policy; " policy_text                                                                \
                      " cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "             \
                      "[%0], [%1], %2, [%3], policy;}" ::"r"(smem(tile)),                                              \
                      "l"(from), "r"(4 * TRUTH_BLOCK), "r"(smem(&barrier))                                             \
                      : "memory"))
LOAD_WITH_POLICY(bulk_load_evict_first, "createpolicy.fractional.L2::evict_first.b64 policy, 1.0;")
LOAD_WITH_POLICY(bulk_load_evict_last, "createpolicy.fractional.L2::evict_last.b64 policy, 0.5;")
LOAD_WITH_POLICY(bulk_load_two_policies, "createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 policy, 0.25;")

// 0x10f0000000000000 is the encoding of cuda::access_property::normal.
__global__ void createpolicy_cvt(unsigned *result, const unsigned *a, const unsigned *, const unsigned *) {
    unsigned value;
    asm volatile(
        "{.reg .b64 policy; createpolicy.cvt.L2.b64 policy, %2; ld.global.L2::cache_hint.b32 %0, [%1], policy;}"
        : "=r"(value)
        : "l"(&a[INDEX]), "l"(0x10f0000000000000ull)
        : "memory");
    result[INDEX] = value;
}

__global__ void createpolicy_range(unsigned *result, const unsigned *a, const unsigned *, const unsigned *) {
    unsigned value;
    asm volatile(
        "{.reg .b64 policy; createpolicy.range.global.L2::evict_last.L2::evict_unchanged.b64 policy, [%1], 1024, "
        "4096; ld.global.L2::cache_hint.b32 %0, [%2], policy;}"
        : "=r"(value)
        : "l"(a), "l"(&a[INDEX])
        : "memory");
    result[INDEX] = value;
}

// Discarded lines are written again.
__global__ void discard_and_write(unsigned *result, const unsigned *a, const unsigned *, const unsigned *) {
    asm volatile("applypriority.global.L2::evict_normal [%0], 128;" ::"l"(&a[INDEX / 32 * 32]) : "memory");
    if (INDEX % 32 == 0)
        asm volatile("discard.global.L2 [%0], 128;" ::"l"(&result[INDEX]) : "memory");
    __threadfence();
    __syncwarp();
    result[INDEX] = a[INDEX];
}

// 64-bit words are copied to shared memory and back.
__global__ void bulk_store_all(unsigned long long *result, const unsigned long long *a, const unsigned *,
                               const unsigned *) {
    __shared__ alignas(16) unsigned long long tile[TRUTH_BLOCK];
    tile[threadIdx.x ^ 5] = a[INDEX] * 3;
    fence_proxy_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        bulk_store(result + INDEX, tile, sizeof tile);
        bulk_commit_and_wait();
    }
}

// The source of a copy is overwritten after wait_group.read.
__global__ void bulk_store_read(unsigned *result, const unsigned *a, const unsigned *, const unsigned *) {
    __shared__ alignas(16) unsigned tile[32];
    const unsigned lane = threadIdx.x;
    for (unsigned i = 0; i < TRUTH_BLOCK && lane < 32; i += 32) {
        tile[lane] = a[blockIdx.x * TRUTH_BLOCK + i + lane] + i;
        fence_proxy_async();
        __syncwarp();
        if (lane == 0) {
            bulk_store(result + blockIdx.x * TRUTH_BLOCK + i, tile, sizeof tile);
            asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;" ::: "memory");
        }
        __syncwarp();
    }
}

// Three groups of one thread: after wait_group 1 all but the last have completed, and their data is read.
__global__ void bulk_store_groups(unsigned *result, const unsigned *a, const unsigned *, const unsigned *) {
    __shared__ alignas(16) unsigned tile[3][64];
    unsigned *to = result + blockIdx.x * TRUTH_BLOCK;
    if (threadIdx.x < 192) {
        tile[threadIdx.x / 64][threadIdx.x % 64] = a[INDEX];
    }
    fence_proxy_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 0; i < 3; i++) {
            bulk_store(to + 64 * i, tile[i], sizeof tile[i]);
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        }
        asm volatile("cp.async.bulk.wait_group 1; fence.proxy.async;" ::: "memory");
        unsigned sum = 0;
        for (int i = 0; i < 128; i++) {
            sum = sum * 3 + *(volatile unsigned *)&to[i];
        }
        to[192] = sum;
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

// ---- Reductions ----------------------------------------------------------------------------------------------------

// The destination holds b; a is combined with it.
#define REDUCE(name, V, operation)                                                                                     \
    __global__ void name(V *result, const V *a, const V *b, const V *) {                                               \
        __shared__ alignas(16) V tile[TRUTH_BLOCK];                                                                    \
        tile[threadIdx.x] = a[INDEX];                                                                                  \
        result[INDEX] = b[INDEX];                                                                                      \
        asm volatile("fence.proxy.async;" ::: "memory");                                                               \
        __syncthreads();                                                                                               \
        if (threadIdx.x == 0) {                                                                                        \
            asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." operation                               \
                         " [%0], [%1], %2;" ::"l"(&result[INDEX]),                                                     \
                         "r"(smem(tile)), "r"((unsigned)sizeof tile)                                                   \
                         : "memory");                                                                                  \
            bulk_commit_and_wait();                                                                                    \
        }                                                                                                              \
    }

#define WORDS(R)                                                                                                       \
    R(bulk_add_u32, unsigned, "add.u32", I32)                                                                          \
    R(bulk_add_s32, unsigned, "add.s32", I32)                                                                          \
    R(bulk_add_u64, unsigned long long, "add.u64", I64)                                                                \
    R(bulk_min_u32, unsigned, "min.u32", I32)                                                                          \
    R(bulk_min_s32, unsigned, "min.s32", I32)                                                                          \
    R(bulk_min_u64, unsigned long long, "min.u64", I64)                                                                \
    R(bulk_min_s64, unsigned long long, "min.s64", I64)                                                                \
    R(bulk_max_u32, unsigned, "max.u32", I32)                                                                          \
    R(bulk_max_s32, unsigned, "max.s32", I32)                                                                          \
    R(bulk_max_u64, unsigned long long, "max.u64", I64)                                                                \
    R(bulk_max_s64, unsigned long long, "max.s64", I64)                                                                \
    R(bulk_inc_u32, unsigned, "inc.u32", I32)                                                                          \
    R(bulk_dec_u32, unsigned, "dec.u32", I32)                                                                          \
    R(bulk_and_b32, unsigned, "and.b32", I32)                                                                          \
    R(bulk_and_b64, unsigned long long, "and.b64", I64)                                                                \
    R(bulk_or_b32, unsigned, "or.b32", I32)                                                                            \
    R(bulk_or_b64, unsigned long long, "or.b64", I64)                                                                  \
    R(bulk_xor_b32, unsigned, "xor.b32", I32)                                                                          \
    R(bulk_xor_b64, unsigned long long, "xor.b64", I64)                                                                \
    R(bulk_add_f32, float, "add.f32", F32)                                                                             \
    R(bulk_add_f64, double, "add.f64", F64)                                                                            \
    R(bulk_add_f16, unsigned short, "add.noftz.f16", F16)                                                              \
    R(bulk_min_f16, unsigned short, "min.f16", F16)                                                                    \
    R(bulk_max_f16, unsigned short, "max.f16", F16)                                                                    \
    R(bulk_add_bf16, unsigned short, "add.noftz.bf16", BF16)                                                           \
    R(bulk_min_bf16, unsigned short, "min.bf16", BF16)                                                                 \
    R(bulk_max_bf16, unsigned short, "max.bf16", BF16)

#define REDUCE_KERNEL(name, V, operation, T) REDUCE(name, V, operation)
WORDS(REDUCE_KERNEL)

#define ENTRY(name, T)                                                                                                 \
    {#name, (const void *)name, TRUTH_##T, {TRUTH_##T, TRUTH_NONE, TRUTH_NONE}, TRUTH_EXACT, 0, nullptr},
#define REDUCE_ENTRY(name, V, operation, T)                                                                            \
    {#name, (const void *)name, TRUTH_##T, {TRUTH_##T, TRUTH_##T, TRUTH_NONE}, TRUTH_EXACT, 0, nullptr},

extern "C" const struct truth_form truth_bulk[] = {
    ENTRY(bulk_load_all, I32) ENTRY(bulk_load_part, I32) ENTRY(bulk_load_least, I32) ENTRY(bulk_load_many, I32)
        ENTRY(bulk_load_prefetched, I32) ENTRY(bulk_load_evict_first, I32) ENTRY(bulk_load_evict_last, I32)
            ENTRY(bulk_load_two_policies, I32) ENTRY(createpolicy_cvt, I32) ENTRY(createpolicy_range, I32)
                ENTRY(discard_and_write, I32) ENTRY(bulk_store_all, I64) ENTRY(bulk_store_read, I32)
                    ENTRY(bulk_store_groups, I32) WORDS(REDUCE_ENTRY){},
};
