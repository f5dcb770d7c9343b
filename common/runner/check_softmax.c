#include "host/inputs.h"
#include "host/matrix.h"
#include "host/softmax.h"
#include "runner/check.h"
#include "runner/cuda.h"
#include "runner/diagnose.h"
#include "runner/report.h"
#include "runner/softmax_problem.h"

#include <stdio.h>
#include <stdlib.h>

struct check {
    struct report report;
    const struct kernel *kernel;
    const struct device *device;
    enum device_state state;                     // after the last launch
    struct softmax_evidence evidence[MAX_CASES]; // [tried], for the diagnosis
    int tried;
    bool wrong, ended_badly; // of any case: its output, its launch
};

static bool run_kernel(struct check *check, struct softmax_verdict *verdict, struct message *cause,
                       const char **guard) {
    struct softmax_device_problem problem =
        softmax_problem_create(&verdict->shape, verdict->in, verdict->kept, check->kernel, check->device);
    cudaStream_t stream;
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaDeviceSynchronize());
    unsigned findings = device_findings();
    cudaError_t launch = check->kernel->softmax_forward(&problem.problem, stream);
    cause->text[0] = 0;
    *guard = NULL;
    bool ran = check_finish(launch, findings, "softmax_forward", &check->state, cause);
    if (check->state != DEVICE_WELL)
        return false;
    softmax_problem_judge(&problem, verdict);
    *guard = softmax_problem_broken_guard(&problem);
    softmax_problem_free(&problem);
    CUDA(cudaStreamDestroy(stream));
    return ran && softmax_verdict_end(verdict) && !*guard;
}

static void run_case(struct check *check, const struct softmax_case *c, uint64_t seed) {
    struct report *report = &check->report;
    char text[CASE_TEXT], options[CASE_TEXT];
    struct softmax_verdict verdict;
    struct message cause;
    const char *guard;
    int64_t kept;
    snprintf(text, sizeof text, "SHAPE=%lld,%d %s", (long long)c->shape.rows, c->shape.columns, inputs_name(c->family));
    snprintf(options, sizeof options, "SHAPE=%lld,%d INPUTS=%s", (long long)c->shape.rows, c->shape.columns,
             inputs_name(c->family));
    report_case(report, text);

    float *in = inputs_matrix(&c->shape, c->family, seed, &kept);
    struct row_sample sample = sample_rows(c->shape.rows, c->shape.rows, 20.0 * c->shape.columns, seed);
    softmax_verdict_begin(&verdict, &c->shape, in, kept, &sample);
    bool right = run_kernel(check, &verdict, &cause, &guard);
    check->evidence[check->tried++] = (struct softmax_evidence){*c, seed, right ? DIAGNOSIS_RIGHT : DIAGNOSIS_WRONG};
    check->wrong |= !right;
    check->ended_badly |= *cause.text || guard;
    if (right) {
        report_passed(report, "largest relative error", verdict.max_relative_error);
    } else {
        report_failed(report, "%s",
                      *cause.text ? cause.text
                      : guard     ? "memory beside a matrix was written"
                                  : "wrong output");
        if (guard)
            printf("  a kernel wrote before the start or past the end of %s\n", guard);
        if (verdict.unwritten < verdict.elements || !*cause.text)
            softmax_verdict_explain(&verdict, stdout);
        report_repeat(report, options, seed);
    }
    sample_free(&sample);
    free(in);
}

// Which cases there are: the one that was asked for, or the matrix.
static int choose_cases(const struct check *check, const struct arguments *arguments, struct softmax_case *cases) {
    enum input_family family = INPUTS_NORMAL;
    struct message error;
    if (arguments->inputs && !inputs_from_name(arguments->inputs, &family, &error))
        message_exit(EXIT_BAD_INPUT, "%s", error.text);
    if (arguments->has_shape) {
        cases[0] = (struct softmax_case){arguments->shape.softmax, family};
        if (!softmax_problem_fits(check->kernel, &cases[0].shape, check->device, 1, &error))
            message_exit(EXIT_BAD_INPUT, "SHAPE=%s %s: use a smaller one", arguments->shape_text, error.text);
        return 1;
    }
    int kept = 0, count = matrix_softmax(arguments->quick                               ? MATRIX_QUICK
                                         : check->device->simulated || arguments->small ? MATRIX_SIMULATOR
                                                                                        : MATRIX_GPU,
                                         cases);
    for (int i = 0; i < count; i++) {
        if (arguments->inputs)
            cases[i].family = family;
        if (softmax_problem_fits(check->kernel, &cases[i].shape, check->device, 1, &error))
            cases[kept++] = cases[i];
        else
            printf("  not run: %lld,%d: %s\n", (long long)cases[i].shape.rows, cases[i].shape.columns, error.text);
    }
    return kept;
}

int check_softmax(const struct kernel *kernel, const struct device *device, const struct arguments *arguments) {
    struct check check = {.kernel = kernel, .device = device};
    struct softmax_case cases[MAX_CASES];
    uint64_t seed = check_seed(arguments);
    if (arguments->data) {
        printf("%s: DATA holds tensors of attention, a row softmax has nothing to check there\n",
               kernel->argument->name);
        return 0;
    }
    if (arguments->causal)
        printf("%s: a row softmax has no mask, CAUSAL=1 changes nothing\n", kernel->argument->name);
    int count = choose_cases(&check, arguments, cases);
    check.report = report_begin(arguments, kernel->argument, device, count, seed);
    for (int i = 0; i < count && !report_enough(&check.report) && check.state != DEVICE_LOST; i++)
        run_case(&check, &cases[i], arguments->has_shape ? seed : seed + (uint64_t)i);
    // Only numbers tell which mistake they come from; a finding or an error has said its own.
    if (check.ended_badly && !report_blank_open(&check.report))
        diagnose_finding();
    else if (check.wrong && !report_blank_open(&check.report))
        diagnose_softmax(kernel, device, check.evidence, check.tried);
    return report_end(&check.report);
}
