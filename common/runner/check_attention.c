#include "host/data.h"
#include "host/matrix.h"
#include "host/verdict.h"
#include "runner/check.h"
#include "runner/cuda.h"
#include "runner/diagnose.h"
#include "runner/problem.h"
#include "runner/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct check {
    struct report report;
    const struct kernel *kernel;
    const struct device *device;
    enum device_state state; // after the last launch
    const struct arguments *arguments;
    struct attention_evidence evidence[MAX_CASES]; // [tried], for the diagnosis
    int tried;
    bool wrong, ended_badly; // of any case: its output, its launch
};

static void describe_case(const struct attention_case *c, char text[CASE_TEXT]) {
    char shape[SHAPE_TEXT];
    shape_text(&c->shape, shape);
    snprintf(text, CASE_TEXT, "SHAPE=%s%s%s%s%s", shape, c->shape.causal ? " causal" : "",
             c->shape.layout == LAYOUT_BNHD ? " bnhd" : "", c->family ? " " : "",
             c->family ? inputs_name(c->family) : "");
}

// The variables of make that run the case again.
static void describe_options(const struct attention_case *c, const char *data, char *text, size_t size) {
    char shape[SHAPE_TEXT];
    shape_text(&c->shape, shape);
    if (data)
        snprintf(text, size, "DATA=%s%s", data, c->shape.causal ? " CAUSAL=1" : "");
    else
        snprintf(text, size, "SHAPE=%s%s%s%s%s", shape, c->shape.causal ? " CAUSAL=1" : "",
                 c->shape.layout == LAYOUT_BNHD ? " LAYOUT=bnhd" : "", c->family ? " INPUTS=" : "",
                 c->family ? inputs_name(c->family) : "");
}

// Launches the kernel once and judges its output. cause is empty where the launch ended well.
static bool run_kernel(struct check *check, const struct host_inputs *inputs, bool with_lse, struct verdict *verdict,
                       struct message *cause, const char **guard) {
    struct device_problem problem =
        problem_create(inputs, check->kernel, check->device, with_lse && check->kernel->lesson->lse);
    cudaStream_t stream;
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaDeviceSynchronize());
    unsigned findings = device_findings();
    cudaError_t launch = check->kernel->attention_forward(&problem.problem, stream);
    cause->text[0] = 0;
    *guard = NULL;
    bool ran = check_finish(launch, findings, "attention_forward", &check->state, cause);
    if (check->state != DEVICE_WELL)
        return false;
    problem_judge(&problem, verdict);
    *guard = problem_broken_guard(&problem);
    bool right = verdict_end(verdict);
    problem_free(&problem);
    CUDA(cudaStreamDestroy(stream));
    return ran && right && !*guard;
}

// Data of the user's own cannot be drawn again: the diagnosis has its own inputs.
static void remember(struct check *check, const struct attention_case *c, uint64_t seed, bool right, bool ended_badly) {
    check->wrong |= !right;
    check->ended_badly |= ended_badly;
    if (!check->arguments->data && check->tried < MAX_CASES)
        check->evidence[check->tried++] =
            (struct attention_evidence){*c, seed, right ? DIAGNOSIS_RIGHT : DIAGNOSIS_WRONG};
}

static void run_case(struct check *check, const struct attention_case *c, const struct host_inputs *inputs,
                     uint64_t seed, bool with_lse) {
    struct report *report = &check->report;
    const struct attention_shape *s = &inputs->shape;
    char text[CASE_TEXT], options[512];
    struct verdict verdict;
    struct message cause;
    const char *guard;
    describe_case(c, text);
    describe_options(c, check->arguments->data, options, sizeof options);
    report_case(report, text);

    int64_t rows = shape_q_elements(s) / s->head_dim;
    struct row_sample sample = sample_rows(rows, s->nq, 2.0 * s->nk * s->head_dim, seed);
    struct reference reference = reference_attention(inputs, &sample);
    verdict_begin(&verdict, inputs, &sample, &reference);
    bool right = run_kernel(check, inputs, with_lse, &verdict, &cause, &guard);
    remember(check, c, seed, right, *cause.text || guard);
    if (right) {
        report_passed(report, "rms", verdict.relative_rms);
    } else {
        report_failed(report, "%s",
                      *cause.text ? cause.text
                      : guard     ? "memory beside a tensor was written"
                                  : "wrong output");
        if (guard)
            printf("  a kernel wrote before the start or past the end of %s\n", guard);
        // Of a launch that failed at once there is nothing to say but that.
        if (verdict.unwritten < verdict.elements || !*cause.text)
            verdict_explain(&verdict, stdout);
        report_repeat(report, options, seed);
    }
    verdict_free(&verdict);
    reference_free(&reference);
    sample_free(&sample);
}

// Only numbers tell which mistake they come from; a finding or an error has said its own.
static int finish(struct check *check) {
    if (check->ended_badly && !report_blank_open(&check->report))
        diagnose_finding();
    else if (check->wrong && !report_blank_open(&check->report))
        diagnose_attention(check->kernel, check->device, check->evidence, check->tried);
    return report_end(&check->report);
}

// One case that the user asked for: what cannot be run is an error.
static int check_one(struct check *check, const struct attention_case *c, struct host_inputs *inputs, uint64_t seed) {
    struct message reason;
    if (!problem_covered(check->kernel, &c->shape, check->device, &reason))
        message_exit(EXIT_BAD_INPUT, "%s", reason.text);
    if (!problem_fits(check->kernel, &c->shape, check->device, 1, &reason))
        message_exit(EXIT_BAD_INPUT, "SHAPE=%s %s: use a smaller one",
                     check->arguments->has_shape ? check->arguments->shape_text : "of the data", reason.text);
    struct host_inputs drawn = {0};
    if (!inputs)
        drawn = inputs_attention(&c->shape, c->family, seed);
    check->report = report_begin(check->arguments, check->kernel->argument, check->device, 1, seed);
    run_case(check, c, inputs ? inputs : &drawn, seed, true);
    inputs_free(&drawn);
    return finish(check);
}

static void compare_own_output(const struct host_inputs *inputs, const float *o, uint64_t seed, const char *folder) {
    const struct attention_shape *s = &inputs->shape;
    int64_t rows = shape_q_elements(s) / s->head_dim;
    struct row_sample sample = sample_rows(rows, s->nq, 2.0 * s->nk * s->head_dim, seed);
    struct reference reference = reference_attention(inputs, &sample);
    struct verdict verdict;
    verdict_begin(&verdict, inputs, &sample, &reference);
    verdict_rows(&verdict, 0, rows, o);
    bool right = verdict_end(&verdict);
    printf("%s/o.npy differs from the reference by a relative rms of %.1e%s\n", folder, verdict.relative_rms,
           right ? "" : ":");
    if (!right) {
        verdict_explain(&verdict, stdout);
        message_exit(
            EXIT_CHECK_FAILED,
            "%s/o.npy is not the attention of q, k and v%s with scale 1/sqrt(head_dim): was there %s, another scale, "
            "dropout, bfloat16 or TF32? Leave o.npy away to check the kernel alone",
            folder, s->causal ? ", causal," : "", s->causal ? "no mask" : "a mask (CAUSAL=1)");
    }
    verdict_free(&verdict);
    reference_free(&reference);
    sample_free(&sample);
}

static int check_data(struct check *check, uint64_t seed) {
    struct host_inputs inputs;
    struct message error;
    float *o;
    const char *folder = check->arguments->data;
    if (!data_load(folder, check->arguments->causal, &inputs, &o, &error))
        message_exit(EXIT_BAD_INPUT, "%s", error.text);
    struct attention_case c = {.shape = inputs.shape};
    int status = check_one(check, &c, &inputs, seed);
    if (o)
        compare_own_output(&inputs, o, seed, folder);
    free(o);
    inputs_free(&inputs);
    return status;
}

// Keeps the cases that can be run, and says of the others why they are not.
static int select_cases(const struct check *check, struct attention_case *cases, int count) {
    const struct attention_lesson *lesson = check->kernel->lesson;
    int kept = 0, causal = 0, strided = 0, grouped = 0;
    for (int i = 0; i < count; i++) {
        const struct attention_shape *s = &cases[i].shape;
        struct message reason;
        char text[CASE_TEXT];
        describe_case(&cases[i], text);
        if (s->layout != LAYOUT_BHND && !lesson->strided)
            strided++;
        else if (s->kv_heads != s->heads && !lesson->grouped_heads)
            grouped++;
        else if (s->causal && !lesson->causal)
            causal++;
        else if (!problem_covered(check->kernel, s, check->device, &reason) ||
                 !problem_fits(check->kernel, s, check->device, 1, &reason))
            printf("  not run: %s: %s\n", text, reason.text);
        else
            cases[kept++] = cases[i];
    }
    const struct {
        int cases;
        const char *what;
    } left_out[] = {{causal, "causal masks"}, {strided, "strides"}, {grouped, "grouped heads"}};
    for (int i = 0; i < 3; i++)
        if (left_out[i].cases)
            printf("  not part of this lesson: %s (%d cases)\n", left_out[i].what, left_out[i].cases);
    return kept;
}

static int check_matrix(struct check *check, enum input_family family, uint64_t seed) {
    const struct arguments *arguments = check->arguments;
    struct attention_case cases[MAX_CASES];
    int count = matrix_attention(arguments->quick                               ? MATRIX_QUICK
                                 : check->device->simulated || arguments->small ? MATRIX_SIMULATOR
                                                                                : MATRIX_GPU,
                                 cases);
    for (int i = 0; i < count; i++) {
        cases[i].shape.causal = cases[i].shape.causal || arguments->causal;
        if (arguments->layout != LAYOUT_BHND)
            cases[i].shape.layout = arguments->layout;
        if (arguments->inputs)
            cases[i].family = family;
    }
    count = select_cases(check, cases, count);
    if (!count)
        message_exit(EXIT_BAD_INPUT, "%s covers none of the cases that were asked for", check->kernel->argument->name);
    check->report = report_begin(arguments, check->kernel->argument, check->device, count, seed);
    for (int i = 0; i < count && !report_enough(&check->report) && check->state != DEVICE_LOST; i++) {
        // Every second case leaves lse away, as most callers do.
        uint64_t case_seed = seed + (uint64_t)i;
        struct host_inputs inputs = inputs_attention(&cases[i].shape, cases[i].family, case_seed);
        run_case(check, &cases[i], &inputs, case_seed, i % 2 == 0);
        inputs_free(&inputs);
    }
    return finish(check);
}

int check_attention(const struct kernel *kernel, const struct device *device, const struct arguments *arguments) {
    struct check check = {.kernel = kernel, .device = device, .arguments = arguments};
    struct attention_case one = {.shape = arguments->shape.attention};
    struct message error;
    uint64_t seed = check_seed(arguments);
    const char *lacking = kernel->lesson->unavailable ? kernel->lesson->unavailable() : NULL;
    if (lacking)
        message_exit(EXIT_BAD_INPUT, "%s cannot run here: %s", kernel->argument->name, lacking);
    if (arguments->inputs && !inputs_from_name(arguments->inputs, &one.family, &error))
        message_exit(EXIT_BAD_INPUT, "%s", error.text);
    if (arguments->causal && !kernel->lesson->causal)
        message_exit(EXIT_BAD_INPUT, "%s does not cover causal masks: leave CAUSAL out, or take a lesson that does",
                     kernel->argument->name);
    if (arguments->data)
        return check_data(&check, seed);
    if (!arguments->has_shape)
        return check_matrix(&check, one.family, seed);
    if (arguments->shape.is_matrix)
        message_exit(EXIT_BAD_INPUT, "SHAPE=%s has two numbers, and attention needs four: B,H,N,D",
                     arguments->shape_text);
    return check_one(&check, &one, NULL, seed);
}
