// An output that is 0 everywhere: what is said of it follows from lse, from values that are infinite or nearly so, and
// from the other type in 16 bits.
#include "cmocka_all.h"
#include "operations/attention_operation.h"
#include "subject.h"

#include <math.h>

// What a kernel does whose output is 0.
struct zero_kernel {
    bool multiplies;   // it multiplies the values by weights and divides by a sum,
    bool weights_0;    // the former of which are 0, or the latter is infinite, or taken for that of no key
    bool lse_right;    // that sum is right all the same,
    float lse;         // or of this logarithm
    bool in_fp16_only; // and is right in other types
};

static const struct zero_kernel *zero_kernel; // of the kernel that runs

static bool run_zero_kernel(void *context, const struct host_problem *problem, float *outputs) {
    static const struct variant no_mistake;
    struct subject right = {.variant = &no_mistake};
    const struct host_tensor *v = &problem->tensor[V], *o = problem_output(problem, OUTPUT_O);
    int64_t elements = o->rows * o->columns;
    float largest = 0;
    (void)context;
    subject_variant(&right, problem, outputs);
    if (zero_kernel->in_fp16_only && problem->which.dtype != ATTENTION_FP16)
        return true;
    for (int64_t i = 0; i < v->kept * v->columns; i++)
        largest = fmaxf(largest, fabsf(v->values[i]));
    bool overflows = isinf(largest) || (!zero_kernel->weights_0 && isinf(2 * largest));
    for (int64_t i = 0; i < elements; i++)
        outputs[i] = zero_kernel->multiplies && overflows ? NAN : 0;
    for (int64_t r = 0; r < o->rows && problem->outputs > OUTPUT_LSE && !zero_kernel->lse_right; r++)
        outputs[elements + r] = zero_kernel->lse;
    return true;
}

static void assert_named(const struct zero_kernel *kernel, enum attention_dtype dtype, bool lse, const char *title) {
    static const struct problem_case cases[] = {
        {.attention = {1, 1, 1, 33, 33, 32}},
        {.attention = {1, 2, 2, 5, 37, 64}},
        {.attention = {1, 1, 1, 33, 33, 64, .causal = true}},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    struct problem_case list[CASES];
    struct subject subject = {.run = run_zero_kernel, .causal = true, .lse = lse};
    for (int i = 0; i < CASES; i++) {
        list[i] = cases[i];
        list[i].dtype = dtype;
    }
    zero_kernel = kernel;
    assert_string_equal(subject_diagnose(&subject, 70, list, CASES), title);
}

static void lse_distinguishes_causes_of_zeros(void **state) {
    (void)state;
    for (enum attention_dtype dtype = ATTENTION_FP32; dtype <= ATTENTION_BF16; dtype++) {
        assert_named(&(struct zero_kernel){.lse = -INFINITY}, dtype, true, "all-keys-masked");
        assert_named(&(struct zero_kernel){.lse_right = true}, dtype, true, "values-lost");
        assert_named(&(struct zero_kernel){.multiplies = true, .weights_0 = true, .lse_right = true}, dtype, true,
                     "weights-zero");
        assert_named(&(struct zero_kernel){.multiplies = true, .lse = INFINITY}, dtype, true, "sum-infinite");
        assert_named(&(struct zero_kernel){.multiplies = true, .lse = -INFINITY}, dtype, true, "sum-zero");
        assert_named(&(struct zero_kernel){.lse = 3}, dtype, true, "output-zero");
    }
}

static void without_lse_two_causes_are_ambiguous(void **state) {
    (void)state;
    assert_named(&(struct zero_kernel){.multiplies = false}, ATTENTION_FP32, false, "output-zero");
    assert_named(&(struct zero_kernel){.multiplies = true}, ATTENTION_FP32, false, "sum-zero-or-infinite");
    assert_named(&(struct zero_kernel){.multiplies = true, .weights_0 = true}, ATTENTION_FP32, false, "weights-zero");
}

static void bf16_shows_underflow_in_fp16(void **state) {
    (void)state;
    const struct zero_kernel rounded = {.multiplies = true, .weights_0 = true, .lse_right = true, .in_fp16_only = true};
    assert_named(&rounded, ATTENTION_FP16, true, "weights-underflow-fp16");
    assert_named(&rounded, ATTENTION_FP16, false, "weights-underflow-fp16");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lse_distinguishes_causes_of_zeros),
        cmocka_unit_test(without_lse_two_causes_are_ambiguous),
        cmocka_unit_test(bf16_shows_underflow_in_fp16),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
