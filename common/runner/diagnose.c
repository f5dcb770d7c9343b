#include "runner/diagnose.h"

#include "runner/check.h"
#include "runner/cuda.h"
#include "runner/problem.h"
#include "runner/softmax_problem.h"

#include <stdio.h>
#include <string.h>

struct subject {
    const struct kernel *kernel;
    const struct device *device;
    enum device_state state; // after the last launch
};

static void print(const char *heading, const struct mistake *mistake) {
    enum { WIDTH = 100 };
    if (!mistake)
        return;
    printf("\n%s: %s\n ", heading, mistake->title);
    int column = 1;
    for (const char *word = mistake->reasoning; *word;) {
        int length = (int)strcspn(word, " ");
        if (column + 1 + length > WIDTH) {
            printf("\n ");
            column = 1;
        }
        printf(" %.*s", length, word);
        column += 1 + length;
        word += length + (word[length] == ' ');
    }
    putchar('\n');
    fflush(stdout);
}

static bool run_attention(void *context, const struct host_inputs *inputs, float *o) {
    struct subject *subject = context;
    struct message reason, cause;
    if (subject->state == DEVICE_LOST || !problem_covered(subject->kernel, &inputs->shape, subject->device, &reason) ||
        !problem_fits(subject->kernel, &inputs->shape, subject->device, 1, &reason))
        return false;
    struct device_problem problem = problem_create(inputs, subject->kernel, subject->device, false);
    unsigned findings = device_findings();
    bool ran = check_finish(subject->kernel->attention_forward(&problem.problem, 0), findings, "attention_forward",
                            &subject->state, &cause);
    if (subject->state != DEVICE_WELL)
        return false;
    CUDA(cudaMemcpy(o, problem.o.data, (size_t)problem.o.elements * sizeof *o, cudaMemcpyDeviceToHost));
    problem_free(&problem);
    return ran;
}

static bool run_softmax(void *context, const struct softmax_shape *shape, const float *in, float *out) {
    struct subject *subject = context;
    struct message reason, cause;
    if (subject->state == DEVICE_LOST || !softmax_problem_fits(subject->kernel, shape, subject->device, 1, &reason))
        return false;
    struct softmax_device_problem problem =
        softmax_problem_create(shape, in, shape->rows, subject->kernel, subject->device);
    unsigned findings = device_findings();
    bool ran = check_finish(subject->kernel->softmax_forward(&problem.problem, 0), findings, "softmax_forward",
                            &subject->state, &cause);
    if (subject->state != DEVICE_WELL)
        return false;
    CUDA(cudaMemcpy(out, problem.out.data, (size_t)problem.out.elements * sizeof *out, cudaMemcpyDeviceToHost));
    softmax_problem_free(&problem);
    return ran;
}

void diagnose_attention(const struct kernel *kernel, const struct device *device,
                        const struct attention_evidence *evidence, int count) {
    struct subject subject = {kernel, device, DEVICE_WELL};
    step_begin("diagnosis");
    print("diagnosis", diagnosis_attention(evidence, count, kernel->lesson->causal, run_attention, &subject));
}

void diagnose_softmax(const struct kernel *kernel, const struct device *device, const struct softmax_evidence *evidence,
                      int count) {
    struct subject subject = {kernel, device, DEVICE_WELL};
    step_begin("diagnosis");
    print("diagnosis", diagnosis_softmax(evidence, count, run_softmax, &subject));
}

void diagnose_finding(void) {
    const char *kind = device_first_finding();
    if (kind)
        print("about the finding", diagnosis_finding(kind));
}
