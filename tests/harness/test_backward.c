// The reference of the backward pass: by hand, by finite differences of a forward pass, and against its own tolerance.
#include "cmocka_all.h"
#include "host/parallel.h"
#include "host/verdict.h"
#include "operations/attention_reference.h"
#include "operations/backward_operation.h"
#include "operations/backward_reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct backward_variant right = {0};

static struct problem_case case_of(int batch, int heads, int kv_heads, int nq, int nk, int d, bool causal) {
    return (struct problem_case){.attention = {batch, heads, kv_heads, nq, nk, d, causal, .layout = LAYOUT_BHND},
                                 .has_scale = true,
                                 .scale = 0.5f};
}

// All outputs, one after the other, of a variant.
static double *gradients(const struct host_problem *problem, const struct backward_variant *variant) {
    struct backward_reference reference = backward_begin(problem);
    double *all = host_allocate(problem_output_elements(problem), sizeof *all), *to = all;
    double other[2][MAX_HEAD_DIM];
    for (int output = 0; output < problem->outputs; output++)
        for (int64_t r = 0; r < problem_output(problem, output)->rows; r++) {
            struct gradient_row row = {.value = to, .bound = other[0], .size = other[1]};
            backward_row(&reference, variant, output, r, &row);
            to += problem_output(problem, output)->columns;
        }
    backward_reference_free(&reference);
    return all;
}

// One query (1), two keys (1) and (0), values (2) and (0), scale 1, d_o = (4). Scores 1 and 0.
static void one_query_and_two_keys_by_hand(void **state) {
    (void)state;
    struct problem_case which = case_of(1, 1, 1, 1, 2, 1, false);
    struct host_problem problem;
    which.scale = 1;
    backward_make(&which, 1, true, &problem);
    const double p = M_E / (M_E + 1);
    const float values[][2] = {{1}, {1, 0}, {2, 0}, {(float)(2 * p)}, {(float)log(M_E + 1)}, {4}};
    for (int i = 0; i < problem.inputs; i++)
        memcpy(problem.tensor[i].values, values[i], (size_t)problem.tensor[i].rows * sizeof(float));
    // dp = (8, 0), delta = 8 p, ds = (p (8 - 8 p), -(1 - p) 8 p) = 8 p (1 - p) (1, -1)
    const double ds = 8 * p * (1 - p), expected[] = {ds, ds, -ds, 4 * p, 4 * (1 - p)};
    double *got = gradients(&problem, &right);
    for (int i = 0; i < 5; i++)
        assert_true(fabs(got[i] - expected[i]) < 2e-6);
    free(got);
    host_problem_free(&problem);
}

// The loss: sum of d_o * o over everything, of an attention in double precision.
static double loss(const struct host_problem *backward) {
    struct host_problem forward = *backward;
    double sum = 0;
    forward.operation = &attention_operation;
    forward.inputs = 3;
    struct row_sample all = sample_rows(backward->tensor[Q].rows, backward->tensor[Q].rows, 1, 0);
    struct attention_reference reference = attention_refer(&forward, &all);
    for (int64_t r = 0; r < all.count; r++)
        for (int c = 0; c < reference.head_dim; c++)
            sum += reference.o[r * reference.head_dim + c] * (double)host_row(&backward->tensor[D_O], r)[c];
    attention_reference_free(&reference);
    sample_free(&all);
    return sum;
}

// Central differences, divided by the step that floats take.
static void differences_agree(const struct problem_case *which) {
    const float step = 0x1p-9f;
    struct host_problem problem;
    backward_make(which, 7, true, &problem);
    double *got = gradients(&problem, &right), *next = got;
    for (int output = 0; output < 3; output++) {
        struct host_tensor *input = &problem.tensor[output == OUTPUT_DQ ? Q : output == OUTPUT_DK ? K : V];
        for (int64_t i = 0; i < input->rows * input->columns; i++, next++) {
            const float x = input->values[i], higher = x + step, lower = x - step;
            input->values[i] = higher;
            double above = loss(&problem);
            input->values[i] = lower;
            double below = loss(&problem);
            input->values[i] = x;
            double difference = (above - below) / ((double)higher - lower);
            if (fabs(difference - *next) > 1e-4 * fmax(1, fabs(*next)))
                fail_msg("output %d, element %lld: %g, and by differences %g", output, (long long)i, *next, difference);
        }
    }
    free(got);
    host_problem_free(&problem);
}

static void finite_differences(void **state) {
    (void)state;
    const struct problem_case cases[] = {case_of(1, 1, 1, 4, 5, 3, false), case_of(2, 2, 2, 3, 4, 2, true),
                                         case_of(1, 4, 2, 3, 5, 4, false), case_of(1, 2, 1, 5, 3, 3, true),
                                         case_of(1, 2, 1, 3, 6, 3, true)};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        differences_agree(&cases[i]);
}

static float *as_floats(const struct host_problem *problem, const double *from) {
    float *to = host_allocate(problem_output_elements(problem), sizeof *to);
    int64_t i = 0;
    for (int output = 0; output < problem->outputs; output++) {
        const struct host_tensor *tensor = problem_output(problem, output);
        for (int64_t end = i + tensor->rows * tensor->columns; i < end; i++)
            to[i] = dtype_round(tensor->dtype, (float)from[i]);
    }
    return to;
}

static bool passes(struct problem_case which, enum attention_dtype dtype, const struct backward_variant *variant) {
    struct host_problem problem;
    which.dtype = dtype;
    backward_make(&which, 3, true, &problem);
    double *value = gradients(&problem, variant);
    float *got = as_floats(&problem, value);
    bool good = verdict_of_all(&problem, got, 1);
    free(value);
    free(got);
    host_problem_free(&problem);
    return good;
}

static void the_reference_passes_in_every_type(void **state) {
    (void)state;
    struct problem_case which = case_of(1, 4, 2, 40, 70, 40, true);
    static const enum attention_dtype types[] = {ATTENTION_FP32, ATTENTION_FP16, ATTENTION_BF16};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        assert_true(passes(which, types[i], &right));
}

static void no_mistake_passes(void **state) {
    (void)state;
    static const struct backward_variant wrong[] = {
        {.scale_of_dq = NO_SCALE},
        {.scale_of_dk = SCALE_TWICE},
        {.scale_of_scores = NO_SCALE},
        {.delta = NO_DELTA},
        {.delta = DELTA_ADDED},
        {.delta = DELTA_OF_NEXT_ROW},
        {.lse = LSE_AS_IF_BASE_2},
        {.lse = NO_LSE},
        {.heads_of_dk = FIRST_HEAD},
        {.heads_of_dv = LAST_HEAD},
        {.heads_in_turn = true},
        {.border_of_dq = 1},
        {.border_of_dk = -1},
        {.border_of_dv = 1},
        {.ds = DP_ONLY},
        {.dv_of_ds = true},
        {.swapped = true},
        {.last_keys = 32},
        {.last_queries = 16},
        {.whole_queries = 32},
        {.whole_keys = 64},
    };
    struct problem_case which = case_of(1, 4, 2, 40, 70, 40, true);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        for (int type = 0; type < ATTENTION_DTYPES; type++)
            if (passes(which, (enum attention_dtype)type, &wrong[i]))
                fail_msg("mistake %zu passes in %s", i, dtype_of((enum attention_dtype)type)->name);
    // Which 16 bits hold too few of delta shows in fp32.
    assert_false(passes(which, ATTENTION_FP32, &(struct backward_variant){.delta = DELTA_IN_16_BITS}));
}

// Queries above the diagonal see nothing: their lse is -inf, and no NaN comes of it.
static void a_query_that_sees_nothing_has_no_gradient(void **state) {
    (void)state;
    struct problem_case which = case_of(1, 1, 1, 5, 2, 3, true);
    struct host_problem problem;
    backward_make(&which, 2, true, &problem);
    assert_true(problem.tensor[LSE].values[0] == -INFINITY && problem.tensor[LSE].values[4] > -INFINITY);
    double *got = gradients(&problem, &right);
    for (int i = 0; i < 3 * 3; i++)
        assert_true(got[i] == 0);
    for (int64_t i = 0; i < problem_output_elements(&problem); i++)
        assert_true(isfinite(got[i]));
    free(got);
    host_problem_free(&problem);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_query_and_two_keys_by_hand),
        cmocka_unit_test(finite_differences),
        cmocka_unit_test(the_reference_passes_in_every_type),
        cmocka_unit_test(no_mistake_passes),
        cmocka_unit_test(a_query_that_sees_nothing_has_no_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
