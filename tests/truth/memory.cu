// Loads, stores, asynchronous copies, barriers and control flow. The result of each kernel is independent of the order
// of its threads.
#include "forms.cuh"

#define SHARED_ADDRESS(p) static_cast<unsigned>(__cvta_generic_to_shared(p))

// Loads and stores of one width; each thread reads shared memory that a neighbouring thread wrote.
#define SHARED_ROUND_TRIP(name, T, V, suffix, letter)                                                                  \
    __global__ void name(V *result, const V *a, const unsigned *, const unsigned *) {                                  \
        __shared__ V tile[TRUTH_BLOCK];                                                                                \
        T value = a[INDEX];                                                                                            \
        asm volatile("st.shared." suffix " [%0], %1;" ::"r"(SHARED_ADDRESS(&tile[threadIdx.x])), letter(value));       \
        __syncthreads();                                                                                               \
        asm volatile("ld.shared." suffix " %0, [%1];"                                                                  \
                     : "=" letter(value)                                                                               \
                     : "r"(SHARED_ADDRESS(&tile[threadIdx.x ^ 37])));                                                  \
        result[INDEX] = value;                                                                                         \
    }

SHARED_ROUND_TRIP(shared_b16, unsigned short, unsigned short, "b16", "h")
SHARED_ROUND_TRIP(shared_b32, unsigned, unsigned, "b32", "r")
SHARED_ROUND_TRIP(shared_f32, float, float, "f32", "f")
SHARED_ROUND_TRIP(shared_b64, unsigned long long, unsigned long long, "b64", "l")
SHARED_ROUND_TRIP(shared_f64, double, double, "f64", "d")

// Loads a type of 8 or 16 bits, which is extended to a 32-bit register.
#define LOAD_WIDENED(name, type, bytes)                                                                                \
    __global__ void name(unsigned *result, const unsigned *a, const unsigned *, const unsigned *) {                    \
        const char *address = reinterpret_cast<const char *>(a) + INDEX * bytes;                                       \
        asm volatile("ld.global." type " %0, [%1];" : "=r"(result[INDEX]) : "l"(address));                             \
    }

LOAD_WIDENED(load_u8, "u8", 1)
LOAD_WIDENED(load_s8, "s8", 1)
LOAD_WIDENED(load_b8, "b8", 1)
LOAD_WIDENED(load_u16, "u16", 2)
LOAD_WIDENED(load_s16, "s16", 2)

// Four words per thread in reverse order, so that a wrong element order changes the result.
#define VECTOR_COPY(name, load, store)                                                                                 \
    __global__ void name(unsigned *result, const unsigned *a, const unsigned *, const unsigned *) {                    \
        if (INDEX >= TRUTH_ELEMENTS / 4) {                                                                             \
            return;                                                                                                    \
        }                                                                                                              \
        unsigned x, y, z, w;                                                                                           \
        asm volatile(load : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "l"(a + 4 * INDEX));                                  \
        asm volatile(store ::"l"(result + 4 * INDEX), "r"(w), "r"(z), "r"(y), "r"(x) : "memory");                      \
    }

VECTOR_COPY(vector_v4, "ld.global.v4.b32 {%0, %1, %2, %3}, [%4];", "st.global.v4.b32 [%0], {%1, %2, %3, %4};")
VECTOR_COPY(vector_v2, "ld.global.v2.b32 {%0, %1}, [%4]; ld.global.v2.b32 {%2, %3}, [%4 + 8];",
            "st.global.v2.b32 [%0], {%1, %2}; st.global.v2.b32 [%0 + 8], {%3, %4};")
VECTOR_COPY(vector_nc, "ld.global.nc.v4.b32 {%0, %1, %2, %3}, [%4];", "st.v4.b32 [%0], {%1, %2, %3, %4};")
VECTOR_COPY(vector_generic, "ld.v4.b32 {%0, %1, %2, %3}, [%4];", "st.global.cs.v4.b32 [%0], {%1, %2, %3, %4};")
VECTOR_COPY(vector_cache_hints, "ld.global.ca.v2.b32 {%0, %1}, [%4]; ld.global.cg.v2.b32 {%2, %3}, [%4 + 8];",
            "st.global.wb.v2.b32 [%0], {%1, %2}; st.global.cg.v2.b32 [%0 + 8], {%3, %4};")
VECTOR_COPY(vector_ordered,
            "ld.relaxed.gpu.global.b32 %0, [%4]; ld.acquire.gpu.global.b32 %1, [%4 + 4]; "
            "ld.volatile.global.b32 %2, [%4 + 8]; ld.weak.global.b32 %3, [%4 + 12];",
            "st.relaxed.gpu.global.b32 [%0], %1; st.release.gpu.global.b32 [%0 + 4], %2; "
            "st.volatile.global.b32 [%0 + 8], %3; st.global.b32 [%0 + 12], %4;")

// cp.async of each size, with wait_group and wait_all.
#define ASYNC_COPY(name, copy, words)                                                                                  \
    __global__ void name(unsigned *result, const unsigned *a, const unsigned *, const unsigned *) {                    \
        __shared__ alignas(16) unsigned tile[TRUTH_BLOCK];                                                             \
        if (threadIdx.x < TRUTH_BLOCK / words) {                                                                       \
            const unsigned *source = a + blockIdx.x * blockDim.x + words * threadIdx.x;                                \
            asm volatile(copy ::"r"(SHARED_ADDRESS(&tile[words * threadIdx.x])), "l"(source) : "memory");              \
        }                                                                                                              \
        asm volatile("cp.async.wait_all;" ::: "memory");                                                               \
        __syncthreads();                                                                                               \
        result[INDEX] = tile[threadIdx.x ^ 37];                                                                        \
    }

ASYNC_COPY(cp_async_ca_4, "cp.async.ca.shared.global [%0], [%1], 4;", 1)
ASYNC_COPY(cp_async_ca_8, "cp.async.ca.shared.global [%0], [%1], 8;", 2)
ASYNC_COPY(cp_async_ca_16, "cp.async.ca.shared.global [%0], [%1], 16;", 4)
ASYNC_COPY(cp_async_cg_16, "cp.async.cg.shared.global [%0], [%1], 16;", 4)
ASYNC_COPY(cp_async_zero_fill, "cp.async.cg.shared.global [%0], [%1], 16, 8;", 4)

__global__ void cp_async_groups(unsigned *result, const unsigned *a, const unsigned *b, const unsigned *) {
    __shared__ unsigned first[TRUTH_BLOCK], second[TRUTH_BLOCK];
    asm volatile(
        "cp.async.ca.shared.global [%0], [%1], 4; cp.async.commit_group;" ::"r"(SHARED_ADDRESS(&first[threadIdx.x])),
        "l"(&a[INDEX])
        : "memory");
    asm volatile(
        "cp.async.ca.shared.global [%0], [%1], 4; cp.async.commit_group;" ::"r"(SHARED_ADDRESS(&second[threadIdx.x])),
        "l"(&b[INDEX])
        : "memory");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    const unsigned sum = first[threadIdx.x ^ 1];
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    result[INDEX] = sum * 3 + second[threadIdx.x ^ 2];
}

// Two named barriers: the first half of the block passes values to the second half without waiting.
__global__ void named_barrier(unsigned *result, const unsigned *a, const unsigned *, const unsigned *) {
    __shared__ unsigned box[TRUTH_BLOCK / 2];
    const unsigned half = blockDim.x / 2;
    if (threadIdx.x < half) {
        box[threadIdx.x] = a[INDEX];
        asm volatile("bar.arrive 1, 256;" ::: "memory");
        result[INDEX] = 1;
    } else {
        asm volatile("bar.sync 1, 256;" ::: "memory");
        result[INDEX] = box[threadIdx.x - half] + 5;
    }
}

__global__ void barrier_reduction(unsigned *result, const unsigned *a, const unsigned *, const unsigned *) {
    const int odd = a[INDEX] & 1;
    result[INDEX] = __syncthreads_count(odd) * 4 + (__syncthreads_and(odd) != 0) * 2 + (__syncthreads_or(odd) != 0);
}

// A dynamically indexed array is stored in local memory.
__global__ void local_array(unsigned *result, const unsigned *a, const unsigned *b, const unsigned *) {
    unsigned slots[16];
    for (int i = 0; i < 16; i++) {
        slots[i] = a[INDEX] + i * 17;
    }
    slots[b[INDEX] & 15] ^= 0x1234;
    slots[(b[INDEX] >> 4) & 15] += 99;
    result[INDEX] = slots[(b[INDEX] >> 8) & 15] ^ slots[(b[INDEX] >> 12) & 15];
}

__constant__ unsigned primes[16] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};
__device__ unsigned offsets[4] = {100, 200, 300, 400};

__global__ void constant_and_global_variables(unsigned *result, const unsigned *a, const unsigned *, const unsigned *) {
    result[INDEX] = primes[a[INDEX] & 15] * 1000 + offsets[(a[INDEX] >> 4) & 3];
}

// Generic addresses that point to shared memory in some lanes and to global memory in others.
__global__ void generic_mixed(unsigned *result, const unsigned *a, const unsigned *b, const unsigned *) {
    __shared__ unsigned tile[TRUTH_BLOCK];
    tile[threadIdx.x] = a[INDEX];
    __syncthreads();
    const unsigned *source = b[INDEX] & 1 ? &tile[threadIdx.x ^ 9] : &a[(INDEX + 77) % TRUTH_ELEMENTS];
    asm volatile("ld.u32 %0, [%1];" : "=r"(result[INDEX]) : "l"(source));
}

__noinline__ __device__ unsigned collatz(unsigned n, unsigned limit) {
    return n <= 1 || limit == 0 ? limit : collatz(n & 1 ? 3 * n + 1 : n / 2, limit - 1);
}

// Calls that recurse to a different depth in each lane.
__global__ void recursive_call(unsigned *result, const unsigned *a, const unsigned *, const unsigned *) {
    result[INDEX] = collatz(a[INDEX] & 0xff, 40);
}

// A loop that each lane leaves at a different time, with a switch in it.
__global__ void divergent_loop(unsigned *result, const unsigned *a, const unsigned *b, const unsigned *) {
    unsigned sum = a[INDEX];
    for (unsigned i = 0; i < (b[INDEX] & 63); i++) {
        switch ((sum >> i % 8) & 3) {
        case 0:
            sum += 17;
            break;
        case 1:
            sum ^= i * 0x9e3779b9u;
            break;
        case 2:
            sum = sum << 1 | sum >> 31;
            break;
        default:
            sum -= i;
            break;
        }
    }
    result[INDEX] = sum;
}

// Fences, prefetches and other hints, and address-space queries.
__global__ void fences_and_hints(unsigned *result, const unsigned *a, const unsigned *, const unsigned *) {
    __shared__ unsigned tile[TRUTH_BLOCK];
    unsigned in_global, in_shared;
    asm volatile("prefetch.global.L2 [%0]; prefetch.global.L1 [%0]; nanosleep.u32 20;" ::"l"(&a[INDEX]));
    tile[threadIdx.x ^ 1] = a[INDEX];
    asm volatile("fence.acq_rel.gpu; fence.sc.cta; membar.gl; membar.cta; membar.sys; bar.warp.sync 0xffffffff;" ::
                     : "memory");
    asm volatile("{.reg .pred p; isspacep.global p, %1; selp.u32 %0, 1, 0, p;}" : "=r"(in_global) : "l"(&a[INDEX]));
    asm volatile("{.reg .pred p; isspacep.shared p, %1; selp.u32 %0, 1, 0, p;}" : "=r"(in_shared) : "l"(&tile[0]));
    result[INDEX] = tile[threadIdx.x] + in_global * 3 + in_shared * 5;
}

__global__ void narrow_stores(unsigned *result, const unsigned *a, const unsigned *, const unsigned *) {
    unsigned char *bytes = reinterpret_cast<unsigned char *>(&result[INDEX]);
    asm volatile("st.global.u8 [%0], %1;" ::"l"(bytes), "r"(a[INDEX]) : "memory");
    asm volatile("st.global.b8 [%0 + 1], %1;" ::"l"(bytes), "h"((unsigned short)(a[INDEX] >> 8)) : "memory");
    asm volatile("st.global.u16 [%0 + 2], %1;" ::"l"(bytes), "h"((unsigned short)~a[INDEX]) : "memory");
}

// Clocks are monotonic.
__global__ void clocks(unsigned *result, const unsigned *, const unsigned *, const unsigned *) {
    unsigned before, after;
    unsigned long long before64, after64, time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(before64));
    asm volatile("mov.u32 %0, %%clock;" : "=r"(before));
    asm volatile("mov.u32 %0, %%clock;" : "=r"(after));
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(after64));
    result[INDEX] = (after64 > before64) + 2 * (after - before < 1000000) + 4 * (time > 0);
}

// Exited lanes do not execute the rest; trap and brkpt are never reached.
__global__ void early_exit(unsigned *result, const unsigned *a, const unsigned *b, const unsigned *) {
    unsigned value;
    asm volatile("{.reg .pred p, never; setp.lt.s32 p, %1, %2; setp.ne.u32 never, %1, %1; @p exit; @never trap; "
                 "@never brkpt; pmevent 1; prefetchu.L1 [%3]; ldu.global.u32 %0, [%3];}"
                 : "=r"(value)
                 : "r"(a[INDEX]), "r"(b[INDEX]), "l"(&a[INDEX]));
    result[INDEX] = value + 1;
}

// A set predicate (ignore-src) suppresses the copy of a lane and writes zeros.
__global__ void cp_async_ignored(unsigned *result, const unsigned *a, const unsigned *b, const unsigned *) {
    __shared__ unsigned tile[TRUTH_BLOCK];
    asm volatile("{.reg .pred p; setp.lt.s32 p, %2, 0; cp.async.ca.shared.global [%0], [%1], 4, p; "
                 "cp.async.wait_all;}" ::"r"(SHARED_ADDRESS(&tile[threadIdx.x])),
                 "l"(&a[INDEX]), "r"(b[INDEX])
                 : "memory");
    __syncthreads();
    result[INDEX] = tile[threadIdx.x ^ 3];
}

// 128-bit elements, through shared memory and in words of 32 bits; one thread of each pair moves two neighbouring
// elements.
__global__ void whole_b128(unsigned long long *result, const unsigned long long *a, const unsigned long long *,
                           const unsigned long long *) {
    __shared__ alignas(16) unsigned long long tile[TRUTH_BLOCK];
    const unsigned half = threadIdx.x & ~1u;
    if (threadIdx.x % 2 == 0)
        asm volatile("{.reg .b128 q, r; .reg .b32 w<4>; ld.global.b128 q, [%0]; mov.b128 {w0, w1, w2, w3}, q; "
                     "mov.b128 r, {w1, w2, w3, w0}; st.shared.b128 [%1], r;}" ::"l"(&a[INDEX]),
                     "r"(SHARED_ADDRESS(&tile[half]))
                     : "memory");
    __syncthreads();
    if (threadIdx.x % 2 == 0)
        asm volatile("{.reg .b128 q; ld.volatile.shared.b128 q, [%1]; st.relaxed.gpu.global.b128 [%0], q; "
                     "ld.acquire.gpu.global.b128 q, [%0]; st.global.b128 [%0], q;}" ::"l"(&result[INDEX]),
                     "r"(SHARED_ADDRESS(&tile[half]))
                     : "memory");
}

#define ENTRY(name, T, A, B)                                                                                           \
    { #name, (const void *)name, TRUTH_##T, {TRUTH_##A, TRUTH_##B, TRUTH_NONE }, TRUTH_EXACT, 0 }

extern "C" const struct truth_form truth_memory[] = {
    ENTRY(shared_b16, I16, I16, NONE),
    ENTRY(shared_b32, I32, I32, NONE),
    ENTRY(shared_f32, F32, F32, NONE),
    ENTRY(shared_b64, I64, I64, NONE),
    ENTRY(shared_f64, F64, F64, NONE),
    ENTRY(load_u8, I32, I32, NONE),
    ENTRY(load_s8, I32, I32, NONE),
    ENTRY(load_b8, I32, I32, NONE),
    ENTRY(load_u16, I32, I32, NONE),
    ENTRY(load_s16, I32, I32, NONE),
    ENTRY(vector_v4, I32, I32, NONE),
    ENTRY(vector_v2, I32, I32, NONE),
    ENTRY(vector_nc, I32, I32, NONE),
    ENTRY(vector_generic, I32, I32, NONE),
    ENTRY(vector_cache_hints, I32, I32, NONE),
    ENTRY(vector_ordered, I32, I32, NONE),
    ENTRY(cp_async_ca_4, I32, I32, NONE),
    ENTRY(cp_async_ca_8, I32, I32, NONE),
    ENTRY(cp_async_ca_16, I32, I32, NONE),
    ENTRY(cp_async_cg_16, I32, I32, NONE),
    ENTRY(cp_async_zero_fill, I32, I32, NONE),
    ENTRY(cp_async_groups, I32, I32, I32),
    ENTRY(named_barrier, I32, I32, NONE),
    ENTRY(barrier_reduction, I32, I32, NONE),
    ENTRY(local_array, I32, I32, I32),
    ENTRY(constant_and_global_variables, I32, I32, NONE),
    ENTRY(generic_mixed, I32, I32, I32),
    ENTRY(recursive_call, I32, I32, NONE),
    ENTRY(divergent_loop, I32, I32, I32),
    ENTRY(fences_and_hints, I32, I32, NONE),
    ENTRY(narrow_stores, I32, I32, NONE),
    ENTRY(clocks, I32, NONE, NONE),
    ENTRY(early_exit, I32, I32, I32),
    ENTRY(cp_async_ignored, I32, I32, I32),
    ENTRY(whole_b128, I64, I64, NONE),
    {nullptr, nullptr, TRUTH_NONE, {TRUTH_NONE, TRUTH_NONE, TRUTH_NONE}, TRUTH_EXACT, 0},
};
