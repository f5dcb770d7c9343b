// An output that is 0 everywhere: what is said of it follows from lse, from values that are infinite or nearly so, and
// from the other type in 16 bits.
#include "cmocka_all.h"
#include "operations/attention_operation.h"
#include "subject.h"

#include <math.h>

// What a kernel does whose output is 0.
struct lost {
    bool meets;        // it multiplies the values by weights and divides by a sum,
    bool weights_0;    // the former of which are 0, or the latter is infinite, or taken for that of no key
    bool lse_right;    // that sum is right all the same,
    float lse;         // or of this logarithm
    bool in_fp16_only; // and is right in other types
};

static const struct lost *lost; // of the kernel that runs

static bool run_lost(void *context, const struct host_problem *problem, float *outputs) {
    static const struct variant no_mistake;
    struct subject right = {.variant = &no_mistake};
    const struct host_tensor *v = &problem->tensor[V], *o = problem_output(problem, OUTPUT_O);
    int64_t elements = o->rows * o->columns;
    float largest = 0;
    (void)context;
    subject_variant(&right, problem, outputs);
    if (lost->in_fp16_only && problem->which.dtype != ATTENTION_FP16)
        return true;
    for (int64_t i = 0; i < v->kept * v->columns; i++)
        largest = fmaxf(largest, fabsf(v->values[i]));
    bool overflows = isinf(largest) || (!lost->weights_0 && isinf(2 * largest));
    for (int64_t i = 0; i < elements; i++)
        outputs[i] = lost->meets && overflows ? NAN : 0;
    for (int64_t r = 0; r < o->rows && problem->outputs > OUTPUT_LSE && !lost->lse_right; r++)
        outputs[elements + r] = lost->lse;
    return true;
}

static void assert_named(const struct lost *kernel, enum attention_dtype dtype, bool lse, const char *title) {
    static const struct problem_case cases[] = {
        {.attention = {1, 1, 1, 33, 33, 32}},
        {.attention = {1, 2, 2, 5, 37, 64}},
        {.attention = {1, 1, 1, 33, 33, 64, .causal = true}},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    struct problem_case list[CASES];
    struct subject subject = {.run = run_lost, .causal = true, .lse = lse};
    for (int i = 0; i < CASES; i++) {
        list[i] = cases[i];
        list[i].dtype = dtype;
    }
    lost = kernel;
    assert_string_equal(subject_diagnose(&subject, 70, list, CASES), title);
}

static void lse_tells_where_the_output_is_lost(void **state) {
    (void)state;
    for (enum attention_dtype dtype = ATTENTION_FP32; dtype <= ATTENTION_BF16; dtype++) {
        assert_named(&(struct lost){.lse = -INFINITY}, dtype, true, "no key is seen, or none is in the sum");
        assert_named(&(struct lost){.lse_right = true}, dtype, true, "the values or their weighted sum are lost");
        assert_named(&(struct lost){.meets = true, .weights_0 = true, .lse_right = true}, dtype, true,
                     "the weights are 0 where they meet the values");
        assert_named(&(struct lost){.meets = true, .lse = INFINITY}, dtype, true, "the sum of the weights is infinite");
        assert_named(&(struct lost){.meets = true, .lse = -INFINITY}, dtype, true, "the sum of the weights stays 0");
        assert_named(&(struct lost){.lse = 3}, dtype, true, "no key is seen, or its value is lost");
    }
}

static void without_lse_two_may_look_the_same(void **state) {
    (void)state;
    assert_named(&(struct lost){.meets = false}, ATTENTION_FP32, false, "no key is seen, or its value is lost");
    assert_named(&(struct lost){.meets = true}, ATTENTION_FP32, false, "the sum of the weights is infinite or stays 0");
    assert_named(&(struct lost){.meets = true, .weights_0 = true}, ATTENTION_FP32, false,
                 "the weights are 0 where they meet the values");
}

static void bf16_tells_what_fp16_rounds_away(void **state) {
    (void)state;
    const struct lost rounded = {.meets = true, .weights_0 = true, .lse_right = true, .in_fp16_only = true};
    assert_named(&rounded, ATTENTION_FP16, true, "the weights are rounded to 0 in fp16");
    assert_named(&rounded, ATTENTION_FP16, false, "the weights are rounded to 0 in fp16");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lse_tells_where_the_output_is_lost),
        cmocka_unit_test(without_lse_two_may_look_the_same),
        cmocka_unit_test(bf16_tells_what_fp16_rounds_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
