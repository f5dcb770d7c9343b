// The AVX2 and the generic build of every lane operation return the same bits; and code for the host's own instructions
// returns the results of a plain loop.
#include "lanes/convert.h"
#include "lanes/matrix.h"
#include "lanes/table.h"

#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define ROUNDS 300

static uint64_t seed = 1;

static uint64_t random_bits(void) {
    uint64_t z = seed++ * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

// Random bits, and often a special value: zeros, ones, infinities, NaN, subnormals, small integers.
static uint64_t interesting(void) {
    static const uint64_t special[] = {0,
                                       1,
                                       0x3f8000003f800000,
                                       0x8000000080000000,
                                       0x7f8000007f800000,
                                       0xff800000ff800000,
                                       0x7fc000007fc00000,
                                       0x0080000000800000,
                                       0x007fffff007fffff,
                                       0x7ff0000000000000,
                                       0xfff8000000000001,
                                       0x0010000000000000,
                                       0xffffffffffffffff,
                                       0x7fffffff7fffffff,
                                       0x7c003c007c003c00,
                                       0x0001fc00000103ff};
    uint64_t bits = random_bits();
    switch (bits % 4) {
    case 0:
        return special[bits >> 8 & 15];
    case 1:
        return bits >> 8 & 0x3f;
    default:
        return random_bits();
    }
}

static void fill(uint64_t *values) {
    for (int i = 0; i < LANES; i++)
        values[i] = interesting();
}

static void test_choice_by_a_mask(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t a[LANES], b[LANES], wide[LANES];
        uint32_t low_a[LANES], low_b[LANES], narrow[LANES], blended[LANES], mask = (uint32_t)random_bits();
        fill(a);
        fill(b);
        for (int i = 0; i < LANES; i++) {
            low_a[i] = (uint32_t)a[i];
            blended[i] = low_b[i] = (uint32_t)b[i];
        }
        memcpy(wide, b, sizeof wide);
        lanes_generic.blend32(blended, low_a, mask);
        lanes_generic.blend64(wide, a, mask);
        lanes_generic.selp_b32(narrow, low_a, low_b, &mask, 0);
        for (int i = 0; i < LANES; i++) {
            bool chosen = mask >> i & 1;
            assert_int_equal(blended[i], chosen ? low_a[i] : low_b[i]);
            assert_int_equal(wide[i], chosen ? a[i] : b[i]);
            assert_int_equal(narrow[i], chosen ? low_a[i] : low_b[i]);
        }
        lanes_generic.selp_b64(wide, a, b, &mask, ~0u);
        for (int i = 0; i < LANES; i++)
            assert_int_equal(wide[i], mask >> i & 1 ? b[i] : a[i]);
    }
}

// Compared with the C library in the host's rounding mode.
static void test_fma_in_every_rounding_mode(void **state) {
    (void)state;
    static const int modes[4] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t words[3][LANES], got[LANES];
        for (int i = 0; i < 3 * LANES; i++)
            words[i / LANES][i % LANES] = (uint32_t)interesting();
        for (uint32_t mode = 0; mode < 4; mode++) {
            lanes_generic.fma_rounded_f32(got, words[0], words[1], words[2], mode);
            for (int i = 0; i < LANES; i++) {
                volatile float x, y, z, right;
                uint32_t bits;
                memcpy((void *)&x, &words[0][i], 4);
                memcpy((void *)&y, &words[1][i], 4);
                memcpy((void *)&z, &words[2][i], 4);
                fesetround(modes[mode]);
                right = fmaf(x, y, z);
                fesetround(FE_TONEAREST);
                memcpy(&bits, (void *)&right, 4);
                assert_int_equal(got[i], isnan(right) ? 0x7fffffffu : bits);
            }
        }
    }
}

#if defined(__x86_64__)
static void compare(const char *name, lane_operation *one, lane_operation *other) {
    uint64_t a[LANES], b[LANES], c[LANES], x[LANES], y[LANES];
    for (int round = 0; round < ROUNDS; round++) {
        fill(a);
        fill(b);
        fill(c);
        memset(x, 0, sizeof x);
        memset(y, 0, sizeof y);
        uint32_t extra = (uint32_t)round % 256;
        one(x, a, b, c, extra);
        other(y, a, b, c, extra);
        if (memcmp(x, y, sizeof x) != 0)
            fail_msg("%s differs between the two builds", name);
    }
}

static void test_operations(void **state) {
    (void)state;
    if (!__builtin_cpu_supports("avx2"))
        skip();
#define LANE_OPERATION(name)                                                                                           \
    if (strcmp(#name, "convert_any") && strcmp(#name, "prmt_b32") && strcmp(#name, "pack_saturated"))                  \
        compare(#name, lanes_avx2.name, lanes_generic.name);
#include "lanes/lanes.def"
#undef LANE_OPERATION
}

static void test_conversions(void **state) {
    (void)state;
    static const enum ptx_type types[] = {PTX_U8,  PTX_S8,  PTX_U16, PTX_S16,  PTX_U32, PTX_S32,
                                          PTX_U64, PTX_S64, PTX_F16, PTX_BF16, PTX_F32, PTX_F64};
    static const enum ptx_rounding roundings[] = {PTX_RN, PTX_RZ, PTX_RM, PTX_RP, PTX_RNI, PTX_RZI, PTX_RMI, PTX_RPI};
    for (unsigned from = 0; from < 12; from++) {
        for (unsigned to = 0; to < 12; to++) {
            for (unsigned r = 0; r < 8; r++) {
                struct lane_conversion how = {.from = types[from],
                                              .to = types[to],
                                              .rounding = roundings[r],
                                              .from_cell = from == 6 || from == 7 || from == 11 ? 8 : 4,
                                              .to_cell = to == 6 || to == 7 || to == 11 ? 8 : 4,
                                              .to_bits = to == 6 || to == 7 || to == 11 ? 64 : 32};
                uint64_t a[LANES], x[LANES] = {0}, y[LANES] = {0};
                fill(a);
                lanes_avx2.convert_any(x, a, a, &how, 0);
                lanes_generic.convert_any(y, a, a, &how, 0);
                assert_memory_equal(x, y, sizeof x);
            }
        }
    }
}

static void test_memory_helpers(void **state) {
    (void)state;
    uint32_t address[LANES];
    uint64_t wide[LANES];
    for (int kind = 0; kind < 3; kind++) {
        for (uint32_t i = 0; i < LANES; i++) {
            address[i] = kind == 0 ? 64 + 8 * i : kind == 1 ? 640 : (uint32_t)random_bits() % 100000;
            wide[i] = 0x700000000000u + address[i];
        }
        for (int build = 0; build < 2; build++) {
            const struct lanes *lanes = build ? &lanes_generic : &lanes_avx2;
            struct lane_span narrow_span = lanes->span32(address, 8), wide_span = lanes->span64(wide, 8);
            uint32_t low = address[0], high = address[0];
            for (int i = 0; i < LANES; i++) {
                low = address[i] < low ? address[i] : low;
                high = address[i] > high ? address[i] : high;
            }
            enum lane_pattern pattern = kind == 0 ? LANES_CONTIGUOUS : kind == 1 ? LANES_UNIFORM : LANES_SCATTERED;
            assert_int_equal(narrow_span.pattern, pattern);
            assert_int_equal(wide_span.pattern, pattern);
            assert_int_equal(narrow_span.low, low);
            assert_int_equal(narrow_span.high, high);
            assert_int_equal(wide_span.low, 0x700000000000u + low);
            assert_int_equal(wide_span.high, 0x700000000000u + high);
        }
    }
}

static void test_matrix_product(void **state) {
    (void)state;
    static const struct lane_mma shapes[] = {
        {.element = ELEMENT_F16, .k = 8},
        {.element = ELEMENT_F16, .k = 16},
        {.element = ELEMENT_F16, .k = 8, .half_sum = true},
        {.element = ELEMENT_F16, .k = 16, .half_sum = true},
        {.element = ELEMENT_BF16, .k = 8},
        {.element = ELEMENT_BF16, .k = 16},
        {.element = ELEMENT_TF32, .k = 4},
        {.element = ELEMENT_TF32, .k = 8},
        {.element = ELEMENT_E4M3, .k = 32, .element_b = ELEMENT_E5M2},
        {.element = ELEMENT_E5M2, .k = 16, .half_sum = true, .element_b = ELEMENT_E4M3},
        {.element = ELEMENT_S8, .k = 32, .element_b = ELEMENT_U8, .saturates = true},
        {.element = ELEMENT_U8, .k = 16, .element_b = ELEMENT_S8},
        {.element = ELEMENT_S4, .k = 64, .element_b = ELEMENT_U4},
        {.element = ELEMENT_U4, .k = 32, .element_b = ELEMENT_S4, .saturates = true},
        {.element = ELEMENT_B1, .k = 256, .element_b = ELEMENT_B1, .exclusive = true},
        // with a sparse A
        {.element = ELEMENT_F16, .k = 32, .half_sum = true, .selector = 1},
        {.element = ELEMENT_BF16, .k = 16, .selector = 3},
        {.element = ELEMENT_TF32, .k = 16},
        {.element = ELEMENT_E4M3, .k = 64, .element_b = ELEMENT_E5M2},
        {.element = ELEMENT_S8, .k = 32, .element_b = ELEMENT_U8, .selector = 1},
        {.element = ELEMENT_U4, .k = 128, .element_b = ELEMENT_S4, .saturates = true}};
    const unsigned first_sparse = sizeof shapes / sizeof shapes[0] - 6;
    for (unsigned s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        uint64_t storage[13][LANES];
        uint32_t result[2][4][LANES] = {0};
        const uint32_t *a[4], *b[4], *c[4], *metadata = NULL;
        for (int i = 0; i < 13; i++) {
            fill(storage[i]);
            const uint32_t *words = (const uint32_t *)(const void *)storage[i];
            if (i < 4)
                a[i] = words;
            else if (i < 8)
                b[i - 4] = words;
            else if (i < 12)
                c[i - 8] = words;
            else if (s >= first_sparse)
                metadata = words;
        }
        for (int build = 0; build < 2; build++) {
            uint32_t *const d[4] = {result[build][0], result[build][1], result[build][2], result[build][3]};
            const struct lanes *lanes = build ? &lanes_generic : &lanes_avx2;
            if (metadata || shapes[s].element >= ELEMENT_S4)
                lanes->mma_each(&shapes[s], d, a, b, c, metadata);
            else
                lanes->mma(&shapes[s], d, a, b, c);
        }
        assert_memory_equal(result[0], result[1], sizeof result[0]);
    }
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choice_by_a_mask),
        cmocka_unit_test(test_fma_in_every_rounding_mode),
#if defined(__x86_64__) // the only one with two builds
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_conversions),
        cmocka_unit_test(test_memory_helpers),
        cmocka_unit_test(test_matrix_product),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
