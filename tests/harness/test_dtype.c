// Element types: rounding against values worked out by hand and against another way to round, and every bit pattern.
#include "cmocka_all.h"
#include "dtype.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint16_t bits16(enum attention_dtype dtype, float value) {
    uint16_t bits;
    dtype_store(dtype, &value, 1, &bits);
    return bits;
}

static float value16(enum attention_dtype dtype, uint16_t bits) {
    float value;
    dtype_load(dtype, &bits, 1, &value);
    return value;
}

static uint32_t bits32(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

struct rounded {
    float value;
    uint16_t bits;
};

static void check_list(enum attention_dtype dtype, const struct rounded *list, int count) {
    for (int i = 0; i < count; i++)
        for (int sign = 0; sign < 2; sign++) {
            float value = sign ? -list[i].value : list[i].value;
            uint16_t bits = (uint16_t)(list[i].bits | sign << 15);
            if (bits16(dtype, value) != bits)
                fail_msg("%s: %a is 0x%04x, not 0x%04x", dtype_of(dtype)->name, value, bits16(dtype, value), bits);
            assert_int_equal(bits32(dtype_round(dtype, value)), bits32(value16(dtype, bits)));
        }
}

static void fp16_is_rounded_as_by_hand(void **state) {
    (void)state;
    static const struct rounded list[] = {
        {0, 0x0000},
        {1, 0x3C00},
        {2, 0x4000},
        {0x1p-1f + 0x1p-2f, 0x3A00},
        {1 + 0x1p-10f, 0x3C01},
        {1 + 0x1p-11f, 0x3C00},            // a tie: to even, down
        {1 + 0x1p-11f + 0x1p-23f, 0x3C01}, // just above it
        {1 + 0x1p-10f + 0x1p-11f, 0x3C02}, // a tie: to even, up
        {2 - 0x1p-11f, 0x4000},            // a tie that carries into the exponent
        {2 - 0x1p-11f - 0x1p-23f, 0x3FFF},
        {0.1f, 0x2E66},
        {65504, 0x7BFF}, // the largest
        {65519.996f, 0x7BFF},
        {65520, 0x7C00}, // half way to 65536: infinity
        {1e30f, 0x7C00},
        {INFINITY, 0x7C00},
        {0x1p-14f, 0x0400},            // the smallest that is normal
        {0x1p-14f - 0x1p-24f, 0x03FF}, // the largest that is not
        {0x1p-14f - 0x1p-25f, 0x0400}, // a tie between the two
        {0x1p-24f, 0x0001},            // the smallest
        {0x1.8p-24f, 0x0002},          // ties
        {0x1.4p-23f, 0x0002},
        {0x1.4p-22f, 0x0005},
        {0x1p-25f, 0x0000},
        {0x1.000002p-25f, 0x0001},
        {0x1p-149f, 0x0000},
    };
    check_list(ATTENTION_FP16, list, sizeof list / sizeof *list);
}

static void bf16_is_rounded_as_by_hand(void **state) {
    (void)state;
    static const struct rounded list[] = {
        {0, 0x0000},
        {1, 0x3F80},
        {3.140625f, 0x4049},
        {1 + 0x1p-7f, 0x3F81},
        {1 + 0x1p-8f, 0x3F80},            // a tie: to even, down
        {1 + 0x1p-8f + 0x1p-23f, 0x3F81}, // just above it
        {1 + 0x1p-7f + 0x1p-8f, 0x3F82},  // a tie: to even, up
        {2 - 0x1p-8f, 0x4000},            // a tie that carries into the exponent
        {0.1f, 0x3DCD},
        {0x1.fep127f, 0x7F7F}, // the largest
        {0x1.fefffep127f, 0x7F7F},
        {0x1.ffp127f, 0x7F80}, // half way to 2^128: infinity
        {0x1.fffffep127f, 0x7F80},
        {INFINITY, 0x7F80},
        {0x1p-126f, 0x0080}, // the smallest that is normal
        {0x1p-133f, 0x0001}, // the smallest
        {0x1p-134f, 0x0000}, // ties
        {0x1.8p-133f, 0x0002},
        {0x1.0002p-134f, 0x0001},
        {0x1p-149f, 0x0000},
    };
    check_list(ATTENTION_BF16, list, sizeof list / sizeof *list);
}

// Every 16 bits: the number comes back, a NaN stays a NaN, and what lies between two neighbours goes to the nearer one.
static void every_bit_pattern_round_trips(void **state) {
    (void)state;
    for (enum attention_dtype dtype = ATTENTION_FP16; dtype <= ATTENTION_BF16; dtype++) {
        int nans = 0, infinities = 0;
        for (uint32_t bits = 0; bits < 0x10000; bits++) {
            float value = value16(dtype, (uint16_t)bits);
            nans += isnan(value);
            infinities += isinf(value) != 0;
            if (isnan(value) ? !isnan(value16(dtype, bits16(dtype, value))) : bits16(dtype, value) != bits)
                fail_msg("%s: 0x%04x comes back as 0x%04x", dtype_of(dtype)->name, bits, bits16(dtype, value));
            assert_int_equal(is_poison(value), bits == 0xFFFF);
            assert_int_equal(bits32(dtype_round(dtype, value)), bits32(value16(dtype, bits16(dtype, value))));
        }
        assert_int_equal(nans, dtype == ATTENTION_FP16 ? 2 * 1023 : 2 * 127);
        assert_int_equal(infinities, 2);
    }
}

static void values_between_round_to_nearest(void **state) {
    (void)state;
    for (enum attention_dtype dtype = ATTENTION_FP16; dtype <= ATTENTION_BF16; dtype++) {
        uint16_t infinity = dtype == ATTENTION_FP16 ? 0x7C00 : 0x7F80;
        for (uint16_t low = 0; low + 1 < infinity; low++) {
            double a = value16(dtype, low), b = value16(dtype, (uint16_t)(low + 1));
            float middle = (float)((a + b) / 2);
            assert_true(b > a && middle == (a + b) / 2); // fp32 has it
            assert_int_equal(bits16(dtype, middle), low + (low & 1));
            assert_int_equal(bits16(dtype, nextafterf(middle, 0)), low);
            assert_int_equal(bits16(dtype, nextafterf(middle, INFINITY)), low + 1);
            // The unit roundoff bounds the error of a number that is not below the smallest normal one.
            if (a >= (dtype == ATTENTION_FP16 ? 0x1p-14 : 0x1p-126))
                assert_true((b - a) / 2 <= dtype_of(dtype)->unit_roundoff * a);
        }
        assert_true((value16(dtype, (uint16_t)(bits16(dtype, 1) + 1)) - 1) / 2 == dtype_of(dtype)->unit_roundoff);
    }
}

static void nan_and_poison_are_distinguished(void **state) {
    (void)state;
    float poison, values[2];
    memset(&poison, POISON_BYTE, sizeof poison);
    for (enum attention_dtype dtype = ATTENTION_FP32; dtype <= ATTENTION_BF16; dtype++) {
        unsigned char raw[2 * sizeof(float)];
        assert_true(is_poison(dtype_round(dtype, poison)));
        assert_true(isnan(dtype_round(dtype, NAN)) && !is_poison(dtype_round(dtype, NAN)));
        assert_true(isnan(dtype_round(dtype, -NAN)) && !is_poison(dtype_round(dtype, -NAN)));
        dtype_store(dtype, (const float[]){poison, NAN}, 2, raw);
        for (size_t i = 0; i < dtype_of(dtype)->size; i++)
            assert_int_equal(raw[i], POISON_BYTE);
        dtype_load(dtype, raw, 2, values);
        assert_true(is_poison(values[0]) && isnan(values[1]) && !is_poison(values[1]));
        memset(raw, POISON_BYTE, sizeof raw); // as cudaMemset leaves it
        dtype_load(dtype, raw, 2, values);
        assert_true(is_poison(values[0]) && is_poison(values[1]));
    }
    // A NaN whose upper half alone is all ones is no poison, and must not become one.
    const uint32_t close = 0xFFFF0000u;
    float value;
    memcpy(&value, &close, sizeof value);
    assert_false(is_poison(value) || is_poison(dtype_round(ATTENTION_BF16, value)));
}

static void fp32_is_unchanged(void **state) {
    (void)state;
    static const float values[] = {0, -0.0f, 0x1p-149f, 1 + 0x1p-23f, -INFINITY};
    float back[5], raw[5];
    dtype_store(ATTENTION_FP32, values, 5, raw);
    assert_memory_equal(raw, values, sizeof values);
    dtype_load(ATTENTION_FP32, raw, 5, back);
    assert_memory_equal(back, values, sizeof values);
    for (int i = 0; i < 5; i++)
        assert_int_equal(bits32(dtype_round(ATTENTION_FP32, values[i])), bits32(values[i]));
    assert_true(dtype_of(ATTENTION_FP32)->unit_roundoff == 0x1p-24);
}

static void names_round_trip(void **state) {
    (void)state;
    enum attention_dtype dtype;
    struct message error = {""};
    char text[32];
    static const char *const unknown[] = {"", "int32", "fp8", "FP16", "bf16 ", "float16", "half"};
    static const size_t sizes[] = {4, 2, 2, 1};
    for (int i = 0; i <= ATTENTION_E4M3; i++) { // int32 is no type to compute in
        assert_true(dtype_from_name(dtype_of((enum attention_dtype)i)->name, &dtype, &error));
        assert_int_equal(dtype, i);
        assert_int_equal(dtype_of((enum attention_dtype)i)->size, sizes[i]);
    }
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        assert_false(dtype_from_name(unknown[i], &dtype, &error));
        assert_memory_equal(error.text, "DTYPE=", 6);
        assert_non_null(strstr(error.text, "fp32, fp16, bf16 or e4m3"));
        assert_null(strchr(error.text, '\n'));
    }
    assert_string_equal(dtype_names(0, text), "");
    assert_string_equal(dtype_names(1u << ATTENTION_BF16, text), "bf16");
    assert_string_equal(dtype_names(1u << ATTENTION_FP32 | 1u << ATTENTION_BF16, text), "fp32 or bf16");
    assert_string_equal(dtype_names(7, text), "fp32, fp16 or bf16");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fp16_is_rounded_as_by_hand),
        cmocka_unit_test(bf16_is_rounded_as_by_hand),
        cmocka_unit_test(every_bit_pattern_round_trips),
        cmocka_unit_test(values_between_round_to_nearest),
        cmocka_unit_test(nan_and_poison_are_distinguished),
        cmocka_unit_test(fp32_is_unchanged),
        cmocka_unit_test(names_round_trip),
    };
    return cmocka_run_group_tests_name("dtype", tests, NULL, NULL);
}
