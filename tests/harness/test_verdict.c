// The tolerance: right fp32 arithmetic passes on every kind of input, and each mistake fails.
#include "cmocka_all.h"
#include "host/tolerance.h"
#include "judged.h"
#include "long_list.h"
#include "operations/attention_operation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed = 17;

static struct problem_case case_of(struct attention_shape shape, enum input_family family) {
    return (struct problem_case){.attention = shape, .family = family};
}

static bool passes(struct attention_shape shape, enum input_family family, enum fp32_kernel kernel, int64_t rows) {
    return judged_passes(case_of(shape, family), seed, kernel, rows);
}

static void begin(struct judged *j, const struct attention_shape *shape, enum input_family family, int64_t rows) {
    struct problem_case which = case_of(*shape, family);
    judged_begin(j, &which, seed, rows);
}

static void right_kernels_pass_the_matrix(void **state) {
    (void)state;
    struct problem_case cases[MAX_CASES];
    int count = attention_cases(MATRIX_SIMULATOR, cases);
    for (int i = 0; i < count; i += long_list_step(2, 6)) {
        assert_true(passes(cases[i].attention, cases[i].family, FP32_TWO_PASS, 0));
        assert_true(passes(cases[i].attention, cases[i].family, FP32_ONLINE, 0));
    }
}

static void right_kernels_pass_long_rows(void **state) {
    (void)state;
    static const int head_dims[] = {1, 64, 128, 512};
    for (int i = 0; i < 4; i += long_list_step(3, 3)) {
        struct attention_shape shape = {.batch = 1, .heads = 1, .nq = 4096, .nk = 4096, .head_dim = head_dims[i]};
        assert_true(passes(shape, INPUTS_NORMAL, FP32_TWO_PASS, 24));
        assert_true(passes(shape, INPUTS_NORMAL, FP32_ONLINE, 24));
        shape.causal = true;
        assert_true(passes(shape, INPUTS_NORMAL, FP32_ONLINE, 24));
    }
    struct attention_shape longest = {.batch = 1, .heads = 1, .nq = 8192, .nk = 8192, .head_dim = 64};
    assert_true(passes(longest, INPUTS_NORMAL, FP32_TWO_PASS, 24));
    struct attention_shape hostile = {.batch = 1, .heads = 2, .nq = 40, .nk = 1000, .head_dim = 96};
    for (int f = 0; f < INPUTS_MASKED; f++)
        assert_true(passes(hostile, (enum input_family)f, FP32_TWO_PASS, 20));
}

// Where scores are large their rounding decides, and few rows make few draws of it.
static void right_kernels_pass_few_rows_of_large_scores(void **state) {
    (void)state;
    static const struct attention_shape shapes[] = {
        {.batch = 1, .heads = 60, .nq = 3, .nk = 283, .head_dim = 64},
        {.batch = 1, .heads = 1, .nq = 1, .nk = 1100, .head_dim = 64},
        {.batch = 1, .heads = 1, .nq = 3, .nk = 1100, .head_dim = 64},
    };
    static const enum input_family families[] = {INPUTS_RISING, INPUTS_OFFSET, INPUTS_LARGE};
    for (seed = 0; seed < 40; seed += (uint64_t)long_list_step(10, 20))
        for (int i = 0; i < 9; i++)
            assert_true(passes(shapes[i % 3], families[i / 3], FP32_TWO_PASS, 0));
    seed = 17;
}

static void a_dropped_key_fails_at_4096(void **state) {
    (void)state;
    struct attention_shape shape = {.batch = 1, .heads = 1, .nq = 4096, .nk = 4096, .head_dim = 64};
    assert_false(passes(shape, INPUTS_NORMAL, FP32_DROPS_A_KEY, 24));
    shape.head_dim = 512;
    assert_false(passes(shape, INPUTS_NORMAL, FP32_DROPS_A_KEY, 24));
}

static void a_dropped_key_in_one_row_fails(void **state) {
    (void)state;
    struct attention_shape shape = {.batch = 1, .heads = 1, .kv_heads = 1, .nq = 4096, .nk = 4096, .head_dim = 64};
    struct judged j;
    float o[MAX_HEAD_DIM];
    begin(&j, &shape, INPUTS_NORMAL, 64);
    for (int64_t i = 0; i < j.sample.count; i++) {
        fp32_attention_row(&j.problem, i == 40 ? FP32_DROPS_A_KEY : FP32_TWO_PASS, j.sample.row[i], o);
        verdict_rows(&j.verdict, j.sample.row[i], 1, o);
    }
    assert_false(verdict_end(&j.verdict));
    assert_true(j.verdict.wrong || j.verdict.rms_row == j.sample.row[40]);
    judged_end(&j);
}

static void mistakes_fail(void **state) {
    (void)state;
    struct attention_shape shape = {.batch = 1, .heads = 2, .nq = 20, .nk = 70, .head_dim = 64};
    assert_false(passes(shape, INPUTS_LARGE, FP32_NO_MAXIMUM, 0));
    assert_false(passes(shape, INPUTS_OFFSET, FP32_NO_MAXIMUM, 0));
    assert_false(passes(shape, INPUTS_NORMAL, FP32_NO_SCALE, 0));
    assert_false(passes(shape, INPUTS_NORMAL, FP32_TAIL_IS_ZERO, 0));
    assert_false(passes(shape, INPUTS_NORMAL, FP32_HALF_WEIGHTS, 0));
    assert_false(passes(shape, INPUTS_TINY, FP32_DROPS_A_KEY, 0));
    assert_false(passes(shape, INPUTS_DOMINANT_LAST, FP32_DROPS_A_KEY, 0));
    shape.causal = true;
    assert_false(passes(shape, INPUTS_NORMAL, FP32_TOP_LEFT, 0));
    shape.nq = 90;
    assert_false(passes(shape, INPUTS_NORMAL, FP32_TOP_LEFT, 0));
}

// The right output of a small problem; the caller spoils it.
static void right_output(struct judged *j, enum input_family family, float *o) {
    struct attention_shape shape = {.batch = 1, .heads = 2, .kv_heads = 2, .nq = 3, .nk = 5, .head_dim = 4};
    begin(j, &shape, family, 0);
    for (int64_t row = 0; row < 6; row++)
        fp32_attention_row(&j->problem, FP32_TWO_PASS, row, o + 4 * row);
}

static void poison_is_found_bit_by_bit(void **state) {
    (void)state;
    struct judged j;
    float o[24];
    right_output(&j, INPUTS_NORMAL, o);
    memset(&o[17], 0xFF, sizeof *o);
    verdict_rows(&j.verdict, 0, 6, o);
    assert_false(verdict_end(&j.verdict));
    assert_int_equal(j.verdict.unwritten, 1);
    assert_int_equal(j.verdict.wrong, 1);
    assert_int_equal(j.verdict.nan, 0);
    assert_int_equal(j.verdict.first_row, 4);
    assert_int_equal(j.verdict.first_column, 1);
    judged_end(&j);

    right_output(&j, INPUTS_NORMAL, o);
    o[17] = NAN; // any other NaN was written by somebody
    verdict_rows(&j.verdict, 0, 6, o);
    assert_false(verdict_end(&j.verdict));
    assert_int_equal(j.verdict.unwritten, 0);
    assert_int_equal(j.verdict.nan, 1);
    judged_end(&j);
}

static void unwritten_fails_where_the_reference_is_nan(void **state) {
    (void)state;
    struct judged j;
    float o[24];
    right_output(&j, INPUTS_NAN_KEY, o);
    for (int i = 0; i < 24; i++)
        if (isnan(o[i]))
            memset(&o[i], 0xFF, sizeof o[i]);
    verdict_rows(&j.verdict, 0, 6, o);
    assert_false(verdict_end(&j.verdict));
    assert_int_equal(j.verdict.unwritten, 12);
    judged_end(&j);
}

static void nan_stays_where_it_belongs(void **state) {
    (void)state;
    struct judged j;
    float o[24];
    right_output(&j, INPUTS_NAN_VALUE, o);
    int first = 0;
    while (!isnan(o[first]))
        first++;
    verdict_rows(&j.verdict, 0, 6, o);
    assert_true(verdict_end(&j.verdict));
    judged_end(&j);

    right_output(&j, INPUTS_NAN_VALUE, o);
    o[first] = 0; // swallowed
    verdict_rows(&j.verdict, 0, 6, o);
    assert_false(verdict_end(&j.verdict));
    judged_end(&j);

    right_output(&j, INPUTS_NAN_VALUE, o);
    o[(first + 1) % 24] = NAN; // spread
    verdict_rows(&j.verdict, 0, 6, o);
    assert_false(verdict_end(&j.verdict));
    judged_end(&j);
}

static void rows_outside_the_sample_are_looked_at(void **state) {
    (void)state;
    struct attention_shape shape = {.batch = 1, .heads = 1, .kv_heads = 1, .nq = 10, .nk = 5, .head_dim = 4};
    for (int spoil = 0; spoil < 3; spoil++) {
        struct judged j;
        float o[40];
        begin(&j, &shape, INPUTS_NORMAL, 2);
        for (int64_t row = 0; row < 10; row++)
            fp32_attention_row(&j.problem, FP32_TWO_PASS, row, o + 4 * row);
        if (spoil == 1)
            memset(&o[13], 0xFF, sizeof *o);
        if (spoil == 2)
            o[13] = INFINITY;
        verdict_rows(&j.verdict, 0, 10, o);
        assert_int_equal(verdict_end(&j.verdict), spoil == 0);
        assert_int_equal(j.verdict.compared, 8);
        assert_int_equal(j.verdict.elements, 40);
        judged_end(&j);
    }
}

// Of a launch that was run partly what is there is judged.
static void written_rows_of_a_part_are_judged(void **state) {
    (void)state;
    struct attention_shape shape = {.batch = 1, .heads = 1, .kv_heads = 1, .nq = 10, .nk = 5, .head_dim = 4};
    for (int wrong = 0; wrong < 2; wrong++) {
        struct judged j;
        float o[40];
        begin(&j, &shape, INPUTS_NORMAL, 2);
        j.verdict.partly = true;
        memset(o, 0xFF, sizeof o);
        int64_t first = j.sample.row[0];
        for (int64_t row = 0; row < 10; row++)
            if (row == first)
                fp32_attention_row(&j.problem, FP32_TWO_PASS, row, o + 4 * row);
        o[4 * first + 1] += (float)wrong;
        verdict_rows(&j.verdict, 0, 10, o);
        assert_int_equal(verdict_end(&j.verdict), !wrong);
        assert_int_equal(j.verdict.compared, 4);
        assert_int_equal(j.verdict.skipped, 36);
        judged_end(&j);
    }
}

static void missing_rows_fail(void **state) {
    (void)state;
    struct judged j;
    float o[24];
    right_output(&j, INPUTS_NORMAL, o);
    verdict_rows(&j.verdict, 0, 5, o);
    assert_false(verdict_end(&j.verdict));
    judged_end(&j);
}

static void lse_is_judged(void **state) {
    (void)state;
    struct judged j;
    float o[24], lse[6];
    for (int spoil = 0; spoil < 3; spoil++) {
        right_output(&j, INPUTS_NORMAL, o);
        for (int i = 0; i < 6; i++)
            lse[i] = (float)j.reference->lse[i];
        if (spoil == 1)
            lse[3] += 1e-4f;
        if (spoil == 2)
            memset(&lse[3], 0xFF, sizeof *lse);
        verdict_rows(&j.verdict, 0, 6, o);
        assert_true(verdict_end(&j.verdict));
        verdict_rows(&j.lse, 0, 6, lse);
        assert_int_equal(verdict_end(&j.lse), spoil == 0);
        judged_end(&j);
    }
}

static void explanation_shows_the_tile(void **state) {
    (void)state;
    struct attention_shape shape = {.batch = 2, .heads = 2, .kv_heads = 2, .nq = 64, .nk = 8, .head_dim = 64};
    struct judged j;
    char *text;
    size_t size;
    float *o = malloc(4 * 64 * 64 * sizeof *o);
    begin(&j, &shape, INPUTS_NORMAL, 0);
    for (int64_t row = 0; row < 256; row++)
        fp32_attention_row(&j.problem, FP32_TWO_PASS, row, o + 64 * row);
    for (int row = 128 + 32; row < 128 + 64; row++) // batch 1, head 0, lower half
        o[row * 64 + 62] += 1;
    verdict_rows(&j.verdict, 0, 256, o);
    assert_false(verdict_end(&j.verdict));
    FILE *out = open_memstream(&text, &size);
    verdict_explain(&j.verdict, true, out);
    fclose(out);
    assert_non_null(strstr(text, "  32 of 16384 elements wrong [wrong-elements]\n"));
    assert_non_null(strstr(text, "first: o[1][0][32][62] (batch, head, query, element)"));
    assert_non_null(strstr(text, "heads with wrong elements: 1 of 4\n"));
    assert_non_null(strstr(text,
                           "      0 |................................|\n          ... the same lines until 28\n"
                           "       32 |...............................#|\n          ... the same lines until 60\n"));
    free(text);
    out = open_memstream(&text, &size);
    verdict_explain(&j.verdict, false, out);
    fclose(out);
    assert_null(strstr(text, "|"));
    free(text);
    free(o);
    judged_end(&j);
}

static void the_explanation_of_a_wholly_wrong_output_is_short(void **state) {
    (void)state;
    struct attention_shape shape = {.batch = 1, .heads = 1, .kv_heads = 1, .nq = 16, .nk = 8, .head_dim = 8};
    struct judged j;
    float o[16 * 8];
    for (int poisoned = 0; poisoned < 2; poisoned++) {
        char *text;
        size_t size;
        begin(&j, &shape, INPUTS_NORMAL, 0);
        for (int i = 0; i < 16 * 8; i++)
            o[i] = 100;
        if (poisoned)
            memset(o, POISON_BYTE, sizeof o);
        verdict_rows(&j.verdict, 0, 16, o);
        assert_false(verdict_end(&j.verdict));
        FILE *out = open_memstream(&text, &size);
        verdict_explain(&j.verdict, true, out);
        fclose(out);
        assert_null(strstr(text, "|"));
        assert_non_null(strstr(text, poisoned ? "[unwritten-output]" : "128 of 128 elements wrong [wrong-elements]"));
        assert_true(poisoned != (strstr(text, "first: ") != NULL));
        free(text);
        judged_end(&j);
    }
}

static void bounds_are_the_stated_ones(void **state) {
    (void)state;
    double bound = tolerance_attention(ATTENTION_FP32, 0.5, 2.0, 80.0, 0.125, 64);
    double delta = 0.125 * 68 / 16777216.0 * 80.0;
    assert_true(fabs(bound - ((1.0 / 1048576 + 2 * delta) * 2.0 + 0.5 / 16777216 + 1e-6)) < 1e-15);
    assert_true(tolerance_rms(ATTENTION_FP32, 40, 0.125, 64, 4096, 0, 100) == 5e-6);
    assert_true(tolerance_rms(ATTENTION_FP32, 40, 0.125, 64, 65536, 0, 100) == 2e-5);
    double many = tolerance_rms(ATTENTION_FP32, 4e4, 0.125, 64, 4096, 0, INT64_MAX);
    assert_true(fabs(many - 0.6 * sqrt(68) / 16777216 * 0.125 * 4e4) < 1e-11);
    assert_true(fabs(tolerance_rms(ATTENTION_FP32, 4e4, 0.125, 64, 4096, 0, 1) - tolerance_row_factor * many) < 1e-11);
    assert_true(fabs(tolerance_rms(ATTENTION_FP32, 4e4, 0.125, 64, 4096, 0, 900) - 1.1 * many) < 1e-11);
    assert_false(tolerance_holds(NAN, 1.0, 1.0));
    assert_false(tolerance_holds(1.0, NAN, 1.0));
    assert_true(tolerance_holds(NAN, NAN, 1.0));
    assert_false(tolerance_holds(INFINITY, 1.0, 1.0));
    assert_false(tolerance_holds(-INFINITY, INFINITY, 1.0));
    assert_true(tolerance_holds(INFINITY, INFINITY, 1.0));
    assert_false(tolerance_holds(1.0, 1.0, NAN));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_kernels_pass_the_matrix),
        cmocka_unit_test(right_kernels_pass_long_rows),
        cmocka_unit_test(right_kernels_pass_few_rows_of_large_scores),
        cmocka_unit_test(a_dropped_key_fails_at_4096),
        cmocka_unit_test(a_dropped_key_in_one_row_fails),
        cmocka_unit_test(mistakes_fail),
        cmocka_unit_test(poison_is_found_bit_by_bit),
        cmocka_unit_test(unwritten_fails_where_the_reference_is_nan),
        cmocka_unit_test(nan_stays_where_it_belongs),
        cmocka_unit_test(rows_outside_the_sample_are_looked_at),
        cmocka_unit_test(written_rows_of_a_part_are_judged),
        cmocka_unit_test(missing_rows_fail),
        cmocka_unit_test(lse_is_judged),
        cmocka_unit_test(explanation_shows_the_tile),
        cmocka_unit_test(the_explanation_of_a_wholly_wrong_output_is_short),
        cmocka_unit_test(bounds_are_the_stated_ones),
    };
    return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
