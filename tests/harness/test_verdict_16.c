// The tolerance in 16 bits: a kernel that rounds its weights and its results once passes on every kind of input, each
// mistake and each further rounding fails.
#include "cmocka_all.h"
#include "host/tolerance.h"
#include "judged.h"
#include "long_list.h"
#include "operations/attention_operation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const enum attention_dtype both[] = {ATTENTION_FP16, ATTENTION_BF16};
static const struct attention_shape long_rows = {.batch = 1, .heads = 1, .nq = 4096, .nk = 4096, .head_dim = 64};

static bool passes(enum attention_dtype dtype, struct attention_shape shape, enum input_family family,
                   enum fp32_kernel kernel, int64_t rows) {
    struct problem_case which = {.attention = shape, .family = family, .dtype = dtype};
    return judged_passes(which, 17, kernel, rows);
}

static void right_kernels_pass_the_matrix(void **state) {
    (void)state;
    struct problem_case cases[MAX_CASES];
    int count = attention_cases(MATRIX_SIMULATOR, cases);
    for (uint64_t seed = 1; seed <= 3; seed++)
        for (int t = 0; t < 2; t++)
            for (int i = 0; i < count; i += long_list_step(4, 12)) {
                cases[i].dtype = both[t];
                assert_true(judged_passes(cases[i], seed, seed % 2 ? FP32_TWO_PASS : FP32_ONLINE, 0));
                assert_true(seed > 1 || judged_passes(cases[i], seed, FP32_ONLINE, 0));
            }
}

static void right_kernels_pass_long_rows(void **state) {
    (void)state;
    for (int t = 0; t < 2; t++) {
        struct attention_shape shape = long_rows;
        assert_true(passes(both[t], shape, INPUTS_NORMAL, FP32_TWO_PASS, 24));
        assert_true(passes(both[t], shape, INPUTS_NORMAL, FP32_ONLINE, 24));
        shape.head_dim = 128;
        assert_true(passes(both[t], shape, INPUTS_NORMAL, FP32_ONLINE, 24));
        shape.causal = true;
        assert_true(passes(both[t], shape, INPUTS_NORMAL, FP32_ONLINE, 24));
        struct attention_shape hostile = {.batch = 1, .heads = 2, .nq = 40, .nk = 1000, .head_dim = 96};
        for (int f = 0; f < INPUTS_MASKED; f++)
            assert_true(passes(both[t], hostile, (enum input_family)f, FP32_TWO_PASS, 20));
    }
}

// Few rows, or few keys, make few draws of a rounding error.
static void right_kernels_pass_few_rows(void **state) {
    (void)state;
    static const struct attention_shape shapes[] = {
        {.batch = 1, .heads = 1, .nq = 1, .nk = 1, .head_dim = 1},
        {.batch = 1, .heads = 1, .nq = 1, .nk = 2, .head_dim = 3},
        {.batch = 1, .heads = 1, .nq = 1, .nk = 1100, .head_dim = 64},
        {.batch = 1, .heads = 2, .nq = 3, .nk = 283, .head_dim = 64},
    };
    static const enum input_family families[] = {INPUTS_NORMAL, INPUTS_RISING, INPUTS_OFFSET, INPUTS_LARGE};
    for (uint64_t seed = 0; seed < 60; seed += (uint64_t)long_list_step(6, 30))
        for (int i = 0; i < 32; i++) {
            struct problem_case which = {
                .attention = shapes[i % 4], .family = families[i / 4 % 4], .dtype = both[i / 16]};
            assert_true(judged_passes(which, seed, FP32_TWO_PASS, 0));
        }
}

static void dropped_keys_fail_at_4096(void **state) {
    (void)state;
    for (int t = 0; t < 2; t++) {
        assert_false(passes(both[t], long_rows, INPUTS_NORMAL, FP32_DROPS_EIGHT_KEYS, 24));
        assert_false(passes(both[t], long_rows, INPUTS_NORMAL, FP32_DROPS_A_KEY, 24));
    }
}

// All other rows are right.
static void a_mistake_in_one_row_fails(void **state) {
    (void)state;
    for (int t = 0; t < 2; t++) {
        struct problem_case which = {.attention = long_rows, .dtype = both[t]};
        struct judged j;
        float o[MAX_HEAD_DIM];
        judged_begin(&j, &which, 17, 64);
        for (int64_t i = 0; i < j.sample.count; i++) {
            fp32_attention_row(&j.problem, i == 40 ? FP32_DROPS_EIGHT_KEYS : FP32_TWO_PASS, j.sample.row[i], o);
            verdict_rows(&j.verdict, j.sample.row[i], 1, o);
        }
        assert_false(verdict_end(&j.verdict));
        assert_true(j.verdict.wrong || j.verdict.rms_row == j.sample.row[40]);
        judged_end(&j);
    }
}

static void mistakes_fail(void **state) {
    (void)state;
    for (int t = 0; t < 2; t++) {
        struct attention_shape shape = {.batch = 1, .heads = 2, .nq = 20, .nk = 70, .head_dim = 64};
        assert_false(passes(both[t], shape, INPUTS_LARGE, FP32_NO_MAXIMUM, 0));
        assert_false(passes(both[t], shape, INPUTS_OFFSET, FP32_NO_MAXIMUM, 0));
        assert_false(passes(both[t], shape, INPUTS_NORMAL, FP32_NO_SCALE, 0));
        assert_false(passes(both[t], shape, INPUTS_NORMAL, FP32_TAIL_IS_ZERO, 0));
        assert_false(passes(both[t], shape, INPUTS_TINY, FP32_DROPS_A_KEY, 0));
        assert_false(passes(both[t], shape, INPUTS_DOMINANT_LAST, FP32_DROPS_A_KEY, 0));
        assert_false(passes(both[t], shape, INPUTS_NORMAL, FP32_NOT_RESCALED, 0));
        assert_false(passes(both[t], shape, INPUTS_RISING, FP32_NOT_RESCALED, 0));
        assert_false(passes(both[t], long_rows, INPUTS_NORMAL, FP32_NOT_RESCALED, 24));
        shape.causal = true;
        assert_false(passes(both[t], shape, INPUTS_NORMAL, FP32_TOP_LEFT, 0));
        shape.nq = 90;
        assert_false(passes(both[t], shape, INPUTS_NORMAL, FP32_TOP_LEFT, 0));
    }
}

// What a kernel keeps in 16 bits that should be in 32, or in bf16 what should be in fp16.
static void further_roundings_fail(void **state) {
    (void)state;
    struct attention_shape shape = {.batch = 1, .heads = 2, .nq = 20, .nk = 300, .head_dim = 128};
    assert_false(passes(ATTENTION_FP16, shape, INPUTS_NORMAL, FP32_BF16_WEIGHTS, 0));
    assert_false(passes(ATTENTION_FP16, long_rows, INPUTS_NORMAL, FP32_BF16_WEIGHTS, 24));
    for (int t = 0; t < 2; t++) {
        assert_false(passes(both[t], long_rows, INPUTS_NORMAL, FP32_ROUNDED_SUM, 24));
        assert_false(passes(both[t], long_rows, INPUTS_NORMAL, FP32_ROUNDED_OUTPUT, 24));
        assert_false(passes(both[t], shape, INPUTS_NORMAL, FP32_ROUNDED_OUTPUT, 0));
        assert_false(passes(both[t], shape, INPUTS_RISING, FP32_ROUNDED_SCORES, 0));
        assert_false(passes(both[t], shape, INPUTS_RISING, FP32_FP16_SCORES, 0));
        assert_false(passes(both[t], shape, INPUTS_LARGE, FP32_FP16_SCORES, 0)); // past 65504
    }
    assert_false(passes(ATTENTION_FP16, shape, INPUTS_NORMAL, FP32_FP16_SCORES, 0));
}

// Dividing by the sum of the weights as they meet the values is as near to the reference as by that of the exact ones.
static void the_sum_of_rounded_weights_is_no_mistake(void **state) {
    (void)state;
    for (int t = 0; t < 2; t++)
        assert_true(passes(both[t], long_rows, INPUTS_NORMAL, FP32_SUM_OF_ROUNDED, 24));
}

static void inputs_are_rounded_once(void **state) {
    (void)state;
    for (int t = 0; t < 2; t++) {
        struct problem_case which = {.attention = {1, 2, 2, 7, 33, 40}, .dtype = both[t]}, exact = which;
        struct host_problem rounded, as_drawn;
        exact.dtype = ATTENTION_FP32;
        attention_make(&which, 5, true, &rounded);
        attention_make(&exact, 5, true, &as_drawn);
        for (int i = Q; i <= V; i++) {
            int differ = 0;
            assert_int_equal(rounded.tensor[i].dtype, both[t]);
            for (int64_t e = 0; e < rounded.tensor[i].kept * 40; e++) {
                float value = rounded.tensor[i].values[e];
                assert_true(value == dtype_round(both[t], as_drawn.tensor[i].values[e]));
                assert_true(value == dtype_round(both[t], value));
                differ += value != as_drawn.tensor[i].values[e];
            }
            assert_true(differ > 200);
        }
        assert_int_equal(rounded.tensor[O].dtype, both[t]);
        assert_int_equal(rounded.tensor[LSE].dtype, ATTENTION_FP32);
        host_problem_free(&rounded);
        host_problem_free(&as_drawn);
    }
}

// One key: the output is its value, and the reference of rounded inputs is that number to the last bit.
static void the_reference_starts_from_rounded_inputs(void **state) {
    (void)state;
    for (int t = 0; t < 2; t++) {
        struct problem_case which = {.attention = {1, 1, 1, 3, 1, 64}, .dtype = both[t]};
        struct judged j;
        judged_begin(&j, &which, 9, 0);
        for (int c = 0; c < 3 * 64; c++)
            assert_true(j.reference->o[c] == (double)j.problem.tensor[V].values[c % 64]);
        judged_end(&j);
    }
}

static void bounds_are_the_stated_ones(void **state) {
    (void)state;
    static const double u[] = {1.0 / 2048, 1.0 / 256}, whole[] = {8e-4, 5e-3};
    for (int t = 0; t < 2; t++) {
        double delta = 0.125 * 68 / 8388608.0 * 80.0;
        double bound = tolerance_attention(both[t], 0.5, 2.0, 80.0, 0.125, 64);
        assert_true(fabs(bound - ((u[t] + 2 * delta) * 2.0 + 0.5 * u[t] + 1e-6)) < 1e-15);
        double scores = 0.6 * sqrt(68) / 8388608 * 0.125 * 40;
        assert_true(fabs(tolerance_rms(both[t], 40, 0.125, 64, 4096, 0, INT64_MAX) - whole[t] - scores) < 1e-8);
        assert_true(fabs(tolerance_rms(both[t], 40, 0.125, 64, 65536, 0, 900) - 31.0 / 30 * whole[t] - 1.1 * scores) <
                    1e-8);
        assert_true(
            fabs(tolerance_rms(both[t], 40, 0.125, 64, 4096, 0, TOLERANCE_ONE_ROW) - 2 * whole[t] - 4 * scores) < 1e-8);
    }
    // Of a log-sum-exp, which is fp32: the larger of its own rounding and that of its scores.
    assert_true(tolerance_lse(ATTENTION_FP32, 0.5, 1, 0.125, 64) == 1e-5);
    assert_true(tolerance_lse(ATTENTION_BF16, -30, 1, 0.125, 64) == 1e-5 * 30);
    assert_true(fabs(tolerance_lse(ATTENTION_FP32, 0.5, 4e4, 0.125, 64) - 0.125 * 68 / 16777216 * 4e4) < 1e-12);
    assert_true(fabs(tolerance_lse(ATTENTION_FP16, 0.5, 4e4, 0.125, 64) - 0.125 * 68 / 8388608 * 4e4) < 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_kernels_pass_the_matrix), cmocka_unit_test(right_kernels_pass_long_rows),
        cmocka_unit_test(right_kernels_pass_few_rows),   cmocka_unit_test(dropped_keys_fail_at_4096),
        cmocka_unit_test(a_mistake_in_one_row_fails),    cmocka_unit_test(mistakes_fail),
        cmocka_unit_test(further_roundings_fail),        cmocka_unit_test(the_sum_of_rounded_weights_is_no_mistake),
        cmocka_unit_test(inputs_are_rounded_once),       cmocka_unit_test(the_reference_starts_from_rounded_inputs),
        cmocka_unit_test(bounds_are_the_stated_ones),
    };
    return cmocka_run_group_tests_name("verdict in 16 bits", tests, NULL, NULL);
}
