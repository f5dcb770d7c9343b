// The diagnosis as a whole, of kernels that are C functions: what explains a mistake is printed, right kernels and
// noise have no explanation.
#include "cmocka_all.h"
#include "findings.h"
#include "fp32_attention.h"
#include "host/diagnosis.h"
#include "host/parallel.h"
#include "host/verdict.h"
#include "operations/attention_operation.h"
#include "operations/softmax_operation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct problem_case cases[] = {
    {.attention = {1, 1, 1, 1, 1, 64}},
    {.attention = {1, 1, 1, 33, 33, 32}},
    {.attention = {1, 1, 1, 40, 64, 64}},
    {.attention = {1, 1, 1, 2, 300, 32}},
    {.attention = {2, 3, 3, 9, 33, 40}},
    {.attention = {1, 1, 1, 33, 40, 64, .causal = true}},
    {.attention = {1, 2, 2, 5, 70, 64}, .family = INPUTS_OFFSET},
};
enum { CASES = sizeof cases / sizeof *cases };

static bool covers(void *context, const struct problem_case *which) {
    (void)context;
    (void)which;
    return true;
}

// What is printed of a kernel: as a check does, or of cases that all are called wrong.
static char *explanation_of(const struct diagnosed *kernel, bool all_wrong) {
    struct evidence evidence[CASES];
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    for (int i = 0; i < CASES; i++) {
        struct host_problem problem;
        attention_make(&cases[i], (uint64_t)i, true, &problem);
        float *outputs = host_allocate(problem_output_elements(&problem), sizeof *outputs);
        const bool wrong =
            all_wrong || !kernel->run(kernel->context, &problem, outputs) || !verdict_of_all(&problem, outputs, 1);
        evidence[i] = (struct evidence){cases[i], (uint64_t)i, wrong ? OUTCOME_WRONG : OUTCOME_RIGHT, true};
        free(outputs);
        host_problem_free(&problem);
    }
    kernel->operation->explain(kernel, evidence, CASES, out);
    fclose(out);
    return text;
}

static void assert_says(problem_run *run, const void *context, const char *code, const char *not_said) {
    const struct diagnosed kernel = {
        .operation = &attention_operation, .optional = true, .covers = covers, .run = run, .context = (void *)context};
    char bracket[80], *text = explanation_of(&kernel, false);
    snprintf(bracket, sizeof bracket, "[%s]\n", code);
    if (!strstr(text, bracket) || (not_said && strstr(text, not_said)))
        fail_msg("not %s, but:\n%s", code, text);
    free(text);
}

static bool run_fp32(void *context, const struct host_problem *problem, float *outputs) {
    const int64_t rows = problem_output(problem, OUTPUT_O)->rows;
    const int d = problem->which.attention.head_dim;
    for (int64_t row = 0; row < rows; row++) {
        const float lse = fp32_attention_row(problem, *(const enum fp32_kernel *)context, row, outputs + row * d);
        if (problem->outputs > OUTPUT_LSE)
            outputs[rows * d + row] = lse;
    }
    return true;
}

static void mistakes_in_fp32_are_explained(void **state) {
    static const struct {
        enum fp32_kernel kernel;
        const char *code;
    } mistakes[] = {
        {FP32_NO_SCALE, "scores-scaled"},
        {FP32_NO_MAXIMUM, "maximum-not-subtracted"},
        {FP32_DROPS_A_KEY, "keys-without-weight"},
        {FP32_NOT_RESCALED, "tiles-not-rescaled"},
        {FP32_TAIL_IS_ZERO, "row-sum-counts-extra-keys"},
        {FP32_BF16_WEIGHTS, "rounded-weights"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
        assert_says(run_fp32, &mistakes[i].kernel, mistakes[i].code, NULL);
}

// Whatever a check says of them: an output that is right has no mistake in it.
static void right_outputs_are_not_explained(void **state) {
    static const enum fp32_kernel kernels[] = {FP32_TWO_PASS, FP32_ONLINE};
    (void)state;
    for (int i = 0; i < 2; i++) {
        const struct diagnosed kernel = {
            .operation = &attention_operation, .covers = covers, .run = run_fp32, .context = (void *)&kernels[i]};
        char *text = explanation_of(&kernel, true);
        assert_string_equal(text, "");
        free(text);
    }
}

// Noise on the output of a mistake: it is not that mistake.
static bool run_with_noise(void *context, const struct host_problem *problem, float *outputs) {
    run_fp32(context, problem, outputs);
    for (int64_t i = 0; i < shape_q_elements(&problem->which.attention); i++)
        outputs[i] *= 1 + 0.1f * (float)((i * 7919 + 13) % 17 - 8);
    return true;
}

// A race: another output each time.
static bool run_at_random(void *context, const struct host_problem *problem, float *outputs) {
    static int launches;
    (void)context;
    const enum fp32_kernel kernel = launches++ % 2 ? FP32_NO_SCALE : FP32_DROPS_A_KEY;
    return run_fp32((void *)&kernel, problem, outputs);
}

static void what_is_no_mistake_is_not_explained(void **state) {
    static const enum fp32_kernel right = FP32_TWO_PASS;
    (void)state;
    assert_says(run_with_noise, &right, "not-one-weight-per-key", "diagnosis:");
    assert_says(run_at_random, NULL, "not-reproducible", "diagnosis:");
}

// ---- Outputs of 0 ---------------------------------------------------------------------------------------------------

// What a kernel does whose output is 0: it multiplies the values by weights and divides by a sum, which is of this
// logarithm.
struct zero_kernel {
    bool multiplies, weights_0, lse_right;
    float lse;
};

static bool run_zeros(void *context, const struct host_problem *problem, float *outputs) {
    static const enum fp32_kernel right = FP32_TWO_PASS;
    const struct zero_kernel *zero = context;
    const struct host_tensor *v = &problem->tensor[V], *o = problem_output(problem, OUTPUT_O);
    const int64_t elements = o->rows * o->columns;
    float largest = 0;
    run_fp32((void *)&right, problem, outputs);
    for (int64_t i = 0; i < v->kept * v->columns; i++)
        largest = fmaxf(largest, fabsf(v->values[i]));
    const bool shows = isinf(largest) || (!zero->weights_0 && isinf(2 * largest));
    for (int64_t i = 0; i < elements; i++)
        outputs[i] = zero->multiplies && shows ? NAN : 0;
    for (int64_t r = 0; r < o->rows && problem->outputs > OUTPUT_LSE && !zero->lse_right; r++)
        outputs[elements + r] = zero->lse;
    return true;
}

static void causes_of_zeros_are_distinguished(void **state) {
    static const struct {
        struct zero_kernel kernel;
        const char *code;
    } zeros[] = {
        {{.lse = -INFINITY}, "zero-rows-masked"},
        {{.lse_right = true}, "zero-rows-lse-right"},
        {{.lse_right = true}, "values-lost"},
        {{.multiplies = true, .lse = INFINITY}, "zero-rows-sum-infinite"},
        {{.multiplies = true, .weights_0 = true, .lse = 3}, "weights-zero"},
        {{.multiplies = true, .lse = 3}, "sum-zero-or-infinite"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++)
        assert_says(run_zeros, &zeros[i].kernel, zeros[i].code, "diagnosis:");
}

// ---- Row softmax ----------------------------------------------------------------------------------------------------

enum softmax_kernel { SOFTMAX_RIGHT, SOFTMAX_NO_MAXIMUM, SOFTMAX_NO_DIVISION, SOFTMAX_PADDED, SOFTMAX_SHORT };

static bool run_softmax(void *context, const struct host_problem *problem, float *out) {
    const enum softmax_kernel kernel = *(const enum softmax_kernel *)context;
    const struct matrix_shape *shape = &problem->which.matrix;
    const float *in = problem->tensor[0].values;
    for (int64_t r = 0; r < shape->rows; r++, in += shape->columns, out += shape->columns) {
        float maximum = -INFINITY, sum = 0;
        for (int c = 0; c < shape->columns; c++)
            maximum = fmaxf(maximum, in[c]);
        if (kernel == SOFTMAX_NO_MAXIMUM)
            maximum = 0;
        if (kernel == SOFTMAX_PADDED && shape->columns % 4)
            sum = (float)(4 - shape->columns % 4) * expf(-maximum);
        for (int c = 0; c < shape->columns; c++)
            sum += out[c] = expf(in[c] - maximum);
        for (int c = 0; c < shape->columns; c++) {
            out[c] /= kernel == SOFTMAX_NO_DIVISION ? 1 : sum;
            if (kernel == SOFTMAX_SHORT && c >= 256)
                memset(&out[c], 0xFF, sizeof out[c]);
        }
    }
    return true;
}

static void mistakes_of_a_row_softmax_are_explained(void **state) {
    static const char *const codes[] = {NULL, "maximum-not-subtracted", "division-missing", "row-sum-counts-extra-keys",
                                        "wrong-columns"};
    static const struct evidence evidence[] = {
        {.which = {.matrix = {3, 37}}, .seed = 1, .outcome = OUTCOME_WRONG},
        {.which = {.matrix = {2, 1025}}, .seed = 2, .outcome = OUTCOME_WRONG},
    };
    (void)state;
    for (enum softmax_kernel kernel = SOFTMAX_RIGHT; kernel <= SOFTMAX_SHORT; kernel++) {
        const struct diagnosed diagnosed = {
            .operation = &softmax_operation, .covers = covers, .run = run_softmax, .context = &kernel};
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        assert_non_null(out);
        softmax_operation.explain(&diagnosed, evidence, 2, out);
        fclose(out);
        if (codes[kernel] ? !strstr(text, codes[kernel]) : *text)
            fail_msg("not %s, but:\n%s", codes[kernel] ? codes[kernel] : "nothing", text);
        free(text);
    }
}

static void findings_have_a_meaning(void **state) {
    (void)state;
    assert_non_null(diagnosis_finding(SIM_FINDING_RACE_BLOCK));
    assert_string_equal(diagnosis_finding(SIM_FINDING_RACE_WARP)->title, "race within a warp");
    assert_null(diagnosis_finding(-1));
    assert_null(diagnosis_finding(SIM_FINDING_KINDS));
    assert_null(diagnosis_finding(SIM_FINDING_ASSERT)); // the author of the kernel wrote the condition
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_in_fp32_are_explained),          cmocka_unit_test(right_outputs_are_not_explained),
        cmocka_unit_test(what_is_no_mistake_is_not_explained),     cmocka_unit_test(causes_of_zeros_are_distinguished),
        cmocka_unit_test(mistakes_of_a_row_softmax_are_explained), cmocka_unit_test(findings_have_a_meaning),
    };
    return cmocka_run_group_tests_name("diagnosis", tests, NULL, NULL);
}
