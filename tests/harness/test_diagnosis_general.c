// The diagnosis where heads are grouped, tensors lie in memory with strides, the log-sum-exp is wanted, or elements
// have 16 bits: each mistake has its own name, right kernels none.
#include "cmocka_all.h"
#include "host/parallel.h"
#include "long_list.h"
#include "operations/attention_mistakes.h"
#include "operations/attention_operation.h"
#include "subject.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct problem_case cases[] = {
    {.attention = {1, 1, 1, 33, 33, 32}},
    {.attention = {1, 1, 1, 2, 300, 32}},
    {.attention = {2, 3, 3, 9, 33, 39}},
    {.attention = {1, 1, 1, 33, 33, 64, .causal = true}},
    {.attention = {1, 2, 2, 19, 11, 32, .causal = true}},
    {.attention = {1, 2, 2, 5, 70, 64}, .family = INPUTS_OFFSET},
    {.attention = {1, 2, 2, 5, 70, 64}, .family = INPUTS_RISING},
    {.attention = {2, 8, 2, 5, 21, 40}},
    {.attention = {1, 8, 4, 5, 21, 64}},
    {.attention = {1, 4, 1, 9, 37, 64}},
    {.attention = {2, 3, 3, 9, 22, 40, .layout = LAYOUT_BNHD}},
    // q, k and v as one tensor, [batch][n][3][heads][head_dim]
    {.attention = {2, 2, 2, 19, 19, 64, .layout = LAYOUT_STRIDES, .stride = {19 * 384, 64, 384}}},
};
enum { CASES = sizeof cases / sizeof *cases };

static const char *diagnose(struct subject *subject, enum attention_dtype dtype) {
    struct problem_case list[CASES];
    for (int i = 0; i < CASES; i++) {
        list[i] = cases[i];
        list[i].dtype = dtype;
    }
    subject->causal = subject->lse = subject->groups = subject->strides = true;
    return subject_diagnose(subject, 40, list, CASES);
}

static const char *diagnose_variant(struct variant variant, enum attention_dtype dtype) {
    struct subject subject = {.run = subject_variant, .variant = &variant};
    return diagnose(&subject, dtype);
}

static void right_kernels_have_no_name(void **state) {
    (void)state;
    for (int dtype = ATTENTION_FP32; dtype <= ATTENTION_BF16; dtype += long_list_step(3, 3))
        for (enum fp32_kernel kernel = FP32_TWO_PASS; kernel <= FP32_ONLINE; kernel += long_list_step(1, 2)) {
            struct subject subject = {.run = subject_fp32, .kernel = kernel, .lse = true, .strides = true};
            assert_string_equal(diagnose(&subject, (enum attention_dtype)dtype), "none");
            // Nor where a check has called them wrong.
            struct evidence evidence[CASES];
            for (int i = 0; i < CASES; i++) {
                evidence[i] = (struct evidence){cases[i], 3, OUTCOME_WRONG, true};
                evidence[i].which.dtype = (enum attention_dtype)dtype;
            }
            assert_null(subject_mistake(&subject, evidence, CASES));
        }
}

static void mistakes_in_16_bits_are_named(void **state) {
    (void)state;
    for (enum attention_dtype dtype = ATTENTION_FP16; dtype <= ATTENTION_BF16; dtype++) {
        struct subject subject = {.run = subject_fp32, .kernel = FP32_NO_SCALE};
        assert_string_equal(diagnose(&subject, dtype), "scale-missing");
        subject.kernel = FP32_NO_MAXIMUM;
        assert_string_equal(diagnose(&subject, dtype), "maximum-not-subtracted");
    }
}

// No mistake of the list gets the name of another.
static void names_are_not_mistaken_in_bf16(void **state) {
    (void)state;
    int named = 0, tried = 0;
    const int step = long_list_step(160, 180);
    for (int i = 0; i < attention_model_count; i += step, tried++) {
        const char *title = diagnose_variant(attention_models[i].variant, ATTENTION_BF16);
        // A variant's lse is right whatever its output is, and by that an output of 0 has the name of a cause.
        const char *own =
            attention_models[i].mistake == attention_output_0 ? "values-lost" : attention_models[i].mistake->code;
        if (strcmp(title, own) && strcmp(title, "none"))
            fail_msg("suspect %d, \"%s\", was named \"%s\"", i, own, title);
        named += !strcmp(title, own);
    }
    // Of a few a share says nothing.
    assert_true(10 * named >= 8 * tried || tried < 20);
}

static void groups_of_heads_are_named(void **state) {
    (void)state;
    static const struct {
        enum head_kind head;
        const char *title;
    } mistakes[] = {
        {HEAD_MODULO, "kv-head-by-modulo"},
        {HEAD_OF_QUERY, "kv-head-of-query"},
        {HEAD_FIRST_OF_BATCH, "first-kv-head-of-batch"},
    };
    for (enum attention_dtype dtype = ATTENTION_FP32; dtype <= ATTENTION_BF16;
         dtype += long_list_step(ATTENTION_BF16, 3))
        for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i += (size_t)long_list_step(3, 4))
            assert_string_equal(
                diagnose_variant((struct variant){.k.head = mistakes[i].head, .v.head = mistakes[i].head}, dtype),
                mistakes[i].title);
}

static void log_sum_exps_are_named(void **state) {
    (void)state;
    static const struct {
        enum lse_kind lse;
        const char *title;
    } mistakes[] = {
        {LSE_MAXIMUM, "lse-without-sum"},         {LSE_LOG_SUM, "lse-without-maximum"},
        {LSE_SUM, "lse-without-logarithm"},       {LSE_BASE_2, "lse-base-2"},
        {LSE_UNSCALED, "lse-maximum-unscaled"},   {LSE_SCALED_TWICE, "lse-maximum-scaled-twice"},
        {LSE_OF_MASKED_ROW, "lse-of-masked-row"},
    };
    for (enum attention_dtype dtype = ATTENTION_FP32; dtype <= ATTENTION_BF16;
         dtype += long_list_step(ATTENTION_BF16, 3))
        for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i += (size_t)long_list_step(3, 4))
            assert_string_equal(diagnose_variant((struct variant){.lse = mistakes[i].lse}, dtype), mistakes[i].title);
}

// What a kernel leaves in lse instead of what is right.
enum lse_left { LSE_POISON, LSE_POISON_IN_SOME, LSE_0_OF_NOTHING, LSE_LARGEST_OF_NOTHING, LSE_TWICE, LSE_OF_TWO_ROWS };

// As if each row had subtracted the maximum of its neighbour, and added its own: the output is right until the weights
// overflow.
static void mix_maxima(const struct host_tensor *o, float *outputs) {
    const float *lse = outputs + o->rows * o->columns;
    float *mixed = host_allocate(o->rows, sizeof *mixed);
    for (int64_t r = 0; r < o->rows; r++) {
        const float other = lse[(r ^ 1) < o->rows ? r ^ 1 : r];
        mixed[r] = isfinite(lse[r]) && isfinite(other) ? 2 * lse[r] - other : lse[r];
        for (int c = 0; c < o->columns && lse[r] - other > 88; c++)
            outputs[r * o->columns + c] = NAN;
    }
    memcpy(outputs + o->rows * o->columns, mixed, (size_t)o->rows * sizeof *mixed);
    free(mixed);
}

static bool run_with_lse(void *context, const struct host_problem *problem, float *outputs) {
    struct subject *subject = context;
    const struct host_tensor *o = problem_output(problem, OUTPUT_O);
    struct subject right = {.kernel = FP32_TWO_PASS};
    enum lse_left left = (enum lse_left)subject->kernel;
    subject_fp32(&right, problem, outputs);
    if (left == LSE_OF_TWO_ROWS)
        mix_maxima(o, outputs);
    for (int64_t r = 0; r < o->rows; r++) {
        float *lse = outputs + o->rows * o->columns + r;
        if (left == LSE_POISON || (left == LSE_POISON_IN_SOME && r % problem->which.attention.nq >= 4))
            memset(lse, POISON_BYTE, sizeof *lse);
        else if (left == LSE_TWICE)
            *lse *= 2;
        else if (*lse == -INFINITY && left >= LSE_0_OF_NOTHING && left <= LSE_LARGEST_OF_NOTHING)
            *lse = left == LSE_0_OF_NOTHING ? 0 : -3.4028235e38f;
    }
    return true;
}

static void mistakes_in_lse_alone_are_named(void **state) {
    (void)state;
    static const char *const titles[] = {
        "output-unwritten", "output-unwritten", "lse-of-masked-row", "lse-of-masked-row", "none", "none"};
    for (enum attention_dtype dtype = ATTENTION_FP32; dtype <= ATTENTION_BF16;
         dtype += long_list_step(ATTENTION_BF16, 3))
        for (int left = LSE_POISON; left <= LSE_OF_TWO_ROWS; left += long_list_step(2, left ? 2 : 3)) {
            struct subject subject = {.run = run_with_lse, .kernel = (enum fp32_kernel)left};
            assert_string_equal(diagnose(&subject, dtype), titles[left]);
        }
}

// Strides: tensors as they lie on a device, gaps full of poison, and a kernel that takes them for contiguous.

enum { IGNORES_Q = 1, IGNORES_K = 2, IGNORES_V = 4, IGNORES_O = 8 };

static float *operand(const struct host_tensor *tensor, int64_t room) {
    float *memory = host_allocate(room, sizeof *memory);
    memset(memory, POISON_BYTE, (size_t)room * sizeof *memory);
    for (int64_t r = 0; tensor->values && r < tensor->rows; r++)
        memcpy(memory + layout_row(&tensor->layout, r), host_row(tensor, r), (size_t)tensor->columns * sizeof *memory);
    return memory;
}

static bool run_in_memory(void *context, const struct host_problem *problem, float *outputs) {
    const struct subject *subject = context;
    unsigned ignores = (unsigned)subject->launches;
    struct host_problem seen = *problem;
    struct subject right = {.kernel = FP32_ONLINE};
    float *memory[V + 1];
    for (int i = Q; i <= V; i++) {
        memory[i] = operand(&problem->tensor[i], tensor_span(&problem->tensor[i]));
        seen.tensor[i].values = host_allocate(seen.tensor[i].rows * seen.tensor[i].columns, sizeof(float));
        seen.tensor[i].kept = seen.tensor[i].rows;
        for (int64_t r = 0; r < seen.tensor[i].rows; r++)
            memcpy(seen.tensor[i].values + r * seen.tensor[i].columns,
                   memory[i] + (ignores & 1u << i ? r * seen.tensor[i].columns : layout_row(&seen.tensor[i].layout, r)),
                   (size_t)seen.tensor[i].columns * sizeof(float));
    }
    subject_fp32(&right, &seen, outputs);
    for (int64_t i = 0; i < problem_output_elements(problem); i++)
        outputs[i] = isnan(outputs[i]) ? NAN : outputs[i]; // a GPU does not hand on which NaN it was
    const struct host_tensor *o = &problem->tensor[O];
    float *written = operand(o, tensor_span(o));
    for (int64_t r = 0; r < o->rows; r++)
        memcpy(written + (ignores & IGNORES_O ? r * o->columns : layout_row(&o->layout, r)), outputs + r * o->columns,
               (size_t)o->columns * sizeof *written);
    for (int64_t r = 0; r < o->rows; r++)
        memcpy(outputs + r * o->columns, written + layout_row(&o->layout, r), (size_t)o->columns * sizeof *written);
    for (int i = Q; i <= V; i++) {
        free(memory[i]);
        free(seen.tensor[i].values);
    }
    free(written);
    return true;
}

static void ignored_strides_are_named(void **state) {
    (void)state;
    static const struct {
        unsigned ignores;
        const char *title;
    } mistakes[] = {
        {0, "none"},
        {IGNORES_Q | IGNORES_K | IGNORES_V | IGNORES_O, "strides-ignored"},
        {IGNORES_Q | IGNORES_K | IGNORES_V, "strides-ignored"},
        {IGNORES_K | IGNORES_V, "strides-ignored"},
        {IGNORES_Q, "strides-ignored"},
        {IGNORES_K, "strides-ignored"},
        {IGNORES_V, "strides-ignored"},
        {IGNORES_O, "output-strides-ignored"},
    };
    int named = 0;
    for (enum attention_dtype dtype = ATTENTION_FP32; dtype <= ATTENTION_BF16;
         dtype += long_list_step(ATTENTION_BF16, 3))
        for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i += (size_t)long_list_step(2, 4)) {
            struct subject subject = {.run = run_in_memory, .launches = mistakes[i].ignores};
            assert_string_equal(diagnose(&subject, dtype), mistakes[i].title);
            // Strides with gaps alone: all NaN may be more than one mistake, but no other one is named.
            struct evidence gaps = {cases[CASES - 1], 8, mistakes[i].ignores ? OUTCOME_WRONG : OUTCOME_RIGHT, true};
            gaps.which.dtype = dtype;
            const struct mistake *mistake = subject_mistake(&subject, &gaps, 1);
            if (mistake)
                assert_string_equal(mistake->code, mistakes[i].title);
            named += mistake != NULL;
        }
    assert_true(named >= (long_list_step(2, 4) > 1 ? 1 : 4));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_kernels_have_no_name),     cmocka_unit_test(mistakes_in_16_bits_are_named),
        cmocka_unit_test(names_are_not_mistaken_in_bf16), cmocka_unit_test(groups_of_heads_are_named),
        cmocka_unit_test(log_sum_exps_are_named),         cmocka_unit_test(mistakes_in_lse_alone_are_named),
        cmocka_unit_test(ignored_strides_are_named),
    };
    return cmocka_run_group_tests_name("diagnosis of groups, strides, lse and 16 bits", tests, NULL, NULL);
}
