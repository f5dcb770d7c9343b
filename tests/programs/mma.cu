// mma.sync of 8-bit integers and fp8, and of doubles, in every shape of an H200.
#include "program.cuh"

#include <climits>
#include <cstdint>
#include <cuda_fp8.h>

#define REGISTERS_1(r) "r"(r[0])
#define REGISTERS_2(r) "r"(r[0]), "r"(r[1])
#define REGISTERS_4(r) "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])

// A warp's fragments of bytes, four per register: the registers of A and then of B are loaded from memory unchanged.
#define BYTES(name, form, sum_type, letter, a_places, a_list, b_places, b_list)                                        \
    __global__ void name(const uint32_t *a, const uint32_t *b, const sum_type *c, sum_type *d, int of_a, int of_b) {   \
        uint32_t x[4], y[2];                                                                                           \
        for (int r = 0; r < of_a; r++)                                                                                 \
            x[r] = a[r * 32 + threadIdx.x];                                                                            \
        for (int r = 0; r < of_b; r++)                                                                                 \
            y[r] = b[r * 32 + threadIdx.x];                                                                            \
        sum_type s[4];                                                                                                 \
        for (int i = 0; i < 4; i++)                                                                                    \
            s[i] = c[i * 32 + threadIdx.x];                                                                            \
        asm volatile("mma.sync.aligned." form " {%0, %1, %2, %3}, " a_places ", " b_places ", {%0, %1, %2, %3};"       \
                     : "+" letter(s[0]), "+" letter(s[1]), "+" letter(s[2]), "+" letter(s[3])                          \
                     : a_list(x), b_list(y));                                                                          \
        for (int i = 0; i < 4; i++)                                                                                    \
            d[i * 32 + threadIdx.x] = s[i];                                                                            \
    }
#define WIDE "{%4, %5, %6, %7}", REGISTERS_4, "{%8, %9}", REGISTERS_2
#define NARROW "{%4, %5}", REGISTERS_2, "{%6}", REGISTERS_1
#define CALL(macro, ...) macro(__VA_ARGS__)

CALL(BYTES, s8_s8, "m16n8k32.row.col.s32.s8.s8.s32", int, "r", WIDE)
CALL(BYTES, s8_u8, "m16n8k32.row.col.s32.s8.u8.s32", int, "r", WIDE)
CALL(BYTES, u8_s8, "m16n8k32.row.col.s32.u8.s8.s32", int, "r", WIDE)
CALL(BYTES, u8_u8, "m16n8k32.row.col.s32.u8.u8.s32", int, "r", WIDE)
CALL(BYTES, clamped, "m16n8k32.row.col.satfinite.s32.u8.s8.s32", int, "r", WIDE)
CALL(BYTES, s8_narrow, "m16n8k16.row.col.s32.s8.s8.s32", int, "r", NARROW)
CALL(BYTES, u8_narrow, "m16n8k16.row.col.s32.u8.u8.s32", int, "r", NARROW)
CALL(BYTES, e4m3, "m16n8k32.row.col.f32.e4m3.e4m3.f32", float, "f", WIDE)
CALL(BYTES, e5m2, "m16n8k32.row.col.f32.e5m2.e5m2.f32", float, "f", WIDE)
CALL(BYTES, e4m3_e5m2, "m16n8k32.row.col.f32.e4m3.e5m2.f32", float, "f", WIDE)
CALL(BYTES, e4m3_narrow, "m16n8k16.row.col.f32.e4m3.e4m3.f32", float, "f", NARROW)

__global__ void s8_least(const uint32_t *a, const uint32_t *b, const int *c, int *d) {
    int s[2] = {c[threadIdx.x], c[32 + threadIdx.x]};
    asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+r"(s[0]), "+r"(s[1])
                 : "r"(a[threadIdx.x]), "r"(b[threadIdx.x]));
    d[threadIdx.x] = s[0], d[32 + threadIdx.x] = s[1];
}

// The value of a byte: signed, unsigned, e4m3 or e5m2.
enum Kind { S8, U8, E4M3, E5M2 };
static double value(uint8_t byte, Kind kind) {
    if (kind == S8)
        return (int8_t)byte;
    if (kind == U8)
        return byte;
    return (float)__half(__nv_cvt_fp8_to_halfraw(byte, kind == E4M3 ? __NV_E4M3 : __NV_E5M2));
}

// All byte values; of fp8 only small integers, whose sums are exact in any order.
static uint8_t some_byte(unsigned *state, Kind kind) {
    *state = *state * 1664525u + 1013904223u;
    const unsigned byte = *state >> 24;
    if (kind == S8 || kind == U8)
        return byte;
    return __nv_cvt_float_to_fp8((float)(byte % 9) - 4, __NV_SATFINITE, kind == E4M3 ? __NV_E4M3 : __NV_E5M2);
}

template <typename SUM>
static void bytes(void (*kernel)(const uint32_t *, const uint32_t *, const SUM *, SUM *, int, int), int m, int k,
                  Kind kind_a, Kind kind_b, SUM first, bool clamps = false) {
    const int of_a = m * k / 128, of_b = k / 16, width = 4;
    std::vector<uint32_t> a(of_a * 32), b(of_b * 32);
    std::vector<SUM> c(4 * 32, first);
    std::vector<std::vector<double>> left(m, std::vector<double>(k)), right(k, std::vector<double>(8));
    unsigned state = 7;
    for (int r = 0; r < of_a; r++)
        for (int lane = 0; lane < 32; lane++)
            for (int e = 0; e < width; e++) {
                const uint8_t byte = some_byte(&state, kind_a);
                const int row = lane / 4 + 8 * (r % 2), column = lane % 4 * width + 16 * (r / 2) + e;
                a[r * 32 + lane] |= (uint32_t)byte << 8 * e;
                left[row][column] = value(byte, kind_a);
            }
    for (int r = 0; r < of_b; r++)
        for (int lane = 0; lane < 32; lane++)
            for (int e = 0; e < width; e++) {
                const uint8_t byte = some_byte(&state, kind_b);
                b[r * 32 + lane] |= (uint32_t)byte << 8 * e;
                right[lane % 4 * width + 16 * r + e][lane / 4] = value(byte, kind_b);
            }
    SUM *d = zeros<SUM>(4 * 32);
    if (m == 8)
        s8_least<<<1, 32>>>(to_device(a), to_device(b), (const int *)to_device(c), (int *)d);
    else
        kernel<<<1, 32>>>(to_device(a), to_device(b), to_device(c), d, of_a, of_b);
    const std::vector<SUM> result = to_host(d, 4 * 32);
    for (int lane = 0; lane < 32; lane++) {
        for (int i = 0; i < m / 4; i++) {
            const int row = lane / 4 + 8 * (i / 2), column = lane % 4 * 2 + i % 2;
            double sum = (double)first;
            for (int j = 0; j < k; j++)
                sum += left[row][j] * right[j][column];
            if (clamps)
                sum = sum > INT_MAX ? INT_MAX : sum < INT_MIN ? INT_MIN : sum;
            const SUM wanted = std::is_same<SUM, int>::value ? (SUM)(int32_t)(uint32_t)(int64_t)sum : (SUM)sum;
            EXPECT(result[i * 32 + lane] == wanted);
        }
    }
}

// A warp's fragments of doubles: A of m / 8 * k / 4 registers, B of k / 4, C and D of m / 4.
template <int M, int K>
__global__ void doubles(const double *a, const double *b, double *d) {
    double x[8], y[4], s[4];
    for (int r = 0; r < M / 8 * K / 4; r++)
        x[r] = a[r * 32 + threadIdx.x];
    for (int r = 0; r < K / 4; r++)
        y[r] = b[r * 32 + threadIdx.x];
    for (int i = 0; i < M / 4; i++)
        s[i] = d[i * 32 + threadIdx.x];
#define SUMS "+d"(s[0]), "+d"(s[1]), "+d"(s[2]), "+d"(s[3])
    if constexpr (M == 8)
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                     : "+d"(s[0]), "+d"(s[1])
                     : "d"(x[0]), "d"(y[0]));
    else if constexpr (K == 4)
        asm volatile(
            "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
            : SUMS
            : "d"(x[0]), "d"(x[1]), "d"(y[0]));
    else if constexpr (K == 8)
        asm volatile(
            "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, "
            "%2, %3};"
            : SUMS
            : "d"(x[0]), "d"(x[1]), "d"(x[2]), "d"(x[3]), "d"(y[0]), "d"(y[1]));
    else
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, "
            "{%12, %13, %14, %15}, {%0, %1, %2, %3};"
            : SUMS
            : "d"(x[0]), "d"(x[1]), "d"(x[2]), "d"(x[3]), "d"(x[4]), "d"(x[5]), "d"(x[6]), "d"(x[7]), "d"(y[0]),
              "d"(y[1]), "d"(y[2]), "d"(y[3]));
    for (int i = 0; i < M / 4; i++)
        d[i * 32 + threadIdx.x] = s[i];
}

template <int M, int K>
static void of_doubles() {
    const int halves = M / 8, of_a = halves * K / 4;
    const std::vector<float> x = whole_numbers(of_a * 32, 1000), y = whole_numbers(K / 4 * 32, 900);
    double left[M][K], right[K][8];
    for (int i = 0; i < of_a * 32; i++)
        left[i % 32 / 4 + 8 * (i / 32 % halves)][i % 4 + 4 * (i / 32 / halves)] = x[i];
    for (int i = 0; i < K / 4 * 32; i++)
        right[i % 4 + 4 * (i / 32)][i % 32 / 4] = y[i];
    double *d = to_device(std::vector<double>(M / 4 * 32, 0.5));
    doubles<M, K><<<1, 32>>>(to_device(std::vector<double>(x.begin(), x.end())),
                             to_device(std::vector<double>(y.begin(), y.end())), d);
    const std::vector<double> result = to_host(d, M / 4 * 32);
    for (int lane = 0; lane < 32; lane++) {
        for (int i = 0; i < M / 4; i++) {
            double sum = 0.5;
            for (int k = 0; k < K; k++)
                sum += left[lane / 4 + 8 * (i / 2)][k] * right[k][lane % 4 * 2 + i % 2];
            EXPECT(result[i * 32 + lane] == sum);
        }
    }
}

int main() {
    bytes(s8_s8, 16, 32, S8, S8, 5);
    bytes(s8_u8, 16, 32, S8, U8, -5);
    bytes(u8_s8, 16, 32, U8, S8, INT_MAX - 1000);
    bytes(u8_u8, 16, 32, U8, U8, INT_MAX - 1000);
    bytes(clamped, 16, 32, U8, S8, INT_MAX - 1000, true);
    bytes(clamped, 16, 32, U8, S8, INT_MIN + 1000, true);
    bytes(s8_narrow, 16, 16, S8, S8, 1);
    bytes(u8_narrow, 16, 16, U8, U8, 1);
    bytes(s8_s8, 8, 16, S8, S8, 3);
    bytes(e4m3, 16, 32, E4M3, E4M3, 2.0f);
    bytes(e5m2, 16, 32, E5M2, E5M2, 2.0f);
    bytes(e4m3_e5m2, 16, 32, E4M3, E5M2, 2.0f);
    bytes(e4m3_narrow, 16, 16, E4M3, E4M3, 2.0f);
    of_doubles<8, 4>();
    of_doubles<16, 4>();
    of_doubles<16, 8>();
    of_doubles<16, 16>();
    return 0;
}
