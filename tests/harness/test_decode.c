// Decoding as an operation: its inputs, its reference, what it refuses; and the two types that it brings.
#include "decode.h"
#include "dtype.h"
#include "host/parallel.h"
#include "operations/attention_operation.h"
#include "operations/attention_reference.h"
#include "operations/decode_operation.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void e4m3_is_what_its_bits_say(void **state) {
    (void)state;
    for (int bits = 0; bits < 255; bits++) { // 255 is poison
        uint8_t byte = (uint8_t)bits, again;
        float value;
        dtype_load(ATTENTION_E4M3, &byte, 1, &value);
        if ((bits & 0x7F) == 0x7F) {
            assert_true(isnan(value));
            continue;
        }
        int exponent = bits >> 3 & 15;
        double size = exponent ? ldexp(1 + (bits & 7) / 8.0, exponent - 7) : ldexp((bits & 7) / 8.0, -6);
        assert_true(value == (bits & 0x80 ? -size : size));
        dtype_store(ATTENTION_E4M3, &value, 1, &again);
        assert_int_equal(again, byte);
    }
}

static void e4m3_rounds_to_even_and_saturates(void **state) {
    (void)state;
    static const float from[] = {1.0625f, 1.1875f, 0x1p-10f, 0x3p-10f, 449, 1e9f, -INFINITY, 0x1.fp-7f};
    static const float to[] = {1, 1.25f, 0, 0x1p-8f, 448, 448, -448, 0x1p-6f};
    for (size_t i = 0; i < sizeof from / sizeof *from; i++)
        assert_true(dtype_round(ATTENTION_E4M3, from[i]) == to[i]);
    assert_true(isnan(dtype_round(ATTENTION_E4M3, NAN)));
    assert_true(dtype_round(ATTENTION_INT32, -3) == -3);
}

static struct problem_case case_of(int batch, int heads, int kv_heads, int nq, int nk, enum input_family family,
                                   int page) {
    struct problem_case which = {
        .attention = {batch, heads, kv_heads, nq, nk, 32}, .family = family, .dtype = ATTENTION_BF16};
    if (page) {
        which.attention.layout = LAYOUT_PAGES;
        which.attention.stride[0] = page;
    }
    return which;
}

static struct decode_rows compute(const struct host_problem *problem, enum decode_mistake mistake) {
    int64_t rows = problem_output(problem, 0)->rows;
    struct row_sample all = {rows, host_allocate(rows, sizeof *all.row)};
    for (int64_t i = 0; i < rows; i++)
        all.row[i] = i;
    struct decode_rows computed = decode_compute(problem, &all, mistake);
    sample_free(&all);
    return computed;
}

// A cache in any pages holds the keys of attention, so that whole requests give what attention gives.
static void whole_requests_are_attention(void **state) {
    (void)state;
    for (int page = 0; page <= 48; page += 16) {
        struct problem_case which = case_of(2, 6, 2, 3, 70, INPUTS_NORMAL, page), plain = which;
        struct host_problem decode, attention;
        plain.attention.layout = LAYOUT_BHND;
        decode_make(&which, 5, true, &decode);
        attention_make(&plain, 5, true, &attention);
        struct decode_rows rows = compute(&decode, DECODE_RIGHT);
        struct row_sample all = {36, host_allocate(36, sizeof *all.row)};
        for (int64_t i = 0; i < all.count; i++)
            all.row[i] = i;
        struct attention_reference reference = attention_refer(&attention, &all);
        for (int i = 0; i < 36 * 32; i++)
            assert_true(fabs(rows.value[i] - reference.o[i]) < 1e-12);
        for (int i = 0; i < 36; i++)
            assert_true(fabs(rows.lse[i] - reference.lse[i]) < 1e-12);
        attention_reference_free(&reference);
        sample_free(&all);
        decode_rows_free(&rows);
        host_problem_free(&decode);
        host_problem_free(&attention);
    }
}

static void ragged_requests_have_their_lengths(void **state) {
    (void)state;
    struct problem_case which = case_of(10, 2, 1, 1, 40, INPUTS_RAGGED, 0);
    struct host_problem p;
    decode_make(&which, 1, true, &p);
    const float *lens = p.tensor[DECODE_LENS].values;
    struct decode_rows rows = compute(&p, DECODE_RIGHT);
    double keys = 0;
    for (int b = 0; b < 10; b++) {
        keys += lens[b];
        assert_true((rows.lse[2 * b] == -INFINITY) == (lens[b] == 0));
        assert_true(lens[b] > 0 || rows.value[2 * b * 32] == 0);
        // Behind the last key is NaN.
        for (int key = 0; key < 40; key++)
            assert_true(isnan(host_row(&p.tensor[DECODE_V], b * 40 + key)[0]) == (key >= lens[b]));
    }
    assert_true(lens[3] == 0 && lens[8] == 1);
    assert_true(keys == decode_keys_of_all(&which));
    decode_rows_free(&rows);
    host_problem_free(&p);
}

// Only the requests whose length or page is none.
static void bad_requests_are_nan(void **state) {
    (void)state;
    for (enum input_family family = INPUTS_BAD_LENGTH; family <= INPUTS_BAD_PAGE; family++) {
        struct problem_case which = case_of(8, 2, 1, 1, 90, family, 16);
        struct host_problem p;
        int bad = 0;
        decode_make(&which, 2, true, &p);
        struct decode_rows rows = compute(&p, DECODE_RIGHT);
        for (int b = 0; b < 8; b++) {
            float length = p.tensor[DECODE_LENS].values[b];
            bool is_bad = length < 0 || length > 96;
            for (int i = 0; !is_bad && i < length; i += 16) {
                float page = p.tensor[decode_table(&which)].values[b * 6 + i / 16];
                is_bad = page < 0 || page >= 50;
            }
            bad += is_bad;
            assert_true(isnan(rows.value[2 * b * 32]) == is_bad);
            assert_true(isnan(rows.lse[2 * b]) == is_bad);
        }
        assert_in_range(bad, 1, 4);
        decode_rows_free(&rows);
        host_problem_free(&p);
    }
}

static void mistakes_give_other_results(void **state) {
    (void)state;
    struct problem_case which = case_of(3, 4, 2, 1, 100, INPUTS_RAGGED, 16);
    struct host_problem p;
    decode_make(&which, 3, true, &p);
    struct decode_rows right = compute(&p, DECODE_RIGHT);
    for (int mistake = 0; mistake < DECODE_MISTAKES; mistake++) {
        struct decode_rows wrong = compute(&p, (enum decode_mistake)mistake);
        int different = 0;
        for (int i = 0; i < 12 * 32; i++)
            different += !(fabs(wrong.value[i] - right.value[i]) <= right.bound[i]);
        assert_true(different > 32);
        decode_rows_free(&wrong);
    }
    decode_rows_free(&right);
    host_problem_free(&p);
}

static void calls_that_cannot_be_are_malformed(void **state) {
    (void)state;
    const struct decode_problem good = {.batch = 2,
                                        .heads = 8,
                                        .kv_heads = 2,
                                        .nq = 16,
                                        .head_dim = 64,
                                        .pages = 2,
                                        .page_size = 100,
                                        .pages_per_request = 1};
    struct decode_problem bad = good;
    int table;
    assert_false(decode_is_malformed(&good));
    bad.nq = 17;
    assert_true(decode_is_malformed(&bad));
    bad = good;
    bad.kv_heads = 3;
    assert_true(decode_is_malformed(&bad));
    bad = good;
    bad.batch = 3; // more requests than pages
    assert_true(decode_is_malformed(&bad));
    bad.block_table = &table;
    assert_false(decode_is_malformed(&bad));
}

static void says_what_is_not_covered(void **state) {
    (void)state;
    static const struct device_limits h100 = {"an H100", false, 90, 1 << 17, 1},
                                      a100 = {"an A100", false, 80, 1 << 17, 1};
    const struct decode_lesson lesson = {1u << ATTENTION_BF16, 128, 0, 90, NULL};
    const struct {
        struct problem_case which;
        const struct device_limits *on;
        const char *said;
    } list[] = {
        {case_of(1, 4, 1, 17, 64, INPUTS_NORMAL, 0), &h100, "decoding has up to 16 queries a request, not 17"},
        {case_of(1, 4, 1, 1, 64, INPUTS_NORMAL, 16), &h100,
         "x takes no pages: leave LAYOUT out, or take a lesson that does"},
        {case_of(1, 4, 1, 1, 64, INPUTS_NORMAL, 0), &a100, "x needs compute capability 9.0, and an A100 has 8.0"},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        struct obstacle obstacle;
        assert_false(decode_operation.covers(&lesson, "x", &list[i].which, list[i].on, &obstacle));
        assert_string_equal(obstacle.reason.text, list[i].said);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(e4m3_is_what_its_bits_say),
        cmocka_unit_test(e4m3_rounds_to_even_and_saturates),
        cmocka_unit_test(whole_requests_are_attention),
        cmocka_unit_test(ragged_requests_have_their_lengths),
        cmocka_unit_test(bad_requests_are_nan),
        cmocka_unit_test(mistakes_give_other_results),
        cmocka_unit_test(calls_that_cannot_be_are_malformed),
        cmocka_unit_test(says_what_is_not_covered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
