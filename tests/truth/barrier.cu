// Barriers in shared memory (mbarrier). In most forms each thread has its own barrier and completes its phases with
// counts from the inputs. The results are defined values: which phases are complete, and their pending arrival counts.
// The bits of a state are undefined and are not compared.
//
// architecture: sm_90a
#include "hopper.cuh"

DEVICE unsigned is_complete(unsigned barrier, uint64_t state) {
    unsigned done;
    asm volatile("{.reg .pred p; mbarrier.test_wait.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                 : "=r"(done)
                 : "r"(barrier), "l"(state)
                 : "memory");
    return done;
}

DEVICE unsigned is_past(unsigned barrier, unsigned parity) {
    unsigned done;
    asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                 : "=r"(done)
                 : "r"(barrier), "r"(parity)
                 : "memory");
    return done;
}

DEVICE unsigned pending_count(uint64_t state) {
    unsigned count;
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(state));
    return count;
}

// An arrival that returns a state; %1 is the barrier, %2 a count or bytes if the text has one.
#define ARRIVE(state, text, barrier, value) asm volatile(text : "=l"(state) : "r"(barrier), "r"(value) : "memory")
#define DO(text, barrier, value) asm volatile(text ::"r"(barrier), "r"(value) : "memory")

// The barrier of each thread, and its results.
#define SCRIPT(name, ...)                                                                                              \
    __global__ void name(unsigned *result, const unsigned *a, const unsigned *b, const unsigned *) {                   \
        __shared__ uint64_t barriers[TRUTH_BLOCK];                                                                     \
        const unsigned barrier = smem(&barriers[threadIdx.x]), x = mixed(a[INDEX]), y = mixed(b[INDEX]);               \
        uint64_t state = 0;                                                                                            \
        unsigned seen = 0;                                                                                             \
        __VA_ARGS__                                                                                                    \
        DO("mbarrier.inval.shared::cta.b64 [%0];", barrier, 0);                                                        \
        result[INDEX] = seen;                                                                                          \
    }
#define SEE(value) seen = seen * 5 + (value)
#define SEE_ALL SEE(is_complete(barrier, state) * 4 + is_past(barrier, 0) * 2 + is_past(barrier, 1))
#define INIT(count) DO("mbarrier.init.shared::cta.b64 [%0], %1;", barrier, count)

// Single arrivals over several phases.
SCRIPT(
    mbarrier_arrive, INIT(1 + x % 5); for (unsigned i = 0; i < 3 + y % 9; i++) {
        ARRIVE(state, "mbarrier.arrive.shared::cta.b64 %0, [%1];", barrier, 0);
        SEE_ALL;
    })
SCRIPT(
    mbarrier_arrive_release, INIT(1 + x % 5); for (unsigned i = 0; i < 3 + y % 9; i++) {
        ARRIVE(state, "mbarrier.arrive.release.cta.shared::cta.b64 %0, [%1];", barrier, 0);
        SEE_ALL;
    })
SCRIPT(
    mbarrier_arrive_generic, INIT(1 + x % 5); for (unsigned i = 0; i < 3 + y % 9; i++) {
        asm volatile("mbarrier.arrive.b64 %0, [%1];" : "=l"(state) : "l"(&barriers[threadIdx.x]) : "memory");
        SEE_ALL;
    })

// Arrivals with a count, up to the pending count.
SCRIPT(
    mbarrier_arrive_count, const unsigned count = 1 + x % 1000; unsigned due = count; INIT(count);
    for (int i = 0; i < 12; i++) {
        const unsigned n = 1 + mixed(y + i) % due;
        ARRIVE(state, "mbarrier.arrive.release.cta.shared::cta.b64 %0, [%1], %2;", barrier, n);
        due = due == n ? count : due - n;
        SEE_ALL;
    })
SCRIPT(
    mbarrier_arrive_no_complete, const unsigned count = 2 + x % 1000; unsigned due = count; INIT(count);
    for (int i = 0; i < 6; i++) {
        const unsigned n = 1 + mixed(y + i) % (due - 1);
        ARRIVE(state, "mbarrier.arrive.noComplete.shared::cta.b64 %0, [%1], %2;", barrier, n);
        SEE(pending_count(state));
        due -= n;
        SEE_ALL;
        if (due == 1) {
            ARRIVE(state, "mbarrier.arrive.shared::cta.b64 %0, [%1];", barrier, 0);
            SEE_ALL;
            due = count;
        }
    })
SCRIPT(mbarrier_most_arrivals, INIT(0xfffff);
       ARRIVE(state, "mbarrier.arrive.noComplete.shared::cta.b64 %0, [%1], %2;", barrier, 1 + x % 0xffff0);
       SEE(pending_count(state));
       ARRIVE(state, "mbarrier.arrive.noComplete.shared::cta.b64 %0, [%1], %2;", barrier, 1 + y % 8);
       SEE(pending_count(state)); SEE_ALL;)

// arrive_drop decrements the expected arrival count of later phases.
SCRIPT(
    mbarrier_arrive_drop, unsigned count = 6 + x % 4, due = count; INIT(count); for (unsigned i = 0; i < 24; i++) {
        if (count > 1 && (mixed(y + i) & 3) == 0) {
            ARRIVE(state, "mbarrier.arrive_drop.shared::cta.b64 %0, [%1];", barrier, 0);
            count--;
        } else {
            ARRIVE(state, "mbarrier.arrive.shared::cta.b64 %0, [%1];", barrier, 0);
        }
        due = due == 1 ? count : due - 1;
        SEE_ALL;
    })
SCRIPT(
    mbarrier_arrive_drop_count, INIT(40);
    ARRIVE(state, "mbarrier.arrive_drop.noComplete.shared::cta.b64 %0, [%1], %2;", barrier, 1 + x % 9);
    SEE(pending_count(state));
    ARRIVE(state, "mbarrier.arrive_drop.release.cta.shared::cta.b64 %0, [%1], %2;", barrier, 1 + y % 9); SEE_ALL;
    ARRIVE(state, "mbarrier.arrive.release.cta.shared::cta.b64 %0, [%1], %2;", barrier, 38 - x % 9 - y % 9); SEE_ALL;
    for (int i = 0; i < 2; i++) {
        ARRIVE(state, "mbarrier.arrive.noComplete.shared::cta.b64 %0, [%1], %2;", barrier, 37 - x % 9 - y % 9);
        SEE(pending_count(state));
        SEE_ALL;
        ARRIVE(state, "mbarrier.arrive.shared::cta.b64 %0, [%1];", barrier, 0);
        SEE_ALL;
    })

// expect_tx and complete_tx, before and after the arrivals.
SCRIPT(
    mbarrier_expect_tx, INIT(1); for (int i = 0; i < 4; i++) {
        const unsigned bytes = 2 + mixed(x + i) % 5000, part = 1 + mixed(y + i) % (bytes - 1);
        ARRIVE(state, "mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], %2;", barrier, bytes);
        SEE_ALL;
        DO("mbarrier.complete_tx.shared::cta.b64 [%0], %1;", barrier, part);
        SEE_ALL;
        DO("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;", barrier, bytes - part);
        SEE_ALL;
    })
SCRIPT(
    mbarrier_expect_apart, INIT(2); for (int i = 0; i < 4; i++) {
        const unsigned bytes = 1 + mixed(x + i) % 5000, more = 1 + mixed(y + i) % 5000;
        DO("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;", barrier, bytes);
        ARRIVE(state, "mbarrier.arrive.shared::cta.b64 %0, [%1];", barrier, 0);
        DO("mbarrier.expect_tx.shared::cta.b64 [%0], %1;", barrier, more);
        SEE_ALL;
        DO("mbarrier.complete_tx.shared::cta.b64 [%0], %1;", barrier, bytes + more);
        SEE_ALL;
        ARRIVE(state, "mbarrier.arrive.release.cluster.shared::cta.b64 %0, [%1];", barrier, 0);
        SEE_ALL;
    })
SCRIPT(
    mbarrier_drop_expect_tx, INIT(3); for (int i = 0; i < 2; i++) {
        const unsigned bytes = 1 + mixed(x + i) % 5000;
        ARRIVE(state, "mbarrier.arrive_drop.expect_tx.shared::cta.b64 %0, [%1], %2;", barrier, bytes);
        SEE_ALL;
        DO("mbarrier.complete_tx.shared::cta.b64 [%0], %1;", barrier, bytes);
        SEE_ALL;
        ARRIVE(state, "mbarrier.arrive.release.cta.shared::cta.b64 %0, [%1], %2;", barrier, 2 - i);
        SEE_ALL;
    })

// Waiting for a completed phase: by state and by parity, with and without a time limit.
SCRIPT(
    mbarrier_try_wait, INIT(1 + x % 3); for (int i = 0; i < 4; i++) {
        unsigned done = 0;
        for (unsigned n = 0; n < 1 + x % 3; n++) {
            ARRIVE(state, "mbarrier.arrive.shared::cta.b64 %0, [%1];", barrier, 0);
        }
        asm volatile("{.reg .pred p, q, r, s; mbarrier.try_wait.shared::cta.b64 p, [%1], %2; "
                     "mbarrier.try_wait.acquire.cta.shared::cta.b64 q, [%1], %2, %4; "
                     "mbarrier.try_wait.parity.shared::cta.b64 r, [%1], %3; "
                     "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 s, [%1], %3, %4; "
                     "selp.u32 %0, 1, 0, p; @q add.u32 %0, %0, 2; @r add.u32 %0, %0, 4; @s add.u32 %0, %0, 8;}"
                     : "=r"(done)
                     : "r"(barrier), "l"(state), "r"(i & 1), "r"(100)
                     : "memory");
        SEE(done);
        SEE_ALL;
    })

// The memory of an invalidated barrier is used for data, then for another barrier.
SCRIPT(
    mbarrier_inval, INIT(1 + x % 3); ARRIVE(state, "mbarrier.arrive.shared::cta.b64 %0, [%1];", barrier, 0); SEE_ALL;
    DO("mbarrier.inval.shared::cta.b64 [%0];", barrier, 0); barriers[threadIdx.x] = y; __syncwarp();
    seen = seen * 5 + (unsigned)barriers[threadIdx.x ^ 1]; __syncwarp(); INIT(2 + y % 3); for (int i = 0; i < 7; i++) {
        ARRIVE(state, "mbarrier.arrive.shared::cta.b64 %0, [%1];", barrier, 0);
        SEE_ALL;
    })

// ---- Between threads -----------------------------------------------------------------------------------------------

// Producer and consumer half of a block: two stages, each with a full and an empty barrier.
__global__ void mbarrier_pipeline(unsigned *result, const unsigned *a, const unsigned *, const unsigned *) {
    __shared__ uint64_t full[2], empty[2];
    __shared__ unsigned box[2][TRUTH_BLOCK / 2];
    const unsigned half = TRUTH_BLOCK / 2, t = threadIdx.x % half;
    unsigned good = 1, sum = 0;
    if (threadIdx.x == 0) {
        for (int s = 0; s < 2; s++) {
            mbarrier_init(&full[s], half);
            mbarrier_init(&empty[s], half);
        }
    }
    __syncthreads();
    for (int i = 0; i < 8; i++) {
        const int s = i % 2, phase = i / 2 & 1;
        if (threadIdx.x < half) {
            good &= mbarrier_wait(&empty[s], phase ^ 1);
            box[s][t] = a[(INDEX + 77 * i) % TRUTH_ELEMENTS];
            asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(smem(&full[s])) : "memory");
        } else {
            good &= mbarrier_wait(&full[s], phase);
            sum = sum * 3 + box[s][t ^ 33];
            asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(smem(&empty[s])) : "memory");
        }
    }
    result[INDEX] = sum * 2 + good;
}

// cp.async.mbarrier.arrive, with and without .noinc.
#define COPIES_ARRIVE(name, count, arrive)                                                                             \
    __global__ void name(unsigned *result, const unsigned *a, const unsigned *, const unsigned *) {                    \
        __shared__ unsigned tile[TRUTH_BLOCK];                                                                         \
        __shared__ uint64_t barrier;                                                                                   \
        if (threadIdx.x == 0) {                                                                                        \
            mbarrier_init(&barrier, count);                                                                            \
        }                                                                                                              \
        __syncthreads();                                                                                               \
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4; " arrive ::"r"(smem(&tile[threadIdx.x])),               \
                     "l"(&a[INDEX]), "r"(smem(&barrier))                                                               \
                     : "memory");                                                                                      \
        const unsigned good = mbarrier_wait(&barrier, 0);                                                              \
        result[INDEX] = tile[threadIdx.x ^ 37] * 2 + good;                                                             \
    }
COPIES_ARRIVE(cp_async_mbarrier_arrive_noinc, TRUTH_BLOCK, "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%2];")
COPIES_ARRIVE(cp_async_mbarrier_arrive, TRUTH_BLOCK,
              "cp.async.mbarrier.arrive.shared::cta.b64 [%2]; mbarrier.arrive.shared::cta.b64 _, [%2];")

// Proxy fences: words are written before and read after each fence.
#define PROXY_FENCE(name, fence)                                                                                       \
    __global__ void name(unsigned *result, const unsigned *a, const unsigned *, const unsigned *) {                    \
        __shared__ unsigned tile[TRUTH_BLOCK];                                                                         \
        tile[threadIdx.x] = a[INDEX];                                                                                  \
        asm volatile(fence ::: "memory");                                                                              \
        __syncthreads();                                                                                               \
        result[INDEX] = tile[threadIdx.x ^ 37];                                                                        \
    }
PROXY_FENCE(fence_proxy_async_all, "fence.proxy.async;")
PROXY_FENCE(fence_proxy_async_global, "fence.proxy.async.global;")
PROXY_FENCE(fence_proxy_async_shared, "fence.proxy.async.shared::cta;")
PROXY_FENCE(fence_proxy_alias, "fence.proxy.alias;")
PROXY_FENCE(fence_mbarrier_init, "fence.mbarrier_init.release.cluster;")

#define ENTRY(name, A, B)                                                                                              \
    { #name, (const void *)name, TRUTH_I32, {TRUTH_##A, TRUTH_##B, TRUTH_NONE }, TRUTH_EXACT, 0, nullptr }

extern "C" const struct truth_form truth_barrier[] = {
    ENTRY(mbarrier_arrive, I32, I32),
    ENTRY(mbarrier_arrive_release, I32, I32),
    ENTRY(mbarrier_arrive_generic, I32, I32),
    ENTRY(mbarrier_arrive_count, I32, I32),
    ENTRY(mbarrier_arrive_no_complete, I32, I32),
    ENTRY(mbarrier_most_arrivals, I32, I32),
    ENTRY(mbarrier_arrive_drop, I32, I32),
    ENTRY(mbarrier_arrive_drop_count, I32, I32),
    ENTRY(mbarrier_expect_tx, I32, I32),
    ENTRY(mbarrier_expect_apart, I32, I32),
    ENTRY(mbarrier_drop_expect_tx, I32, I32),
    ENTRY(mbarrier_try_wait, I32, I32),
    ENTRY(mbarrier_inval, I32, I32),
    ENTRY(mbarrier_pipeline, I32, NONE),
    ENTRY(cp_async_mbarrier_arrive_noinc, I32, NONE),
    ENTRY(cp_async_mbarrier_arrive, I32, NONE),
    ENTRY(fence_proxy_async_all, I32, NONE),
    ENTRY(fence_proxy_async_global, I32, NONE),
    ENTRY(fence_proxy_async_shared, I32, NONE),
    ENTRY(fence_proxy_alias, I32, NONE),
    ENTRY(fence_mbarrier_init, I32, NONE),
    {},
};
