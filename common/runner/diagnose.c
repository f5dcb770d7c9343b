#include "runner/diagnose.h"

#include "runner/cuda.h"

#include <stdio.h>
#include <string.h>

struct subject {
    struct worker *worker;
    enum device_state state; // after the last launch
};

// Where the next output of all begins, for each of them.
struct collected {
    const struct host_problem *host;
    float *outputs;
};

static void collect(void *context, int output, int64_t row, int64_t rows, const float *values) {
    struct collected *c = context;
    int columns = problem_output(c->host, output)->columns;
    (void)row;
    memcpy(c->outputs, values, (size_t)(rows * columns) * sizeof *values);
    c->outputs += rows * columns;
}

static bool run(void *context, const struct host_problem *host, float *outputs) {
    struct subject *subject = context;
    struct collected collected = {.host = host, .outputs = outputs};
    struct message reason;
    if (subject->state == DEVICE_LOST || !worker_fits(subject->worker, &host->which, &reason))
        return false;
    struct worker_result result =
        worker_call(subject->worker, host, &(struct worker_call){.optional = true}, collect, &collected);
    subject->state = result.state;
    return result.good && result.state == DEVICE_WELL;
}

static bool covers(void *context, const struct problem_case *which) {
    const struct subject *subject = context;
    struct obstacle obstacle;
    return worker_covers(subject->worker, which, &obstacle);
}

void diagnose(struct worker *worker, const struct evidence *evidence, int count) {
    struct subject subject = {worker, DEVICE_WELL};
    struct diagnosed diagnosed = {.operation = worker->operation,
                                  .optional = worker->writes_optional,
                                  .covers = covers,
                                  .run = run,
                                  .context = &subject};
    step_begin("diagnosis");
    if (worker->operation->explain)
        worker->operation->explain(&diagnosed, evidence, count, stdout);
    fflush(stdout);
}

void diagnose_nothing(void) {
    static const struct advice nothing = {
        "the kernel writes no output",
        "The kernel was launched and ended, and in no case did it store anything to the output. Does every thread "
        "return before the store, is the store in a branch that no thread takes, or does it go to another address?"};
    advice_print("diagnosis", &nothing, "nothing-written", stdout);
}

void diagnose_finding(int finding) {
    const struct advice *advice = diagnosis_finding(finding);
    if (advice)
        advice_print("about the finding", advice, NULL, stdout);
}
