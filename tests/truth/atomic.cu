// Atomics and reductions on global and shared memory. The result of each kernel is independent of the order of its
// threads.
#include "forms.cuh"

#define SHARED_ADDRESS(p) static_cast<unsigned>(__cvta_generic_to_shared(p))

// One atomic per thread and element. The returned and the stored value are xored, so that the result depends on both.
#define ATOMIC(name, V, letter, text)                                                                                  \
    __global__ void name(V *result, const V *a, const V *b, const V *) {                                               \
        V *target = &result[INDEX], old;                                                                               \
        *target = a[INDEX];                                                                                            \
        asm volatile("atom.global." text : "=" letter(old) : "l"(target), letter(b[INDEX]) : "memory");                \
        *target = *target * 3 + old;                                                                                   \
    }

ATOMIC(atom_add_u32, unsigned, "r", "add.u32 %0, [%1], %2;")
ATOMIC(atom_add_s32, unsigned, "r", "add.s32 %0, [%1], %2;")
ATOMIC(atom_add_u64, unsigned long long, "l", "add.u64 %0, [%1], %2;")
ATOMIC(atom_min_s32, unsigned, "r", "min.s32 %0, [%1], %2;")
ATOMIC(atom_min_u64, unsigned long long, "l", "min.u64 %0, [%1], %2;")
ATOMIC(atom_max_u32, unsigned, "r", "max.u32 %0, [%1], %2;")
ATOMIC(atom_max_s64, unsigned long long, "l", "max.s64 %0, [%1], %2;")
ATOMIC(atom_inc_u32, unsigned, "r", "inc.u32 %0, [%1], %2;")
ATOMIC(atom_dec_u32, unsigned, "r", "dec.u32 %0, [%1], %2;")
ATOMIC(atom_and_b32, unsigned, "r", "and.b32 %0, [%1], %2;")
ATOMIC(atom_or_b32, unsigned, "r", "or.b32 %0, [%1], %2;")
ATOMIC(atom_xor_b64, unsigned long long, "l", "xor.b64 %0, [%1], %2;")
ATOMIC(atom_exch_b32, unsigned, "r", "exch.b32 %0, [%1], %2;")
ATOMIC(atom_exch_b64, unsigned long long, "l", "exch.b64 %0, [%1], %2;")
ATOMIC(atom_cas_b32, unsigned, "r", "cas.b32 %0, [%1], %2, 77;")
ATOMIC(atom_cas_b64, unsigned long long, "l", "cas.b64 %0, [%1], %2, 77;")
ATOMIC(atom_relaxed_add_u32, unsigned, "r", "relaxed.gpu.add.u32 %0, [%1], %2;")

// fp32 sums are reproducible only if one thread adds to each element.
__global__ void atom_add_f32(float *result, const float *a, const float *b, const float *) {
    result[INDEX] = a[INDEX];
    asm volatile("{.reg .f32 old; atom.global.add.f32 old, [%0], %1;}" ::"l"(&result[INDEX]), "f"(b[INDEX]) : "memory");
}

__global__ void atom_add_f64(double *result, const double *a, const double *b, const double *) {
    result[INDEX] = a[INDEX];
    asm volatile("{.reg .f64 old; atom.global.add.f64 old, [%0], %1;}" ::"l"(&result[INDEX]), "d"(b[INDEX]) : "memory");
}

__global__ void atom_add_f16x2(unsigned *result, const unsigned *a, const unsigned *b, const unsigned *) {
    result[INDEX] = a[INDEX];
    asm volatile("{.reg .b32 old; atom.global.add.noftz.f16x2 old, [%0], %1;}" ::"l"(&result[INDEX]), "r"(b[INDEX])
                 : "memory");
}

// Many threads add to one element; integer sums do not depend on the order.
__global__ void red_contended(unsigned *result, const unsigned *a, const unsigned *, const unsigned *) {
    asm volatile("red.global.add.u32 [%0], %1;" ::"l"(&result[INDEX % 32]), "r"(a[INDEX]) : "memory");
    asm volatile("red.global.max.u32 [%0], %1;" ::"l"(&result[32 + INDEX % 8]), "r"(a[INDEX]) : "memory");
    asm volatile("red.global.xor.b32 [%0], %1;" ::"l"(&result[64]), "r"(a[INDEX]) : "memory");
}

__global__ void atom_shared_contended(unsigned *result, const unsigned *a, const unsigned *, const unsigned *) {
    __shared__ unsigned sums[32];
    if (threadIdx.x < 32) {
        sums[threadIdx.x] = 0;
    }
    __syncthreads();
    asm volatile("{.reg .u32 old; atom.shared.add.u32 old, [%0], %1;}" ::"r"(SHARED_ADDRESS(&sums[threadIdx.x % 5])),
                 "r"(a[INDEX])
                 : "memory");
    asm volatile("red.shared.min.s32 [%0], %1;" ::"r"(SHARED_ADDRESS(&sums[8 + threadIdx.x % 7])), "r"(a[INDEX])
                 : "memory");
    __syncthreads();
    result[INDEX] = sums[threadIdx.x % 32];
}

__global__ void atom_shared_exchange(unsigned *result, const unsigned *a, const unsigned *b, const unsigned *) {
    __shared__ unsigned tile[TRUTH_BLOCK];
    __shared__ unsigned long long wide[TRUTH_BLOCK];
    tile[threadIdx.x] = a[INDEX];
    wide[threadIdx.x] = a[INDEX] & 3;
    unsigned old, compared;
    unsigned long long swapped;
    asm volatile("atom.shared.exch.b32 %0, [%1], %2;"
                 : "=r"(old)
                 : "r"(SHARED_ADDRESS(&tile[threadIdx.x])), "r"(b[INDEX])
                 : "memory");
    asm volatile("atom.shared.cas.b32 %0, [%1], %2, 99;"
                 : "=r"(compared)
                 : "r"(SHARED_ADDRESS(&tile[threadIdx.x])), "r"(a[INDEX])
                 : "memory");
    asm volatile("atom.shared.cas.b64 %0, [%1], 2, 77;"
                 : "=l"(swapped)
                 : "r"(SHARED_ADDRESS(&wide[threadIdx.x]))
                 : "memory");
    result[INDEX] = old ^ compared * 3 ^ tile[threadIdx.x] * 5 ^ (unsigned)(swapped * 7 + wide[threadIdx.x] * 11);
}

// fp32 and bf16 reductions, one thread per element; and a sum in shared memory, which preserves subnormal numbers.
__global__ void red_f32(float *result, const float *a, const float *b, const float *) {
    result[INDEX] = a[INDEX];
    asm volatile("red.global.add.f32 [%0], %1;" ::"l"(&result[INDEX]), "f"(b[INDEX]) : "memory");
}

__global__ void atom_add_bf16x2(unsigned *result, const unsigned *a, const unsigned *b, const unsigned *) {
    result[INDEX] = a[INDEX];
    asm volatile("{.reg .b32 old; atom.global.add.noftz.bf16x2 old, [%0], %1;}" ::"l"(&result[INDEX]), "r"(b[INDEX])
                 : "memory");
}

__global__ void atom_shared_add_f32(float *result, const float *a, const float *b, const float *) {
    __shared__ float tile[TRUTH_BLOCK];
    tile[threadIdx.x] = a[INDEX];
    asm volatile("{.reg .f32 old; atom.shared.add.f32 old, [%0], %1;}" ::"r"(SHARED_ADDRESS(&tile[threadIdx.x])),
                 "f"(b[INDEX])
                 : "memory");
    result[INDEX] = tile[threadIdx.x];
}

// 128-bit elements: one thread of each pair exchanges two neighbouring elements. Some comparisons find a difference in
// one half only.
#define IN_GLOBAL unsigned long long *target = &result[i];
#define IN_SHARED                                                                                                      \
    __shared__ alignas(16) unsigned long long tile[TRUTH_BLOCK];                                                       \
    unsigned long long *target = &tile[threadIdx.x];
#define WIDE(name, PLACE, text)                                                                                        \
    __global__ void name(unsigned long long *result, const unsigned long long *a, const unsigned long long *b,         \
                         const unsigned long long *) {                                                                 \
        const int i = INDEX;                                                                                           \
        unsigned long long low, high;                                                                                  \
        PLACE                                                                                                          \
        if (i % 2)                                                                                                     \
            return;                                                                                                    \
        target[0] = a[i];                                                                                              \
        target[1] = a[i + 1];                                                                                          \
        asm volatile("{.reg .b128 old, from, to; mov.b128 from, {%3, %4}; mov.b128 to, {%5, %6};" text                 \
                     "mov.b128 {%0, %1}, old;}"                                                                        \
                     : "=l"(low), "=l"(high)                                                                           \
                     : "l"(target), "l"(b[i] & 8 ? a[i] : b[i]), "l"(b[i] & 16 ? a[i + 1] : b[i + 1]), "l"(b[i]),      \
                       "l"(~b[i + 1])                                                                                  \
                     : "memory");                                                                                      \
        result[i] = target[0] * 3 + low;                                                                               \
        result[i + 1] = target[1] * 5 + high;                                                                          \
    }

WIDE(atom_exch_b128, IN_GLOBAL, "atom.global.exch.b128 old, [%2], to;")
WIDE(atom_cas_b128, IN_GLOBAL, "atom.global.cas.b128 old, [%2], from, to;")
WIDE(atom_generic_cas_b128, IN_SHARED, "atom.acq_rel.cta.cas.b128 old, [%2], from, to;")
WIDE(atom_shared_exch_b128, IN_SHARED,
     "{.reg .b64 at; cvta.to.shared.u64 at, %2; atom.shared::cta.exch.b128 old, [at], to;}")
WIDE(atom_shared_cas_b128, IN_SHARED,
     "{.reg .b64 at; cvta.to.shared.u64 at, %2; atom.relaxed.gpu.shared.cas.b128 old, [at], from, to;}")

#define ENTRY(name, T, A, B)                                                                                           \
    { #name, (const void *)name, TRUTH_##T, {TRUTH_##A, TRUTH_##B, TRUTH_NONE }, TRUTH_EXACT, 0 }

extern "C" const struct truth_form truth_atomic[] = {
    ENTRY(atom_add_u32, I32, I32, I32),
    ENTRY(atom_add_s32, I32, I32, I32),
    ENTRY(atom_add_u64, I64, I64, I64),
    ENTRY(atom_min_s32, I32, I32, I32),
    ENTRY(atom_min_u64, I64, I64, I64),
    ENTRY(atom_max_u32, I32, I32, I32),
    ENTRY(atom_max_s64, I64, I64, I64),
    ENTRY(atom_inc_u32, I32, I32, I32),
    ENTRY(atom_dec_u32, I32, I32, I32),
    ENTRY(atom_and_b32, I32, I32, I32),
    ENTRY(atom_or_b32, I32, I32, I32),
    ENTRY(atom_xor_b64, I64, I64, I64),
    ENTRY(atom_exch_b32, I32, I32, I32),
    ENTRY(atom_exch_b64, I64, I64, I64),
    ENTRY(atom_cas_b32, I32, I32, I32),
    ENTRY(atom_cas_b64, I64, I64, I64),
    ENTRY(atom_relaxed_add_u32, I32, I32, I32),
    ENTRY(atom_add_f32, F32, F32, F32),
    ENTRY(atom_add_f64, F64, F64, F64),
    ENTRY(atom_add_f16x2, F16X2, F16X2, F16X2),
    ENTRY(red_contended, I32, I32, NONE),
    ENTRY(atom_shared_contended, I32, I32, NONE),
    ENTRY(atom_shared_exchange, I32, I32, I32),
    ENTRY(red_f32, F32, F32, F32),
    ENTRY(atom_add_bf16x2, BF16X2, BF16X2, BF16X2),
    ENTRY(atom_shared_add_f32, F32, F32, F32),
    ENTRY(atom_exch_b128, I64, I64, I64),
    ENTRY(atom_cas_b128, I64, I64, I64),
    ENTRY(atom_generic_cas_b128, I64, I64, I64),
    ENTRY(atom_shared_exch_b128, I64, I64, I64),
    ENTRY(atom_shared_cas_b128, I64, I64, I64),
    {nullptr, nullptr, TRUTH_NONE, {TRUTH_NONE, TRUTH_NONE, TRUTH_NONE}, TRUTH_EXACT, 0},
};
