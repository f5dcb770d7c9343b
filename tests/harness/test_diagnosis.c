// The diagnosis: mistakes that it knows get their own name, right kernels and unknown mistakes get none.
#include "cmocka_all.h"
#include "fp32_attention.h"
#include "host/diagnosis.h"
#include "host/diagnosis_mistakes.h"
#include "host/verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRIED = 14, FAILURES = 3 };

// ASan and UBSan look at the code and not at the names: of the long lists a part is enough for them.
#ifdef __SANITIZE_ADDRESS__
enum { EVERY = 4 };
#else
enum { EVERY = 1 };
#endif

static const struct attention_case cases[TRIED] = {
    {{1, 1, 1, 1, 1, 64, false, LAYOUT_BHND}, INPUTS_NORMAL},
    {{1, 1, 1, 33, 33, 32, false, LAYOUT_BHND}, INPUTS_NORMAL},
    {{1, 1, 1, 40, 64, 64, false, LAYOUT_BHND}, INPUTS_NORMAL},
    {{1, 1, 1, 2, 300, 32, false, LAYOUT_BHND}, INPUTS_NORMAL},
    {{2, 3, 3, 9, 33, 39, false, LAYOUT_BHND}, INPUTS_NORMAL},
    {{1, 2, 2, 5, 37, 160, false, LAYOUT_BHND}, INPUTS_NORMAL},
    {{1, 1, 1, 40, 7, 32, false, LAYOUT_BHND}, INPUTS_NORMAL},
    {{1, 1, 1, 33, 33, 64, true, LAYOUT_BHND}, INPUTS_NORMAL},
    {{1, 2, 2, 5, 37, 32, true, LAYOUT_BHND}, INPUTS_NORMAL},
    {{1, 1, 1, 40, 20, 32, true, LAYOUT_BHND}, INPUTS_NORMAL},
    {{1, 2, 2, 5, 70, 64, false, LAYOUT_BHND}, INPUTS_OFFSET},
    {{1, 2, 2, 5, 70, 64, false, LAYOUT_BHND}, INPUTS_RISING},
    {{1, 1, 1, 35, 35, 64, true, LAYOUT_BHND}, INPUTS_NAN_VALUE},
    {{1, 2, 2, 5, 70, 64, false, LAYOUT_BHND}, INPUTS_LARGE},
};

// A kernel on the host.
struct subject {
    attention_run *run;
    enum fp32_kernel kernel;
    const struct variant *variant;
    unsigned launches;
};

static bool run_fp32(void *context, const struct host_inputs *inputs, float *o) {
    struct subject *subject = context;
    int64_t rows = shape_q_elements(&inputs->shape) / inputs->shape.head_dim;
    for (int64_t row = 0; row < rows; row++)
        fp32_attention_row(inputs, subject->kernel, row, o + row * inputs->shape.head_dim);
    return true;
}

static bool run_variant(void *context, const struct host_inputs *inputs, float *o) {
    struct subject *subject = context;
    int64_t elements = shape_q_elements(&inputs->shape);
    struct prediction p = {.value = malloc((size_t)elements * sizeof(double)),
                           .bound = malloc((size_t)elements * sizeof(double))};
    variant_predict(subject->variant, inputs, &p);
    for (int64_t i = 0; i < elements; i++) {
        o[i] = (float)p.value[i];
        if (subject->variant->unwritten && i % inputs->shape.head_dim >= 32)
            memset(&o[i], 0xFF, sizeof o[i]);
    }
    free(p.value);
    free(p.bound);
    return true;
}

static bool is_right(const struct host_inputs *inputs, const float *o) {
    int64_t rows = shape_q_elements(&inputs->shape) / inputs->shape.head_dim;
    struct row_sample sample = sample_rows(rows, inputs->shape.nq, 1, 1);
    struct reference reference = reference_attention(inputs, &sample);
    struct verdict verdict;
    verdict_begin(&verdict, inputs, &sample, &reference);
    verdict_rows(&verdict, 0, rows, o);
    bool right = verdict_end(&verdict);
    verdict_free(&verdict);
    reference_free(&reference);
    sample_free(&sample);
    return right;
}

// As a check does: runs the cases until some have failed, then asks for the mistake.
static const char *diagnose_cases(struct subject *subject, uint64_t seed, const struct attention_case *list, int length,
                                  bool causal) {
    struct attention_evidence evidence[MAX_CASES];
    int count = 0, failed = 0;
    for (int i = 0; i < length && failed < FAILURES; i++) {
        struct host_inputs inputs = inputs_attention(&list[i].shape, list[i].family, seed + (uint64_t)i);
        float *o = malloc((size_t)shape_q_elements(&list[i].shape) * sizeof *o);
        bool right = subject->run(subject, &inputs, o) && is_right(&inputs, o);
        failed += !right;
        evidence[count++] =
            (struct attention_evidence){list[i], seed + (uint64_t)i, right ? DIAGNOSIS_RIGHT : DIAGNOSIS_WRONG};
        free(o);
        inputs_free(&inputs);
    }
    const struct mistake *mistake = diagnosis_attention(evidence, count, causal, subject->run, subject);
    return mistake ? mistake->title : "none";
}

static const char *diagnose(struct subject *subject, uint64_t seed) {
    return diagnose_cases(subject, seed, cases, TRIED, true);
}

// On the cases that a GPU gets, of those that a host computes in a moment. All of other inputs than normal ones are too
// large to be heard as they are.
static const char *diagnose_on_gpu_cases(struct subject *subject, bool causal) {
    enum { MOST_NORMAL = 1 << 22, MOST = 1 << 25 };
    struct attention_case list[MAX_CASES];
    int length = matrix_attention(MATRIX_GPU, list), kept = 0;
    for (int i = 0; i < length; i++) {
        const struct attention_shape *s = &list[i].shape;
        if ((causal || !s->causal) && s->layout == LAYOUT_BHND && s->kv_heads == s->heads &&
            (double)s->batch * s->heads * s->nq * s->nk * s->head_dim <= (list[i].family ? MOST : MOST_NORMAL))
            list[kept++] = list[i];
    }
    return diagnose_cases(subject, 1, list, kept, causal);
}

static const char *diagnose_fp32(enum fp32_kernel kernel) {
    struct subject subject = {.run = run_fp32, .kernel = kernel};
    return diagnose(&subject, 100);
}

static void mistakes_in_fp32_are_named(void **state) {
    (void)state;
    assert_string_equal(diagnose_fp32(FP32_NO_SCALE), "the scores are not scaled");
    assert_string_equal(diagnose_fp32(FP32_NO_MAXIMUM), "the maximum is not subtracted before the exponential");
    assert_string_equal(diagnose_fp32(FP32_DROPS_A_KEY), "the last key is left out");
}

static void what_is_no_mistake_of_the_list_has_no_name(void **state) {
    (void)state;
    assert_string_equal(diagnose_fp32(FP32_TWO_PASS), "none");
    assert_string_equal(diagnose_fp32(FP32_ONLINE), "none");
    assert_string_equal(diagnose_fp32(FP32_HALF_WEIGHTS), "none");
}

// Whatever a check says of them: an output that is right has no mistake in it.
static void right_outputs_are_never_named(void **state) {
    (void)state;
    struct subject subject = {.run = run_fp32, .kernel = FP32_ONLINE};
    struct attention_evidence evidence[TRIED];
    for (int i = 0; i < TRIED; i++)
        evidence[i] = (struct attention_evidence){cases[i], 5 + (uint64_t)i, DIAGNOSIS_WRONG};
    for (int i = 0; i < TRIED; i++)
        assert_null(diagnosis_attention(&evidence[i], 1, true, run_fp32, &subject));
    assert_null(diagnosis_attention(evidence, TRIED, true, run_fp32, &subject));
    assert_null(diagnosis_attention(NULL, 0, true, run_fp32, &subject));
}

// Every mistake of the list, in the role of the kernel: its own name or, where another cannot be told from it, none.
static void no_mistake_gets_the_name_of_another(void **state) {
    (void)state;
    int named = 0, tried = 0;
    for (int i = 0; i < attention_suspect_count; i += EVERY, tried++) {
        struct subject subject = {.run = run_variant, .variant = &attention_suspects[i].variant};
        const char *title = diagnose(&subject, 1000 + (uint64_t)i), *own = attention_suspects[i].mistake->title;
        if (strcmp(title, own) && strcmp(title, "none"))
            fail_msg("suspect %d, \"%s\", was named \"%s\"", i, own, title);
        named += !strcmp(title, own);
    }
    assert_true(10 * named >= 9 * tried);
}

// Noise on the output of a mistake: it is not that mistake.
static bool run_with_noise(void *context, const struct host_inputs *inputs, float *o) {
    struct subject *subject = context;
    run_fp32(subject, inputs, o);
    for (int64_t i = 0; i < shape_q_elements(&inputs->shape); i++)
        o[i] *= 1 + 0.01f * (float)((i * 7919 + 13) % 17 - 8);
    return true;
}

// A race: another output each time.
static bool run_at_random(void *context, const struct host_inputs *inputs, float *o) {
    struct subject *subject = context;
    subject->kernel = subject->launches++ % 2 ? FP32_NO_SCALE : FP32_DROPS_A_KEY;
    return run_fp32(subject, inputs, o);
}

static bool run_badly(void *context, const struct host_inputs *inputs, float *o) {
    struct subject *subject = context;
    run_fp32(subject, inputs, o);
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
    struct attention_evidence one = {.which = cases[1], .seed = 3, .outcome = DIAGNOSIS_WRONG};
    const struct variant swapped = {.k.tensor = TENSOR_OF_V, .v.tensor = TENSOR_OF_K};
    struct subject subject = {.run = run_variant, .variant = &swapped};
    const struct mistake *mistake = diagnosis_attention(&one, 1, false, run_variant, &subject);
    assert_non_null(mistake);
    assert_string_equal(mistake->title, "K and V are swapped");
    one.which.shape.nq = one.which.shape.nk = 1;
    mistake = diagnosis_attention(&one, 1, false, run_variant, &subject);
    assert_non_null(mistake);
    assert_string_equal(mistake->title, "K and V are swapped");
    // Every second row far below 0: a maximum that starts at 0 has nearly the same effect there.
    const struct variant one_maximum_for_4 = {.maximum = MAXIMUM_OF_BLOCK, .queries = 4};
    subject.variant = &one_maximum_for_4;
    one.which = cases[10];
    mistake = diagnosis_attention(&one, 1, false, run_variant, &subject);
    assert_non_null(mistake);
    assert_string_equal(mistake->title, "queries of a block subtract one maximum");
}

// Blocks go from one tile to the next only where there are many heads: all other cases, and smaller shapes of the wrong
// one, are right.
static void mistakes_that_show_with_many_heads_only_are_named(void **state) {
    (void)state;
    static const struct attention_case tried[] = {
        {{1, 1, 1, 2, 300, 64, false, LAYOUT_BHND}, INPUTS_RISING},
        {{1, 300, 300, 1, 128, 36, false, LAYOUT_BHND}, INPUTS_RISING},
    };
    static const struct {
        enum rescale_kind kind;
        const char *title;
    } mistakes[] = {
        {RESCALE_SUM_ONLY, "the weighted sum is not rescaled"},
        {RESCALE_OUTPUT_ONLY, "the sum is not rescaled"},
        {RESCALE_NONE, "neither the weighted sum nor the sum is rescaled"},
        {RESCALE_UPSIDE_DOWN, "the factor of the rescaling is upside down"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        const struct variant variant = {.rescale = mistakes[i].kind, .tile = 64, .heads = 200};
        struct subject subject = {.run = run_variant, .variant = &variant};
        assert_string_equal(diagnose_cases(&subject, 9, tried, 2, true), mistakes[i].title);
    }
    // Other tiles than those of the list.
    const struct variant unknown = {.rescale = RESCALE_NONE, .tile = 48, .heads = 200};
    struct subject subject = {.run = run_variant, .variant = &unknown};
    assert_string_equal(diagnose_cases(&subject, 9, tried, 2, true), "none");
}

// Two mistakes at once are neither of them, and no third one.
static void two_mistakes_at_once_have_no_third_name(void **state) {
    (void)state;
    static const struct variant pairs[] = {
        {.scale = SCALE_TWICE, .v.transposed = true},
        {.division = DIVISION_NONE, .k.shift = 1},
        {.tail_counted = true, .tile = 32, .division = DIVISION_TWICE},
        {.query = ROW_FIRST, .value_keys = {.kind = SUBSET_NOT_LAST}},
        {.output_transposed = true, .scale = SCALE_MISSING},
        {.maximum = MAXIMUM_OF_THREAD, .threads = 32, .division = DIVISION_NONE},
        {.rescale = RESCALE_NONE, .tile = 32, .tail_counted = true},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct subject subject = {.run = run_variant, .variant = &pairs[i]};
        assert_string_equal(diagnose(&subject, 50), "none");
    }
    // One that shows long before the other is named first.
    static const struct variant one_after_the_other = {.scale = SCALE_MISSING, .mask = MASK_TOP_LEFT};
    struct subject subject = {.run = run_variant, .variant = &one_after_the_other};
    assert_string_equal(diagnose(&subject, 50), "the scores are not scaled");
}

// The head of a row is found by dividing by nk, not nq. Past the last head it takes that one.
static bool run_head_by_keys(void *context, const struct host_inputs *inputs, float *o) {
    (void)context;
    const struct attention_shape *s = &inputs->shape;
    int64_t d = s->head_dim, heads = (int64_t)s->batch * s->heads;
    for (int64_t row = 0; row < heads * s->nq; row++) {
        int64_t head = row / s->nk < heads ? row / s->nk : heads - 1;
        struct host_inputs one = *inputs;
        one.shape.batch = one.shape.heads = one.shape.kv_heads = one.shape.nq = 1;
        one.q += row * d;
        one.k += head * s->nk * d;
        one.v += head * s->nk * d;
        fp32_attention_row(&one, FP32_TWO_PASS, 0, o + row * d);
    }
    return true;
}

static void mistakes_are_named_rightly_on_the_cases_of_a_gpu(void **state) {
    (void)state;
    static const struct variant one_maximum_for_4 = {.maximum = MAXIMUM_OF_BLOCK, .queries = 4},
                                one_maximum_for_5 = {.maximum = MAXIMUM_OF_BLOCK, .queries = 5},
                                maximum_from_0 = {.maximum = MAXIMUM_FROM_0},
                                swapped = {.q.tensor = TENSOR_OF_K, .k.tensor = TENSOR_OF_Q},
                                first_batch = {.k.head = HEAD_OF_FIRST_BATCH, .v.head = HEAD_OF_FIRST_BATCH},
                                hidden = {.hidden_multiplied = true, .tile = 32, .queries = 32};
    static const struct {
        struct subject subject;
        bool causal;
        const char *name;
    } cases_of_gpu[] = {
        {{.run = run_variant, .variant = &one_maximum_for_4}, false, "queries of a block subtract one maximum"},
        {{.run = run_variant, .variant = &one_maximum_for_5}, false, "none"}, // not in the list
        {{.run = run_variant, .variant = &maximum_from_0}, false, "the maximum starts at 0"},
        {{.run = run_variant, .variant = &swapped}, false, "Q and K are swapped"},
        {{.run = run_variant, .variant = &first_batch}, false, "every batch reads keys and values of the first one"},
        {{.run = run_variant, .variant = &hidden}, true, "hidden values are multiplied by 0"},
        {{.run = run_head_by_keys}, false, "none"}, // with a query or two a batch it reads those of the first one
    };
    for (size_t i = 0; i < sizeof cases_of_gpu / sizeof *cases_of_gpu; i += EVERY) {
        struct subject subject = cases_of_gpu[i].subject;
        assert_string_equal(diagnose_on_gpu_cases(&subject, cases_of_gpu[i].causal), cases_of_gpu[i].name);
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

static bool run_softmax(void *context, const struct softmax_shape *shape, const float *in, float *out) {
    enum softmax_kernel kernel = *(enum softmax_kernel *)context;
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

static const char *diagnose_softmax(enum softmax_kernel kernel) {
    static const struct softmax_evidence evidence[] = {
        {{{3, 37}, INPUTS_NORMAL}, 1, DIAGNOSIS_WRONG},
        {{{2, 1025}, INPUTS_NORMAL}, 2, DIAGNOSIS_WRONG},
        {{{3, 33}, INPUTS_OFFSET}, 3, DIAGNOSIS_WRONG},
    };
    // What is wrong of these, for each kernel.
    int first = kernel == SOFTMAX_NO_MAXIMUM ? 2 : kernel == SOFTMAX_SHORT ? 1 : 0;
    int count = kernel == SOFTMAX_SHORT || kernel == SOFTMAX_NO_MAXIMUM ? 1 : 2;
    const struct mistake *mistake = diagnosis_softmax(evidence + first, count, run_softmax, &kernel);
    return mistake ? mistake->title : "none";
}

static void mistakes_of_a_row_softmax_are_named(void **state) {
    (void)state;
    assert_string_equal(diagnose_softmax(SOFTMAX_NO_MAXIMUM), "the maximum is not subtracted before the exponential");
    assert_string_equal(diagnose_softmax(SOFTMAX_NO_DIVISION), "the division by the sum is missing");
    assert_string_equal(diagnose_softmax(SOFTMAX_PADDED), "elements past the end are counted");
    assert_string_equal(diagnose_softmax(SOFTMAX_SHORT), "part of the output was never written");
    assert_string_equal(diagnose_softmax(SOFTMAX_SQUARE), "none");
    assert_string_equal(diagnose_softmax(SOFTMAX_RIGHT), "none");
}

static void findings_have_a_meaning(void **state) {
    (void)state;
    assert_non_null(diagnosis_finding("race"));
    assert_string_equal(diagnosis_finding("race within a warp")->title, "race within a warp");
    assert_null(diagnosis_finding("assertion failed")); // the author of the kernel wrote the condition
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_in_fp32_are_named),
        cmocka_unit_test(what_is_no_mistake_of_the_list_has_no_name),
        cmocka_unit_test(right_outputs_are_never_named),
        cmocka_unit_test(no_mistake_gets_the_name_of_another),
        cmocka_unit_test(other_outputs_have_no_name),
        cmocka_unit_test(a_single_case_is_enough),
        cmocka_unit_test(mistakes_that_show_with_many_heads_only_are_named),
        cmocka_unit_test(two_mistakes_at_once_have_no_third_name),
        cmocka_unit_test(mistakes_are_named_rightly_on_the_cases_of_a_gpu),
        cmocka_unit_test(mistakes_of_a_row_softmax_are_named),
        cmocka_unit_test(findings_have_a_meaning),
    };
    return cmocka_run_group_tests_name("diagnosis", tests, NULL, NULL);
}
