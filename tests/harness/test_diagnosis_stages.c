// What a check says of a kernel whose mistake has no name, from the weights that it gives: each mistake is described by
// what is true of it, and a right kernel by nothing.
#include "cmocka_all.h"
#include "operations/attention_operation.h"
#include "operations/attention_pattern.h"
#include "subject.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct problem_case plain = {.attention = {1, 2, 2, 9, 50, 64}},
                                 longer = {.attention = {1, 2, 2, 9, 70, 64}},
                                 causal = {.attention = {1, 1, 1, 12, 37, 64, .causal = true}},
                                 large = {.attention = {1, 2, 2, 9, 70, 64}, .family = INPUTS_LARGE},
                                 infinite = {.attention = {1, 2, 2, 9, 50, 64}, .family = INPUTS_INF_VALUE};

// What is printed of the kernel with the mistake, which has been wrong in this case.
static char *say(struct subject *subject, const struct problem_case *which) {
    const struct evidence evidence = {*which, 3, OUTCOME_WRONG, false};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    subject->causal = subject->groups = subject->strides = true;
    const struct diagnosed kernel = subject_diagnosed(subject);
    attention_operation.ask(&kernel, &evidence, 1, out);
    fclose(out);
    return text;
}

static void assert_says(struct variant variant, const struct problem_case *which, const char *expected) {
    struct subject subject = {.run = subject_variant, .variant = &variant, .lse = variant.lse != LSE_RIGHT};
    char *text = say(&subject, which);
    if (!strstr(text, expected))
        fail_msg("\"%s\" is not in:\n%s", expected, text);
    free(text);
}

static void a_right_kernel_is_described_by_nothing(void **state) {
    (void)state;
    for (enum fp32_kernel kernel = FP32_TWO_PASS; kernel <= FP32_ONLINE; kernel++) {
        struct subject subject = {.run = subject_fp32, .kernel = kernel};
        char *text = say(&subject, &plain);
        assert_string_equal(text, "");
        free(text);
    }
}

static void sums_are_told_from_weights(void **state) {
    (void)state;
    assert_says((struct variant){.weight = WEIGHT_SQUARED}, &plain, "the sum is of other weights than the output");
    assert_says((struct variant){.columns = {SUBSET_STRIPE, 64, 40}}, &plain,
                "the scores are wrong, or what is made of them");
    assert_says((struct variant){.division = DIVISION_TWICE}, &plain, "divides them by another sum");
    assert_says((struct variant){.sum_keys = {.kind = SUBSET_NOT_LAST}}, &plain,
                "the sum lacks the weight of key 99 of 100");
    assert_says((struct variant){.tail_counted = true, .tile = 64}, &plain,
                "the sum is larger by as much as 28 more keys with a score of 0 would make it");
}

static void what_a_row_is_divided_by_is_told(void **state) {
    (void)state;
    assert_says((struct variant){.division = DIVISION_OF_BLOCK, .queries = 4}, &plain,
                "that sum is another row's: query 1 is divided by that of query 0");
    assert_says((struct variant){.division = DIVISION_TWICE}, &plain, "that sum is the right one to the power of 2");
    assert_says((struct variant){.tail_counted = true, .tile = 64}, &plain,
                "with all scores the same the sum is that of 28 more keys than there are");
    assert_says((struct variant){.sum_keys = {SUBSET_STRIPE, 16, 8}}, &plain,
                "never counts the weights of keys 8 to 15 of each 16 of 64 in the sum");
    assert_says((struct variant){.lse = LSE_SUM}, &plain, "an lse that is off by");
    assert_says((struct variant){.lse = LSE_BASE_2}, &plain,
                "lse is 1.443 times the maximum plus 1.443 times the logarithm of the sum");
    assert_says((struct variant){.weight = WEIGHT_SQUARED}, &plain, "as if all scores were 2 times the right ones");
}

static void what_weights_are_relative_to_is_told(void **state) {
    (void)state;
    assert_says((struct variant){.rescale = RESCALE_NONE, .tile = 32}, &plain,
                "each part is relative to the largest score up to its end");
    assert_says((struct variant){.pieces = PIECES_AS_THEY_STAND, .tile = 32, .queries = 32}, &plain,
                "each part is relative to the largest score of its own keys");
    assert_says((struct variant){.rescale = RESCALE_UPSIDE_DOWN, .tile = 32}, &plain, "by the power -1 of the right");
    assert_says(
        (struct variant){.rescale = RESCALE_OUTPUT_ONLY, .tile = 32}, &plain,
        "that sum is not rescaled: it has the weights of each 32 keys relative to the largest score until then");
    assert_says((struct variant){.maximum = MAXIMUM_NONE}, &large, "gives no numbers where all scores are 89.5");
    assert_says((struct variant){.maximum = MAXIMUM_FROM_0}, &large, "where all scores are -400");
}

static void heads_are_told(void **state) {
    (void)state;
    assert_says((struct variant){.v.head = HEAD_FIRST}, &plain,
                "has the values of another head in the output: batch 0 head 1 those of batch 0 head 0 of V, not 0 and "
                "1; 1 of 2 heads in all");
    assert_says((struct variant){.k.head = HEAD_FIRST}, &plain,
                "weighs with the keys of another head: batch 0 head 1 with those of batch 0 head 0 of K");
}

// An infinity of one head spoils the first query of another.
static bool run_spoilt(void *context, const struct host_problem *problem, float *outputs) {
    struct subject right = {.kernel = FP32_TWO_PASS};
    (void)context;
    subject_fp32(&right, problem, outputs);
    for (int c = 0; c < problem->which.attention.head_dim && !problem->finite; c++)
        outputs[c] = NAN;
    return true;
}

static void what_an_infinity_spoils_is_told(void **state) {
    (void)state;
    struct subject subject = {.run = run_spoilt};
    char *text = say(&subject, &infinite);
    assert_non_null(strstr(text, "the infinity is in v, batch 0 head 1 row"));
    assert_non_null(strstr(text, "wrong in 1 of 2 heads; in batch 0 head 0: query 0 of 9"));
    assert_non_null(strstr(text, "these elements are no numbers, and should be"));
    free(text);
}

static void keys_are_told_from_others(void **state) {
    (void)state;
    assert_says((struct variant){.k.place = PLACE_TILE_BEFORE, .tile = 64}, &longer,
                "gives keys 64 to 139 the weights of keys 0 to 75");
    assert_says((struct variant){.value_keys = {SUBSET_FIRST_TILE, 64}}, &longer,
                "gives keys 64 to 139 of 140 no weight");
    assert_says((struct variant){.rescale = RESCALE_NONE, .tile = 32}, &plain,
                "gives keys 0 to 31, 32 to 63, and 64 to 99 their weights in proportion, but not all of these "
                "parts by the same factor");
    assert_says((struct variant){.maximum = MAXIMUM_OF_THREAD, .threads = 32}, &plain,
                "gives keys j, j + 32, and so on their weights in proportion, but not the same factor for each j");
    assert_says((struct variant){.v.place = PLACE_FIRST_TILE, .tile = 64}, &longer,
                "values of keys from 64 on are never used");
    assert_says((struct variant){.v.place = PLACE_TILE_BEFORE, .tile = 32}, &plain,
                "gives the weights of keys 32 to 99 to the values of the keys as many before them");
    assert_says((struct variant){.v.shift = 1}, &plain,
                "gives key 0 none, keys 1 to 98 the weights of keys 0 to 97, key 99 the weight of key 98 and key 99");
    assert_says((struct variant){.v.place = PLACE_PAIRS}, &plain,
                "gives key 0 the weight of key 1, key 1 the weight of");
    assert_says((struct variant){.mask = MASK_TOP_LEFT}, &causal, "lets query 0 see 1 of 74 keys, not 63");
    assert_says((struct variant){.mask = MASK_SHOWS_NEXT}, &causal, "lets query 0 see 64 of 74 keys, not 63");
}

static void rows_and_scores_are_told(void **state) {
    (void)state;
    assert_says((struct variant){.query = ROW_FIRST}, &plain,
                "gives each wrong row the weights of another: batch 0 head 0 query 1 those of batch 0 head 0 query 0");
    assert_says((struct variant){.query = ROW_FIRST}, &plain, "wrong: queries 1 to 8 of 9");
    assert_says((struct variant){.k.head = HEAD_FIRST, .v.head = HEAD_FIRST}, &plain,
                "wrong: 1 of 2 heads, the first one is batch 0 head 1");
    assert_says((struct variant){.scale = SCALE_TWICE}, &plain,
                "weighs as if all scores were 0.125 times the right ones");
    assert_says((struct variant){.q.shift = 1}, &plain,
                "gives each wrong row the weights of another: batch 0 head 0 query 0 those of batch 0 head 0 query 1");
}

static void columns_and_elements_are_told(void **state) {
    (void)state;
    // Of elements nothing is said where the weights do not follow the scores.
    static const struct variant own_maxima = {.maximum = MAXIMUM_OF_LANE};
    struct subject subject = {.run = subject_variant, .variant = &own_maxima};
    char *text = say(&subject, &plain);
    assert_null(strstr(text, "never counts"));
    free(text);
    assert_says((struct variant){.division = DIVISION_OF_THREAD, .threads = 32}, &plain,
                "columns have weights of their own");
    assert_says((struct variant){.output_transposed = true}, &plain, "columns, rows or heads are mixed up");
    assert_says((struct variant){.columns = {SUBSET_STRIPE, 8, 4}}, &plain,
                "never counts elements 4 to 7 of each 8 of q.k (head_dim 64)");
    assert_says((struct variant){.q.place = PLACE_SWIZZLED}, &plain,
                "has in the place of query 1's element 1 that of query 1's element 9");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_right_kernel_is_described_by_nothing),
        cmocka_unit_test(sums_are_told_from_weights),
        cmocka_unit_test(what_a_row_is_divided_by_is_told),
        cmocka_unit_test(what_weights_are_relative_to_is_told),
        cmocka_unit_test(heads_are_told),
        cmocka_unit_test(what_an_infinity_spoils_is_told),
        cmocka_unit_test(keys_are_told_from_others),
        cmocka_unit_test(rows_and_scores_are_told),
        cmocka_unit_test(columns_and_elements_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
