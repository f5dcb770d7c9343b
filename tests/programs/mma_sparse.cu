// mma.sp with a sparse A, in every shape, type and metadata order of an H200.
#include "program.cuh"

#include <climits>
#include <cmath>
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#define SPARSE_2_OPERANDS(x, y) "r"(x[0]), "r"(x[1]), "r"(y[0]), "r"(y[1])
#define SPARSE_4_OPERANDS(x, y) "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3])

// A warp's registers of A, of B and of metadata are loaded from memory unchanged, lane by lane; A has the same number
// of registers as B.
#define SPARSE_KERNEL(name, form, selector, registers, sums, sum_type, places, ...)                                    \
    __global__ void name(const uint32_t *a, const uint32_t *b, const uint32_t *e, sum_type *d) {                       \
        uint32_t x[registers], y[registers];                                                                           \
        sum_type s[sums];                                                                                              \
        for (int r = 0; r < registers; r++) {                                                                          \
            x[r] = a[r * 32 + threadIdx.x];                                                                            \
            y[r] = b[r * 32 + threadIdx.x];                                                                            \
        }                                                                                                              \
        for (int r = 0; r < sums; r++)                                                                                 \
            s[r] = d[r * 32 + threadIdx.x];                                                                            \
        asm volatile("mma." form " " places ", " #selector ";"                                                         \
                     : __VA_ARGS__                                                                                     \
                     : SPARSE_##registers##_OPERANDS(x, y), "r"(e[threadIdx.x]));                                      \
        for (int r = 0; r < sums; r++)                                                                                 \
            d[r * 32 + threadIdx.x] = s[r];                                                                            \
    }
#define SPARSE_SUMS(letter) "+" letter(s[0]), "+" letter(s[1]), "+" letter(s[2]), "+" letter(s[3])
#define SPARSE_2(name, form, selector, sum_type, letter)                                                               \
    SPARSE_KERNEL(name, form, selector, 2, 4, sum_type, "{%0, %1, %2, %3}, {%4, %5}, {%6, %7}, {%0, %1, %2, %3}, %8",  \
                  SPARSE_SUMS(letter))
#define SPARSE_4(name, form, selector, sum_type, letter)                                                               \
    SPARSE_KERNEL(name, form, selector, 4, 4, sum_type,                                                                \
                  "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12",                     \
                  SPARSE_SUMS(letter))
#define SPARSE_2_HALVES(name, form, selector)                                                                          \
    SPARSE_KERNEL(name, form, selector, 2, 2, uint32_t, "{%0, %1}, {%2, %3}, {%4, %5}, {%0, %1}, %6", "+r"(s[0]),      \
                  "+r"(s[1]))
#define SPARSE_4_HALVES(name, form, selector)                                                                          \
    SPARSE_KERNEL(name, form, selector, 4, 2, uint32_t, "{%0, %1}, {%2, %3, %4, %5}, {%6, %7, %8, %9}, {%0, %1}, %10", \
                  "+r"(s[0]), "+r"(s[1]))

#define SP "sp.sync.aligned."
#define ORDERED "sp::ordered_metadata.sync.aligned."
SPARSE_2(f16_k16_0, SP "m16n8k16.row.col.f32.f16.f16.f32", 0, float, "f")
SPARSE_2(f16_k16_1, ORDERED "m16n8k16.row.col.f32.f16.f16.f32", 1, float, "f")
SPARSE_2(f16_k16_2, SP "m16n8k16.row.col.f32.f16.f16.f32", 2, float, "f")
SPARSE_2(bf16_k16_3, ORDERED "m16n8k16.row.col.f32.bf16.bf16.f32", 3, float, "f")
SPARSE_4(f16_k32_0, ORDERED "m16n8k32.row.col.f32.f16.f16.f32", 0, float, "f")
SPARSE_4(bf16_k32_1, SP "m16n8k32.row.col.f32.bf16.bf16.f32", 1, float, "f")
SPARSE_2(tf32_k8_0, SP "m16n8k8.row.col.f32.tf32.tf32.f32", 0, float, "f")
SPARSE_2(tf32_k8_3, ORDERED "m16n8k8.row.col.f32.tf32.tf32.f32", 3, float, "f")
SPARSE_4(tf32_k16_0, ORDERED "m16n8k16.row.col.f32.tf32.tf32.f32", 0, float, "f")
SPARSE_4(tf32_k16_1, SP "m16n8k16.row.col.f32.tf32.tf32.f32", 1, float, "f")
SPARSE_2_HALVES(halves_k16_1, SP "m16n8k16.row.col.f16.f16.f16.f16", 1)
SPARSE_4_HALVES(halves_k32_1, ORDERED "m16n8k32.row.col.f16.f16.f16.f16", 1)
SPARSE_2(s8_u8_k32_0, ORDERED "m16n8k32.row.col.s32.s8.u8.s32", 0, int, "r")
SPARSE_2(u8_s8_k32_1, SP "m16n8k32.row.col.s32.u8.s8.s32", 1, int, "r")
SPARSE_4(s8_k64, ORDERED "m16n8k64.row.col.s32.s8.s8.s32", 0, int, "r")
SPARSE_4(u8_k64_clamped, SP "m16n8k64.row.col.satfinite.s32.u8.u8.s32", 0, int, "r")
SPARSE_2(s4_u4_k64_0, ORDERED "m16n8k64.row.col.s32.s4.u4.s32", 0, int, "r")
SPARSE_2(u4_s4_k64_1, SP "m16n8k64.row.col.s32.u4.s4.s32", 1, int, "r")
SPARSE_4(s4_k128, ORDERED "m16n8k128.row.col.s32.s4.s4.s32", 0, int, "r")
SPARSE_4(u4_s4_k128_clamped, SP "m16n8k128.row.col.satfinite.s32.u4.s4.s32", 0, int, "r")
SPARSE_4(e4m3_k64, ORDERED "m16n8k64.row.col.f32.e4m3.e4m3.f32", 0, float, "f")
SPARSE_4(e5m2_e4m3_k64, SP "m16n8k64.row.col.f32.e5m2.e4m3.f32", 0, float, "f")

enum Kind { F16, BF16, TF32, S8, U8, S4, U4, E4M3, E5M2 };

static int bits_of(Kind kind) {
    return kind == TF32 ? 32 : kind == F16 || kind == BF16 ? 16 : kind == S4 || kind == U4 ? 4 : 8;
}

template <typename TO, typename FROM>
static TO as(FROM from) {
    TO to = {};
    memcpy(&to, &from, sizeof from);
    return to;
}

static uint32_t encoded(int value, Kind kind) {
    switch (kind) {
    case F16:
        return as<uint32_t>(__half((float)value));
    case BF16:
        return as<uint32_t>(__nv_bfloat16((float)value));
    case TF32:
        return as<uint32_t>((float)value);
    case E4M3:
        return __nv_cvt_float_to_fp8((float)value, __NV_SATFINITE, __NV_E4M3);
    case E5M2:
        return __nv_cvt_float_to_fp8((float)value, __NV_SATFINITE, __NV_E5M2);
    default:
        return (uint32_t)value & ((1u << bits_of(kind)) - 1);
    }
}

static unsigned drawn(unsigned *state, unsigned below) {
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % below;
}

// Any integers; of other types small integers, whose sums are exact in any order.
static int some_number(unsigned *state, Kind kind) {
    switch (kind) {
    case S8:
        return (int)drawn(state, 256) - 128;
    case U8:
        return (int)drawn(state, 256);
    case S4:
        return (int)drawn(state, 16) - 8;
    case U4:
        return (int)drawn(state, 16);
    default:
        return (int)drawn(state, 9) - 4;
    }
}

// A sparse matrix and its registers. Chunks have four elements, two of tf32, or four pairs of 4-bit integers; half of
// each chunk is nonzero.
struct Sparse {
    std::vector<std::vector<int>> dense;
    std::vector<uint32_t> registers, metadata;
};

static Sparse sparse(int k, Kind kind, int selector, bool ordered, unsigned *state) {
    const int bits = bits_of(kind), width = 32 / bits, chunk = bits == 32 ? 2 : bits == 4 ? 8 : 4;
    const bool large = k * bits == 512, pairs = bits == 4;
    Sparse made = {std::vector<std::vector<int>>(16, std::vector<int>(k)),
                   std::vector<uint32_t>(k / 2 * 16 * bits / 32), std::vector<uint32_t>(32)};
    for (int row = 0; row < 16; row++) {
        for (int c = 0; c < k / chunk; c++) {
            unsigned first = drawn(state, 4), second = (first + 1 + drawn(state, 3)) % 4;
            if (bits == 32)
                first = first & 2, second = first + 1; // halves of an element
            if (ordered && first > second)
                std::swap(first, second);
            for (int i = 0; i < chunk / 2; i++) {
                const unsigned position = (pairs ? i / 2 : i) ? second : first;
                const int value = some_number(state, kind), kept = c * chunk / 2 + i;
                made.dense[row][c * chunk + (bits == 32 ? position / 2
                                             : pairs    ? 2 * position + i % 2
                                                        : position)] = value;
                made.registers[(row / 8 + kept / (4 * width) * 2) * 32 + row % 8 * 4 + kept / width % 4] |=
                    encoded(value, kind) << kept % width * bits;
            }
            const int group = row % 8 * 4;
            if (bits >= 16)
                made.metadata[group + (large ? 2 * selector + c / 4 : selector)] |= (first | second << 2)
                                                                                    << (row / 8 * 16 + c % 4 * 4);
            else
                made.metadata[group + row / 8 + (large ? c / 8 * 2 : 2 * selector)] |= (first | second << 2)
                                                                                       << c % 8 * 4;
        }
    }
    return made;
}

// Packs accumulators into registers and back; fp16 has two per register.
template <typename SUM>
static double sum_in(const std::vector<SUM> &d, int row, int column) {
    const int lane = row % 8 * 4 + column / 2;
    if constexpr (std::is_same<SUM, uint32_t>::value)
        return (float)as<__half>((uint16_t)(d[row / 8 * 32 + lane] >> column % 2 * 16));
    else
        return d[(row / 8 * 2 + column % 2) * 32 + lane];
}

template <typename SUM>
static void multiplies(void (*kernel)(const uint32_t *, const uint32_t *, const uint32_t *, SUM *), int k, Kind kind_a,
                       Kind kind_b, int selector, bool ordered, SUM first, bool clamps = false) {
    unsigned state = 17;
    const Sparse a = sparse(k, kind_a, selector, ordered, &state);
    const int bits = bits_of(kind_b), width = 32 / bits;
    std::vector<std::vector<int>> right(k, std::vector<int>(8));
    std::vector<uint32_t> b(k * 8 * bits / 32);
    for (int row = 0; row < k; row++) {
        for (int column = 0; column < 8; column++) {
            right[row][column] = some_number(&state, kind_b);
            b[row / (4 * width) * 32 + column * 4 + row / width % 4] |= encoded(right[row][column], kind_b)
                                                                        << row % width * bits;
        }
    }
    const size_t sums = std::is_same<SUM, uint32_t>::value ? 2 * 32 : 4 * 32;
    SUM *d = to_device(std::vector<SUM>(sums, first));
    kernel<<<1, 32>>>(to_device(a.registers), to_device(b), to_device(a.metadata), d);
    const std::vector<SUM> result = to_host(d, sums), before(sums, first);
    for (int row = 0; row < 16; row++) {
        for (int column = 0; column < 8; column++) {
            double sum = sum_in(before, row, column);
            for (int i = 0; i < k; i++)
                sum += a.dense[row][i] * right[i][column];
            if (clamps)
                sum = sum > INT_MAX ? INT_MAX : sum < INT_MIN ? INT_MIN : sum;
            if (std::is_same<SUM, int>::value)
                sum = (int)(uint32_t)(int64_t)sum;
            EXPECT(sum_in(result, row, column) == sum);
        }
    }
}

// Elements of B that correspond to zeros of A have no effect: NaN there does not reach the sum.
static void leaves_out() {
    const uint32_t ones = 0x3c003c00, nans = 0x7e007e00;
    std::vector<uint32_t> b(2 * 32);
    for (int i = 0; i < 2 * 32; i++)
        b[i] = i % 2 ? nans : ones; // the third and fourth of each four rows
    float *d = to_device(std::vector<float>(4 * 32, 1.0f));
    f16_k16_0<<<1, 32>>>(to_device(std::vector<uint32_t>(2 * 32, ones)), to_device(b),
                         to_device(std::vector<uint32_t>(32, 0x44444444)), d);
    for (const float sum : to_host(d, 4 * 32))
        EXPECT(sum == 9.0f);
}

int main() {
    multiplies(f16_k16_0, 16, F16, F16, 0, false, 2.0f);
    multiplies(f16_k16_1, 16, F16, F16, 1, true, 2.0f);
    multiplies(f16_k16_2, 16, F16, F16, 2, false, 2.0f);
    multiplies(bf16_k16_3, 16, BF16, BF16, 3, true, 2.0f);
    multiplies(f16_k32_0, 32, F16, F16, 0, true, -2.0f);
    multiplies(bf16_k32_1, 32, BF16, BF16, 1, false, -2.0f);
    multiplies(tf32_k8_0, 8, TF32, TF32, 0, false, 0.5f);
    multiplies(tf32_k8_3, 8, TF32, TF32, 3, true, 0.5f);
    multiplies(tf32_k16_0, 16, TF32, TF32, 0, true, 0.5f);
    multiplies(tf32_k16_1, 16, TF32, TF32, 1, false, 0.5f);
    multiplies(halves_k16_1, 16, F16, F16, 1, false, 0x3c004400u);
    multiplies(halves_k32_1, 32, F16, F16, 1, true, 0x3c004400u);
    multiplies(s8_u8_k32_0, 32, S8, U8, 0, true, INT_MIN + 1000);
    multiplies(u8_s8_k32_1, 32, U8, S8, 1, false, 7);
    multiplies(s8_k64, 64, S8, S8, 0, true, 7);
    multiplies(u8_k64_clamped, 64, U8, U8, 0, false, INT_MAX - 500000, true);
    multiplies(s4_u4_k64_0, 64, S4, U4, 0, true, 7);
    multiplies(u4_s4_k64_1, 64, U4, S4, 1, false, 7);
    multiplies(s4_k128, 128, S4, S4, 0, true, INT_MAX - 10);
    multiplies(u4_s4_k128_clamped, 128, U4, S4, 0, false, INT_MIN + 100, true);
    multiplies(e4m3_k64, 64, E4M3, E4M3, 0, true, 3.0f);
    multiplies(e5m2_e4m3_k64, 64, E5M2, E4M3, 0, false, 3.0f);
    leaves_out();
    return 0;
}
