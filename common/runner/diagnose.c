#include "runner/diagnose.h"

#include "runner/cuda.h"

#include <stdio.h>
#include <string.h>

struct subject {
    const struct worker *worker;
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

void diagnose(const struct worker *worker, const struct evidence *evidence, int count) {
    struct subject subject = {worker, DEVICE_WELL};
    struct diagnosed diagnosed = {.operation = worker->operation,
                                  .optional = worker->gives_optional,
                                  .covers = covers,
                                  .run = run,
                                  .context = &subject};
    step_begin("diagnosis");
    const struct mistake *mistake = diagnosis(&diagnosed, evidence, count);
    print("diagnosis", mistake);
    if (!mistake && worker->operation->ask)
        worker->operation->ask(&diagnosed, evidence, count, stdout);
    fflush(stdout);
}

void diagnose_nothing(void) {
    static const struct mistake nothing = {
        "nothing is written",
        "The kernel was launched and ended, and in no case has it stored anything to the output. Does a thread return "
        "before it comes to the store, does the store stand in a branch that nobody takes, or does it go somewhere "
        "else?"};
    print("diagnosis", &nothing);
}

void diagnose_finding(int finding) {
    print("about the finding", diagnosis_finding(finding));
}
