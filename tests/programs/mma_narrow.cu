// mma.sync and nvcuda::wmma of 4-bit integers and of single bits, in every shape.
#include "program.cuh"

#include <climits>
#include <cstdint>
#include <mma.h>

#define WORDS_1(r) "r"(r[0])
#define WORDS_2(r) "r"(r[0]), "r"(r[1])
#define WORDS_4(r) "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])

// A warp's fragments: the registers of A, of B, then of C and D are loaded from memory unchanged, lane by lane.
#define PRODUCT_KERNEL(name, form, of_a, of_b, of_c, places, a_list, b_list, ...)                                      \
    __global__ void name(const uint32_t *a, const uint32_t *b, int *d) {                                               \
        uint32_t x[of_a], y[of_b];                                                                                     \
        int s[of_c];                                                                                                   \
        for (int r = 0; r < of_a; r++)                                                                                 \
            x[r] = a[r * 32 + threadIdx.x];                                                                            \
        for (int r = 0; r < of_b; r++)                                                                                 \
            y[r] = b[r * 32 + threadIdx.x];                                                                            \
        for (int r = 0; r < of_c; r++)                                                                                 \
            s[r] = d[r * 32 + threadIdx.x];                                                                            \
        asm volatile("mma.sync.aligned." form " " places ";" : __VA_ARGS__ : a_list(x), b_list(y));                    \
        for (int r = 0; r < of_c; r++)                                                                                 \
            d[r * 32 + threadIdx.x] = s[r];                                                                            \
    }
#define FOUR_SUMS "+r"(s[0]), "+r"(s[1]), "+r"(s[2]), "+r"(s[3])
#define WIDE_PRODUCT(name, form)                                                                                       \
    PRODUCT_KERNEL(name, form, 4, 2, 4, "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}", WORDS_4,     \
                   WORDS_2, FOUR_SUMS)
#define NARROW_PRODUCT(name, form)                                                                                     \
    PRODUCT_KERNEL(name, form, 2, 1, 4, "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3}", WORDS_2, WORDS_1,        \
                   FOUR_SUMS)
#define LEAST_PRODUCT(name, form)                                                                                      \
    PRODUCT_KERNEL(name, form, 1, 1, 2, "{%0, %1}, {%2}, {%3}, {%0, %1}", WORDS_1, WORDS_1, "+r"(s[0]), "+r"(s[1]))

WIDE_PRODUCT(s4_s4, "m16n8k64.row.col.s32.s4.s4.s32")
WIDE_PRODUCT(s4_u4, "m16n8k64.row.col.s32.s4.u4.s32")
WIDE_PRODUCT(u4_s4_clamped, "m16n8k64.row.col.satfinite.s32.u4.s4.s32")
WIDE_PRODUCT(u4_u4_clamped, "m16n8k64.row.col.satfinite.s32.u4.u4.s32")
NARROW_PRODUCT(s4_narrow, "m16n8k32.row.col.s32.s4.s4.s32")
NARROW_PRODUCT(u4_narrow, "m16n8k32.row.col.s32.u4.s4.s32")
LEAST_PRODUCT(s4_least, "m8n8k32.row.col.s32.s4.s4.s32")
LEAST_PRODUCT(u4_least, "m8n8k32.row.col.s32.u4.u4.s32")
WIDE_PRODUCT(and_wide, "m16n8k256.row.col.s32.b1.b1.s32.and.popc")
WIDE_PRODUCT(xor_wide, "m16n8k256.row.col.s32.b1.b1.s32.xor.popc")
NARROW_PRODUCT(and_narrow, "m16n8k128.row.col.s32.b1.b1.s32.and.popc")
NARROW_PRODUCT(xor_narrow, "m16n8k128.row.col.s32.b1.b1.s32.xor.popc")
LEAST_PRODUCT(and_least, "m8n8k128.row.col.s32.b1.b1.s32.and.popc")
LEAST_PRODUCT(xor_least, "m8n8k128.row.col.s32.b1.b1.s32.xor.popc")

enum Kind { S4, U4, BITS };
enum Product { TIMES, AND, XOR };

static int value(unsigned bits, Kind kind) {
    return kind == S4 && bits >= 8 ? (int)bits - 16 : (int)bits;
}

static std::vector<uint32_t> random_words(size_t count, unsigned *state) {
    std::vector<uint32_t> words(count);
    for (uint32_t &word : words) {
        *state = *state * 1664525u + 1013904223u;
        word = *state >> 16;
        *state = *state * 1664525u + 1013904223u;
        word |= *state & 0xffff0000u;
    }
    return words;
}

static int product(int x, int y, Product how) {
    return how == TIMES ? x * y : how == AND ? x & y : x ^ y;
}

static int wanted(int64_t sum, bool clamps) {
    if (clamps)
        sum = sum > INT_MAX ? INT_MAX : sum < INT_MIN ? INT_MIN : sum;
    return (int)(uint32_t)(uint64_t)sum;
}

static void fragments(void (*kernel)(const uint32_t *, const uint32_t *, int *), int m, int k, Kind kind_a, Kind kind_b,
                      int first, Product how = TIMES, bool clamps = false) {
    const int width = kind_a == BITS ? 32 : 8, bits = 32 / width, of_a = m / 8 * k / (4 * width),
              of_b = k / (4 * width);
    const unsigned element = (1u << bits) - 1;
    unsigned state = 11;
    const std::vector<uint32_t> a = random_words(of_a * 32, &state), b = random_words(of_b * 32, &state);
    std::vector<std::vector<int>> left(m, std::vector<int>(k)), right(k, std::vector<int>(8));
    for (int lane = 0; lane < 32; lane++) {
        for (int i = 0; i < of_a * width; i++) {
            const int r = i / width, halves = m / 8;
            left[lane / 4 + 8 * (r % halves)][lane % 4 * width + i % width + 4 * width * (r / halves)] =
                value(a[r * 32 + lane] >> i % width * bits & element, kind_a);
        }
        for (int i = 0; i < of_b * width; i++)
            right[lane % 4 * width + i % width + 4 * width * (i / width)][lane / 4] =
                value(b[i / width * 32 + lane] >> i % width * bits & element, kind_b);
    }
    int *d = to_device(std::vector<int>(m / 4 * 32, first));
    kernel<<<1, 32>>>(to_device(a), to_device(b), d);
    const std::vector<int> result = to_host(d, m / 4 * 32);
    for (int lane = 0; lane < 32; lane++) {
        for (int i = 0; i < m / 4; i++) {
            int64_t sum = first;
            for (int j = 0; j < k; j++)
                sum += product(left[lane / 4 + 8 * (i / 2)][j], right[j][lane % 4 * 2 + i % 2], how);
            EXPECT(result[i * 32 + lane] == wanted(sum, clamps));
        }
    }
}

namespace wmma = nvcuda::wmma;
namespace narrow = nvcuda::wmma::experimental;

// A tile of A row-major, B column-major, with a stride longer than the tile; C and D column-major.
template <int K, typename T, Product HOW>
__global__ void tile(const uint32_t *a, const uint32_t *b, const int *c, int *d, int line) {
    wmma::fragment<wmma::matrix_a, 8, 8, K, T, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 8, 8, K, T, wmma::col_major> y;
    wmma::fragment<wmma::accumulator, 8, 8, K, int> s;
    wmma::load_matrix_sync(x, a, line);
    wmma::load_matrix_sync(y, b, line);
    wmma::load_matrix_sync(s, c, 8, wmma::mem_col_major);
    if constexpr (HOW == TIMES)
        wmma::mma_sync(s, x, y, s, true);
    else
        wmma::bmma_sync(s, x, y, s, HOW == AND ? narrow::bmmaBitOpAND : narrow::bmmaBitOpXOR);
    wmma::store_matrix_sync(d, s, 12, wmma::mem_col_major);
}

template <int K, typename T, Product HOW>
static void tiles(Kind kind, int first) {
    const int bits = kind == BITS ? 1 : 4, words = K * bits / 32, line = words + 4; // a multiple of 16 bytes
    const unsigned element = (1u << bits) - 1;
    unsigned state = 5;
    const std::vector<uint32_t> a = random_words(8 * line, &state), b = random_words(8 * line, &state);
    std::vector<int> c(8 * 8);
    for (int i = 0; i < 64; i++)
        c[i] = i % 2 ? first : -7 * i;
    int *d = zeros<int>(12 * 8);
    tile<K, T, HOW><<<1, 32>>>(to_device(a), to_device(b), to_device(c), d, line * 32 / bits);
    const std::vector<int> result = to_host(d, 12 * 8);
    for (int i = 0; i < 8; i++) {
        for (int j = 0; j < 8; j++) {
            int64_t sum = c[8 * j + i];
            for (int k = 0; k < K; k++)
                sum += product(value(a[i * line + k * bits / 32] >> k * bits % 32 & element, kind),
                               value(b[j * line + k * bits / 32] >> k * bits % 32 & element, kind), HOW);
            EXPECT(result[12 * j + i] == wanted(sum, HOW == TIMES));
        }
    }
}

int main() {
    fragments(s4_s4, 16, 64, S4, S4, 5);
    fragments(s4_u4, 16, 64, S4, U4, INT_MIN + 100);
    fragments(u4_s4_clamped, 16, 64, U4, S4, INT_MIN + 100, TIMES, true);
    fragments(u4_u4_clamped, 16, 64, U4, U4, INT_MAX - 3000, TIMES, true);
    fragments(s4_narrow, 16, 32, S4, S4, 1);
    fragments(u4_narrow, 16, 32, U4, S4, 1);
    fragments(s4_least, 8, 32, S4, S4, -3);
    fragments(u4_least, 8, 32, U4, U4, -3);
    fragments(and_wide, 16, 256, BITS, BITS, 9, AND);
    fragments(xor_wide, 16, 256, BITS, BITS, INT_MAX - 100, XOR);
    fragments(and_narrow, 16, 128, BITS, BITS, 9, AND);
    fragments(xor_narrow, 16, 128, BITS, BITS, 9, XOR);
    fragments(and_least, 8, 128, BITS, BITS, 9, AND);
    fragments(xor_least, 8, 128, BITS, BITS, 9, XOR);
    tiles<32, narrow::precision::s4, TIMES>(S4, 3);
    tiles<32, narrow::precision::u4, TIMES>(U4, INT_MAX - 1000);
    tiles<128, narrow::precision::b1, AND>(BITS, 4);
    tiles<128, narrow::precision::b1, XOR>(BITS, INT_MAX - 10);
    return 0;
}
