// The explanation of a kernel whose mistake the diagnosis does not know: each mistake has the codes and numbers of its
// symptoms, and a right kernel has none. tests/asked has the wording.
#include "cmocka_all.h"
#include "operations/attention_conditions.h"
#include "operations/attention_operation.h"
#include "subject.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct problem_case plain = {.attention = {1, 2, 2, 9, 50, 64}},
                                 longer = {.attention = {1, 2, 2, 9, 70, 64}},
                                 causal = {.attention = {1, 1, 1, 12, 37, 64, .causal = true}},
                                 large = {.attention = {1, 2, 2, 9, 70, 64}, .family = INPUTS_LARGE},
                                 infinite = {.attention = {1, 2, 2, 9, 50, 64}, .family = INPUTS_INF_VALUE};

// The text that explains the kernel, which has been wrong in this case.
static char *explanation_of(struct subject *subject, const struct problem_case *which) {
    const struct evidence evidence = {*which, 3, OUTCOME_WRONG, false};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    subject->causal = subject->groups = subject->strides = true;
    const struct diagnosed kernel = subject_diagnosed(subject);
    attention_operation.explain(&kernel, &evidence, 1, out);
    fclose(out);
    return text;
}

// The numbers in a line, separated by spaces: "2 0.5" of "  key 2 has 0.5 [code]".
static void numbers_of(const char *line, const char *end, char *numbers, size_t size) {
    size_t length = 0;
    numbers[0] = 0;
    while (line < end) {
        const size_t word = strcspn(line, " (),;:%");
        char *rest;
        strtod(line, &rest);
        if (strchr("-0123456789", *line) && (rest == line + word || (rest + 1 == line + word && *rest == '.')) &&
            length < size)
            length += (size_t)snprintf(numbers + length, size - length, "%s%.*s", length ? " " : "", (int)(rest - line),
                                       line);
        line += word + 1;
    }
}

// Whether a line has this code, and its numbers begin with these.
static bool explains(const char *text, const char *code, const char *numbers) {
    char bracket[80], found[400];
    snprintf(bracket, sizeof bracket, " [%s]\n", code);
    for (const char *end = text; (end = strstr(end, bracket)); end++) {
        const char *line = end;
        while (line > text && line[-1] != '\n')
            line--;
        numbers_of(line, end, found, sizeof found);
        if (!strncmp(found, numbers, strlen(numbers)))
            return true;
    }
    return false;
}

static void assert_explains(struct variant variant, const struct problem_case *which, const char *code,
                            const char *numbers) {
    struct subject subject = {.run = subject_variant, .variant = &variant, .lse = variant.lse != LSE_RIGHT};
    char *text = explanation_of(&subject, which);
    if (!explains(text, code, numbers))
        fail_msg("no line has the code \"%s\" and the numbers \"%s\":\n%s", code, numbers, text);
    free(text);
}

static void a_right_kernel_has_no_explanation(void **state) {
    (void)state;
    for (enum fp32_kernel kernel = FP32_TWO_PASS; kernel <= FP32_ONLINE; kernel++) {
        struct subject subject = {.run = subject_fp32, .kernel = kernel};
        char *text = explanation_of(&subject, &plain);
        assert_string_equal(text, "");
        free(text);
    }
}

static void wrong_sums_and_wrong_weights_are_distinguished(void **state) {
    (void)state;
    assert_explains((struct variant){.weight = WEIGHT_SQUARED}, &plain, "row-sum-of-other-weights", "");
    assert_explains((struct variant){.columns = {SUBSET_STRIPE, 64, 40}}, &plain, "row-sum-of-these-weights", "1");
    assert_explains((struct variant){.division = DIVISION_TWICE}, &plain, "row-sum-power", "2");
    assert_explains((struct variant){.sum_keys = {.kind = SUBSET_NOT_LAST}}, &plain, "row-sum-misses-key", "99 100");
    assert_explains((struct variant){.padding_counted = true, .tile = 64}, &plain, "row-sum-counts-extra-keys", "28");
}

static void the_divisor_of_a_row_is_explained(void **state) {
    (void)state;
    assert_explains((struct variant){.division = DIVISION_OF_BLOCK, .queries = 4}, &plain, "row-sum-of-other-row",
                    "4 4");
    assert_explains((struct variant){.division = DIVISION_TWICE}, &plain, "row-sum-power", "2");
    assert_explains((struct variant){.padding_counted = true, .tile = 64}, &plain, "row-sum-counts-extra-keys", "28");
    assert_explains((struct variant){.sum_keys = {SUBSET_STRIPE, 16, 8}}, &plain, "row-sum-misses-keys",
                    "8 15 24 31 56 63 16 64");
    assert_explains((struct variant){.lse = LSE_SUM}, &plain, "lse-wrong", "");
    assert_explains((struct variant){.lse = LSE_BASE_2}, &plain, "lse-formula", "1.443 1.443");
    assert_explains((struct variant){.weight = WEIGHT_SQUARED}, &plain, "scores-scaled", "2");
}

static void the_maximum_of_weights_is_explained(void **state) {
    (void)state;
    assert_explains((struct variant){.rescale = RESCALE_NONE, .tile = 32}, &plain, "tiles-not-rescaled", "32 130");
    assert_explains((struct variant){.partials = PARTIALS_NOT_RESCALED, .tile = 32, .queries = 32}, &plain,
                    "tile-maximum-not-combined", "");
    assert_explains((struct variant){.rescale = RESCALE_INVERTED, .tile = 32}, &plain, "tile-rescale-power", "32 -1");
    assert_explains((struct variant){.rescale = RESCALE_OUTPUT_ONLY, .tile = 32}, &plain, "row-sum-not-rescaled", "32");
    assert_explains((struct variant){.maximum = MAXIMUM_NONE}, &large, "extreme-equal-scores-not-finite", "89.5");
    assert_explains((struct variant){.maximum = MAXIMUM_FROM_0}, &large, "extreme-equal-scores-not-finite", "-400");
}

static void wrong_heads_are_explained(void **state) {
    (void)state;
    assert_explains((struct variant){.v.head = HEAD_FIRST}, &plain, "values-of-other-head", "0 1 0 0 0 1 1 2");
    assert_explains((struct variant){.k.head = HEAD_FIRST}, &plain, "keys-of-other-head", "0 1 0 0");
}

// An infinity in one head reaches the first query of another.
static bool run_reached(void *context, const struct host_problem *problem, float *outputs) {
    struct subject right = {.kernel = FP32_TWO_PASS};
    (void)context;
    subject_fp32(&right, problem, outputs);
    for (int c = 0; c < problem->which.attention.head_dim && !problem->finite; c++)
        outputs[c] = NAN;
    return true;
}

static void rows_that_an_infinity_reaches_are_explained(void **state) {
    (void)state;
    struct subject subject = {.run = run_reached};
    char *text = explanation_of(&subject, &infinite);
    assert_true(explains(text, "special-input", "0 1"));
    assert_true(explains(text, "wrong-rows", "1 2 0 0 0 9"));
    assert_true(explains(text, "not-finite", ""));
    free(text);
}

// Four equal splits of the keys, of which one without keys makes the output NaN.
static bool run_splits(void *context, const struct host_problem *problem, float *outputs) {
    enum { SPLITS = 4 };
    struct subject right = {.kernel = FP32_TWO_PASS};
    const int nk = problem->which.attention.nk, each = (nk + SPLITS - 1) / SPLITS;
    (void)context;
    subject_fp32(&right, problem, outputs);
    for (int64_t i = 0; i < shape_q_elements(&problem->which.attention) && each * (SPLITS - 1) >= nk; i++)
        outputs[i] = NAN;
    return true;
}

static void splits_without_keys_are_explained(void **state) {
    (void)state;
    static const struct problem_case short_row = {.attention = {1, 2, 2, 9, 3, 64}};
    struct subject subject = {.run = run_splits};
    char *text = explanation_of(&subject, &short_row);
    assert_true(explains(text, "split-without-keys", "4 1 24"));
    free(text);
}

static void wrong_keys_are_explained(void **state) {
    (void)state;
    assert_explains((struct variant){.k.operand = OPERAND_PREVIOUS_TILE, .tile = 64}, &longer, "keys-displaced",
                    "64 64 180");
    assert_explains((struct variant){.value_keys = {SUBSET_FIRST_TILE, 64}}, &longer, "keys-without-weight",
                    "64 139 140");
    assert_explains((struct variant){.maximum = MAXIMUM_OF_THREAD, .threads = 32}, &plain, "threads-differ", "32");
    assert_explains((struct variant){.v.operand = OPERAND_FIRST_TILE, .tile = 64}, &longer, "weights-displaced",
                    "64 180");
    assert_explains((struct variant){.v.operand = OPERAND_PREVIOUS_TILE, .tile = 32}, &plain, "weights-displaced",
                    "32 32 130");
    assert_explains((struct variant){.v.shift = 1}, &plain, "weights-displaced", "1 130");
    assert_explains((struct variant){.v.operand = OPERAND_PAIRS_SWAPPED}, &plain, "weights-displaced", "1 130");
    assert_explains((struct variant){.mask = MASK_TOP_LEFT}, &causal, "limit-wrong", "0 1 74 63");
    assert_explains((struct variant){.mask = MASK_LIMIT_TOO_HIGH}, &causal, "limit-wrong", "0 64 74 63");
}

static void wrong_rows_and_scores_are_explained(void **state) {
    (void)state;
    assert_explains((struct variant){.query = ROW_FIRST}, &plain, "rows-of-other-rows", "0 130");
    assert_explains((struct variant){.query = ROW_FIRST}, &plain, "rows-wrong", "1 8 9");
    assert_explains((struct variant){.k.head = HEAD_FIRST, .v.head = HEAD_FIRST}, &plain, "rows-wrong", "1 2 0 1");
    assert_explains((struct variant){.scale = SCALE_TWICE}, &plain, "scores-scaled", "0.125");
    assert_explains((struct variant){.q.shift = 1}, &plain, "rows-of-other-rows", "1 130");
}

static void wrong_columns_and_elements_are_explained(void **state) {
    (void)state;
    // The probe of elements reports nothing if the weights do not depend on the scores.
    static const struct variant own_maxima = {.maximum = MAXIMUM_OF_LANE};
    struct subject subject = {.run = subject_variant, .variant = &own_maxima};
    char *text = explanation_of(&subject, &plain);
    assert_null(strstr(text, "[q-k-misses-elements]"));
    assert_null(strstr(text, "[row-sum-misses-keys]"));
    free(text);
    assert_explains((struct variant){.division = DIVISION_OF_THREAD, .threads = 32}, &plain, "columns-differ", "");
    assert_explains((struct variant){.output_transposed = true}, &plain, "not-one-weight-per-key", "");
    assert_explains((struct variant){.columns = {SUBSET_STRIPE, 8, 4}}, &plain, "q-k-misses-elements",
                    "4 7 12 15 60 63 8 64");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_right_kernel_has_no_explanation),
        cmocka_unit_test(wrong_sums_and_wrong_weights_are_distinguished),
        cmocka_unit_test(the_divisor_of_a_row_is_explained),
        cmocka_unit_test(the_maximum_of_weights_is_explained),
        cmocka_unit_test(wrong_heads_are_explained),
        cmocka_unit_test(rows_that_an_infinity_reaches_are_explained),
        cmocka_unit_test(splits_without_keys_are_explained),
        cmocka_unit_test(wrong_keys_are_explained),
        cmocka_unit_test(wrong_rows_and_scores_are_explained),
        cmocka_unit_test(wrong_columns_and_elements_are_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
