// The diagnosis: mistakes that it knows get their own name, right kernels and unknown mistakes get none.
#include "cmocka_all.h"
#include "findings.h"
#include "long_list.h"
#include "operations/attention_mistakes.h"
#include "operations/attention_operation.h"
#include "operations/softmax_operation.h"
#include "subject.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRIED = 13 };

static const struct problem_case cases[TRIED] = {
    {.attention = {1, 1, 1, 1, 1, 64}},
    {.attention = {1, 1, 1, 33, 33, 32}},
    {.attention = {1, 1, 1, 40, 64, 64}},
    {.attention = {1, 1, 1, 2, 300, 32}},
    {.attention = {2, 3, 3, 9, 33, 39}},
    {.attention = {1, 2, 2, 5, 37, 160}},
    {.attention = {1, 1, 1, 40, 7, 32}},
    {.attention = {1, 1, 1, 33, 33, 64, .causal = true}},
    {.attention = {1, 2, 2, 5, 37, 32, .causal = true}},
    {.attention = {1, 1, 1, 40, 20, 32, .causal = true}},
    {.attention = {1, 2, 2, 5, 70, 64}, .family = INPUTS_OFFSET},
    {.attention = {1, 2, 2, 5, 70, 64}, .family = INPUTS_RISING},
    {.attention = {1, 2, 2, 5, 70, 64}, .family = INPUTS_LARGE},
};

static const char *diagnose(struct subject *subject, uint64_t seed) {
    subject->causal = true;
    return subject_diagnose(subject, seed, cases, TRIED);
}

// On the cases that a GPU gets, of those that a host computes in a moment. All of other inputs than normal ones are too
// large to be heard as they are.
static const char *diagnose_on_gpu_cases(struct subject *subject) {
    enum { MOST_NORMAL = 1 << 22, MOST = 1 << 25 };
    struct problem_case list[MAX_CASES];
    int length = attention_cases(MATRIX_GPU, list), kept = 0;
    for (int i = 0; i < length; i++) {
        const struct attention_shape *s = &list[i].attention;
        if (!s->causal && s->layout == LAYOUT_BHND && s->kv_heads == s->heads &&
            (double)s->batch * s->heads * s->nq * s->nk * s->head_dim <= (list[i].family ? MOST : MOST_NORMAL))
            list[kept++] = list[i];
    }
    return subject_diagnose(subject, 1, list, kept);
}

static const char *diagnose_fp32(enum fp32_kernel kernel) {
    struct subject subject = {.run = subject_fp32, .kernel = kernel};
    return diagnose(&subject, 100);
}

static void mistakes_in_fp32_are_named(void **state) {
    (void)state;
    assert_string_equal(diagnose_fp32(FP32_NO_SCALE), "scale-missing");
    assert_string_equal(diagnose_fp32(FP32_NO_MAXIMUM), "maximum-not-subtracted");
    assert_string_equal(diagnose_fp32(FP32_DROPS_A_KEY), "last-key-skipped");
}

static void unknown_mistakes_have_no_name(void **state) {
    (void)state;
    static const enum fp32_kernel kernels[] = {FP32_HALF_WEIGHTS, FP32_TWO_PASS, FP32_ONLINE};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i += (size_t)long_list_step(2, 3))
        assert_string_equal(diagnose_fp32(kernels[i]), "none");
}

// Whatever a check says of them: an output that is right has no mistake in it.
static void right_outputs_are_never_named(void **state) {
    (void)state;
    struct subject subject = {.run = subject_fp32, .kernel = FP32_ONLINE, .causal = true};
    struct evidence evidence[TRIED];
    for (int i = 0; i < TRIED; i++)
        evidence[i] = (struct evidence){.which = cases[i], .seed = 5 + (uint64_t)i, .outcome = OUTCOME_WRONG};
    for (int i = 0; i < TRIED; i += long_list_step(4, 4))
        assert_null(subject_mistake(&subject, &evidence[i], 1));
    assert_null(subject_mistake(&subject, evidence, TRIED));
    assert_null(subject_mistake(&subject, NULL, 0));
}

// What only shows where heads are grouped, where tensors are strided, or in the log-sum-exp.
static const struct problem_case general_cases[] = {
    {.attention = {1, 1, 1, 33, 33, 32}},
    {.attention = {2, 8, 2, 5, 21, 40}},
    {.attention = {1, 4, 1, 9, 37, 64}},
    {.attention = {1, 8, 4, 5, 21, 64}},
    {.attention = {2, 3, 3, 9, 22, 40, .layout = LAYOUT_BNHD}},
    {.attention = {1, 2, 2, 19, 11, 32, .causal = true}},
    {.attention = {1, 2, 2, 19, 19, 64, .layout = LAYOUT_STRIDES, .stride = {19 * 384, 64, 384}}},
};
enum { GENERAL = sizeof general_cases / sizeof *general_cases };

static bool is_general(const struct variant *v) {
    return v->lse || v->k.head >= HEAD_MODULO || v->v.head >= HEAD_MODULO || v->q.contiguous || v->k.contiguous ||
           v->v.contiguous || v->output_contiguous;
}

static const char *diagnose_general(struct subject *subject, uint64_t seed) {
    subject->causal = subject->lse = subject->groups = subject->strides = true;
    return subject_diagnose(subject, seed, general_cases, GENERAL);
}

// Every mistake of the list, in the role of the kernel: its own name or, where another cannot be told from it, none.
static void no_mistake_gets_the_name_of_another(void **state) {
    (void)state;
    int named = 0, tried = 0;
    for (int i = 0; i < attention_model_count; i += long_list_step(24, 96), tried++) {
        struct subject subject = {.run = subject_variant, .variant = &attention_models[i].variant};
        const char *title = (is_general(subject.variant) ? diagnose_general : diagnose)(&subject, 1000 + (uint64_t)i);
        const char *own = attention_models[i].mistake->code;
        if (strcmp(title, own) && strcmp(title, "none"))
            fail_msg("suspect %d, \"%s\", was named \"%s\"", i, own, title);
        named += !strcmp(title, own);
    }
    // Under the sanitizers so few are tried that a single one without a name is more than a tenth of them.
    assert_true(tried - named <= 1 || 10 * named >= 9 * tried);
}

// Noise on the output of a mistake: it is not that mistake.
static bool run_with_noise(void *context, const struct host_problem *problem, float *o) {
    struct subject *subject = context;
    subject_fp32(subject, problem, o);
    for (int64_t i = 0; i < shape_q_elements(&problem->which.attention); i++)
        o[i] *= 1 + 0.01f * (float)((i * 7919 + 13) % 17 - 8);
    return true;
}

// A race: another output each time.
static bool run_at_random(void *context, const struct host_problem *problem, float *o) {
    struct subject *subject = context;
    subject->kernel = subject->launches++ % 2 ? FP32_NO_SCALE : FP32_DROPS_A_KEY;
    return subject_fp32(subject, problem, o);
}

static bool run_badly(void *context, const struct host_problem *problem, float *o) {
    struct subject *subject = context;
    subject_fp32(subject, problem, o);
    return false;
}

static void other_outputs_have_no_name(void **state) {
    (void)state;
    struct subject subject = {.run = run_with_noise, .kernel = FP32_NO_SCALE};
    assert_string_equal(diagnose(&subject, 7), "none");
    subject = (struct subject){.run = run_at_random};
    assert_string_equal(diagnose(&subject, 7), "none");
    subject = (struct subject){.run = run_badly, .kernel = FP32_NO_SCALE};
    assert_string_equal(diagnose(&subject, 7), "none");
}

// One key: every mistake in the weights looks right, and what is wrong fits many. Other cases tell them apart.
static void a_single_case_is_enough(void **state) {
    (void)state;
    struct evidence one = {.which = cases[1], .seed = 3, .outcome = OUTCOME_WRONG};
    const struct variant swapped = {.k.tensor = TENSOR_OF_V, .v.tensor = TENSOR_OF_K};
    struct subject subject = {.run = subject_variant, .variant = &swapped};
    const struct mistake *mistake = subject_mistake(&subject, &one, 1);
    assert_non_null(mistake);
    assert_string_equal(mistake->code, "k-v-swapped");
    one.which.attention.nq = one.which.attention.nk = 1;
    mistake = subject_mistake(&subject, &one, 1);
    assert_non_null(mistake);
    assert_string_equal(mistake->code, "k-v-swapped");
    // Every second row far below 0: a maximum that starts at 0 has nearly the same effect there.
    const struct variant one_maximum_for_4 = {.maximum = MAXIMUM_OF_BLOCK, .queries = 4};
    subject.variant = &one_maximum_for_4;
    one.which = cases[10];
    mistake = subject_mistake(&subject, &one, 1);
    assert_non_null(mistake);
    assert_string_equal(mistake->code, "maximum-shared-by-queries");
}

// Blocks go from one tile to the next only where there are many heads: all other cases, and smaller shapes of the wrong
// one, are right.
static void mistakes_that_show_with_many_heads_only_are_named(void **state) {
    (void)state;
    static const struct problem_case tried[] = {
        {.attention = {1, 1, 1, 2, 300, 64}, .family = INPUTS_RISING},
        {.attention = {1, 300, 300, 1, 128, 36}, .family = INPUTS_RISING},
    };
    static const struct {
        enum rescale_kind kind;
        const char *title;
    } mistakes[] = {
        {RESCALE_SUM_ONLY, "output-not-rescaled"},
        {RESCALE_OUTPUT_ONLY, "sum-not-rescaled"},
        {RESCALE_NONE, "nothing-rescaled"},
        {RESCALE_INVERTED, "rescale-factor-inverted"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i += (size_t)long_list_step(2, 4)) {
        const struct variant variant = {.rescale = mistakes[i].kind, .tile = 64, .heads = 200};
        struct subject subject = {.run = subject_variant, .variant = &variant, .causal = true};
        assert_string_equal(subject_diagnose(&subject, 9, tried, 2), mistakes[i].title);
    }
    // Other tiles than those of the list.
    const struct variant unknown = {.rescale = RESCALE_NONE, .tile = 48, .heads = 200};
    struct subject subject = {.run = subject_variant, .variant = &unknown, .causal = true};
    assert_string_equal(subject_diagnose(&subject, 9, tried, 2), "none");
}

// Two mistakes at once are neither of them, and no third one.
static void two_mistakes_at_once_have_no_third_name(void **state) {
    (void)state;
    static const struct variant pairs[] = {
        {.scale = SCALE_TWICE, .v.transposed = true},
        {.division = DIVISION_NONE, .k.shift = 1},
        {.padding_counted = true, .tile = 32, .division = DIVISION_TWICE},
        {.query = ROW_FIRST, .value_keys = {.kind = SUBSET_NOT_LAST}},
        {.output_transposed = true, .scale = SCALE_MISSING},
        {.maximum = MAXIMUM_OF_THREAD, .threads = 32, .division = DIVISION_NONE},
        {.rescale = RESCALE_NONE, .tile = 32, .padding_counted = true},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i += (size_t)long_list_step(1, 3)) {
        struct subject subject = {.run = subject_variant, .variant = &pairs[i]};
        assert_string_equal(diagnose(&subject, 50), "none");
    }
    // One that shows long before the other is named first.
    static const struct variant one_after_the_other = {.scale = SCALE_MISSING, .mask = MASK_TOP_LEFT};
    struct subject subject = {.run = subject_variant, .variant = &one_after_the_other};
    assert_string_equal(diagnose(&subject, 50), "scale-missing");
}

// The head of a row is found by dividing by nk, not nq. Past the last head it takes that one.
static bool run_head_by_keys(void *context, const struct host_problem *problem, float *o) {
    (void)context;
    const struct attention_shape *s = &problem->which.attention;
    int64_t d = s->head_dim, heads = (int64_t)s->batch * s->heads;
    for (int64_t row = 0; row < heads * s->nq; row++) {
        int64_t head = row / s->nk < heads ? row / s->nk : heads - 1;
        struct host_problem one = *problem;
        struct attention_shape *of_one = &one.which.attention;
        of_one->batch = of_one->heads = of_one->kv_heads = of_one->nq = 1;
        one.tensor[Q].values += row * d;
        one.tensor[K].values += head * s->nk * d;
        one.tensor[V].values += head * s->nk * d;
        fp32_attention_row(&one, FP32_TWO_PASS, 0, o + row * d);
    }
    return true;
}

static void mistakes_are_named_on_the_cases_of_a_gpu(void **state) {
    (void)state;
    static const struct variant one_maximum_for_4 = {.maximum = MAXIMUM_OF_BLOCK, .queries = 4},
                                one_maximum_for_5 = {.maximum = MAXIMUM_OF_BLOCK, .queries = 5},
                                maximum_from_0 = {.maximum = MAXIMUM_FROM_0},
                                swapped = {.q.tensor = TENSOR_OF_K, .k.tensor = TENSOR_OF_Q},
                                first_batch = {.k.head = HEAD_OF_FIRST_BATCH, .v.head = HEAD_OF_FIRST_BATCH},
                                narrower = {.rescale = RESCALE_SUM_ONLY, .tile = 64, .wide_tile = 32},
                                lazy = {.rescale = RESCALE_INVERTED, .tile = 64, .wide_tile = 32, .lazy_rows = 32};
    static const struct {
        struct subject subject;
        const char *name;
    } cases_of_gpu[] = {
        {{.run = subject_variant, .variant = &one_maximum_for_4}, "maximum-shared-by-queries"},
        {{.run = subject_variant, .variant = &one_maximum_for_5}, "none"}, // not in the list
        {{.run = subject_variant, .variant = &maximum_from_0}, "maximum-starts-at-0"},
        {{.run = subject_variant, .variant = &swapped}, "q-k-swapped"},
        {{.run = subject_variant, .variant = &first_batch}, "kv-of-first-batch"},
        {{.run = subject_variant, .variant = &narrower}, "output-not-rescaled"},
        {{.run = subject_variant, .variant = &lazy}, "rescale-factor-inverted"},
        {{.run = run_head_by_keys}, "none"}, // with a query or two a batch it reads those of the first one
    };
    for (size_t i = 0; i < sizeof cases_of_gpu / sizeof *cases_of_gpu; i += (size_t)long_list_step(8, 36)) {
        struct subject subject = cases_of_gpu[i].subject;
        assert_string_equal(diagnose_on_gpu_cases(&subject), cases_of_gpu[i].name);
    }
}

enum softmax_kernel {
    SOFTMAX_RIGHT,
    SOFTMAX_NO_MAXIMUM,
    SOFTMAX_NO_DIVISION,
    SOFTMAX_PADDED,
    SOFTMAX_SHORT,
    SOFTMAX_SQUARE
};

static bool run_softmax(void *context, const struct host_problem *problem, float *out) {
    enum softmax_kernel kernel = *(enum softmax_kernel *)context;
    const struct matrix_shape *shape = &problem->which.matrix;
    const float *in = problem->tensor[0].values;
    for (int64_t r = 0; r < shape->rows; r++, in += shape->columns, out += shape->columns) {
        float maximum = -INFINITY, sum = 0;
        for (int c = 0; c < shape->columns; c++)
            maximum = fmaxf(maximum, in[c]);
        if (kernel == SOFTMAX_NO_MAXIMUM)
            maximum = 0;
        if (kernel == SOFTMAX_PADDED && shape->columns % 4) {
            maximum = fmaxf(maximum, 0);
            sum = (float)(4 - shape->columns % 4) * expf(-maximum);
        }
        for (int c = 0; c < shape->columns; c++)
            sum += out[c] = expf(in[c] - maximum);
        for (int c = 0; c < shape->columns; c++) {
            out[c] /= kernel == SOFTMAX_NO_DIVISION ? 1 : sum;
            if (kernel == SOFTMAX_SQUARE)
                out[c] *= out[c];
            if (kernel == SOFTMAX_SHORT && c >= 256)
                memset(&out[c], 0xFF, sizeof out[c]);
        }
    }
    return true;
}

static bool covers_all(void *context, const struct problem_case *which) {
    (void)context;
    (void)which;
    return true;
}

static const char *diagnose_softmax(enum softmax_kernel kernel) {
    static const struct evidence evidence[] = {
        {.which = {.matrix = {3, 37}}, .seed = 1, .outcome = OUTCOME_WRONG},
        {.which = {.matrix = {2, 1025}}, .seed = 2, .outcome = OUTCOME_WRONG},
        {.which = {.matrix = {3, 33}, .family = INPUTS_OFFSET}, .seed = 3, .outcome = OUTCOME_WRONG},
    };
    const struct diagnosed diagnosed = {
        .operation = &softmax_operation, .covers = covers_all, .run = run_softmax, .context = &kernel};
    // What is wrong of these, for each kernel.
    int first = kernel == SOFTMAX_NO_MAXIMUM ? 2 : kernel == SOFTMAX_SHORT ? 1 : 0;
    int count = kernel == SOFTMAX_SHORT || kernel == SOFTMAX_NO_MAXIMUM ? 1 : 2;
    const struct mistake *mistake = diagnosis(&diagnosed, evidence + first, count);
    return mistake ? mistake->code : "none";
}

static void mistakes_of_a_row_softmax_are_named(void **state) {
    (void)state;
    assert_string_equal(diagnose_softmax(SOFTMAX_NO_MAXIMUM), "maximum-not-subtracted");
    assert_string_equal(diagnose_softmax(SOFTMAX_NO_DIVISION), "division-missing");
    assert_string_equal(diagnose_softmax(SOFTMAX_PADDED), "padding-counted");
    assert_string_equal(diagnose_softmax(SOFTMAX_SHORT), "output-unwritten");
    assert_string_equal(diagnose_softmax(SOFTMAX_SQUARE), "none");
    assert_string_equal(diagnose_softmax(SOFTMAX_RIGHT), "none");
}

// Tests and scripts compare codes, so no two mistakes may share one.
static void codes_are_unique_and_well_formed(void **state) {
    (void)state;
    for (int i = 0; i < attention_model_count; i++) {
        const struct mistake *mistake = attention_models[i].mistake;
        assert_int_equal(strspn(mistake->code, "abcdefghijklmnopqrstuvwxyz0123456789-"), strlen(mistake->code));
        for (int j = 0; j < i; j++)
            assert_true(attention_models[j].mistake == mistake ||
                        (strcmp(attention_models[j].mistake->code, mistake->code) &&
                         strcmp(attention_models[j].mistake->advice.title, mistake->advice.title)));
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
        cmocka_unit_test(mistakes_in_fp32_are_named),
        cmocka_unit_test(unknown_mistakes_have_no_name),
        cmocka_unit_test(right_outputs_are_never_named),
        cmocka_unit_test(no_mistake_gets_the_name_of_another),
        cmocka_unit_test(other_outputs_have_no_name),
        cmocka_unit_test(a_single_case_is_enough),
        cmocka_unit_test(mistakes_that_show_with_many_heads_only_are_named),
        cmocka_unit_test(two_mistakes_at_once_have_no_third_name),
        cmocka_unit_test(mistakes_are_named_on_the_cases_of_a_gpu),
        cmocka_unit_test(mistakes_of_a_row_softmax_are_named),
        cmocka_unit_test(codes_are_unique_and_well_formed),
        cmocka_unit_test(findings_have_a_meaning),
    };
    return cmocka_run_group_tests_name("diagnosis", tests, NULL, NULL);
}
