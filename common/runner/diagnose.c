#include "runner/diagnose.h"

#include "runner/cuda.h"
#include "runner/finish.h"
#include "runner/problem.h"

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

static bool run(void *context, const struct host_problem *host, float *outputs) {
    struct subject *subject = context;
    struct message reason, cause;
    if (subject->state == DEVICE_LOST || !problem_fits(subject->kernel, &host->which, subject->device, 1, &reason))
        return false;
    struct device_problem problem = problem_create(host, subject->kernel, subject->device, true, 0);
    struct device_counts before = device_counts();
    bool ran = launch_finish(problem_launch(&problem, subject->kernel, problem.workspace.data, 0), &before,
                             subject->kernel->operation->forward, &subject->state, &cause);
    if (subject->state != DEVICE_WELL)
        return false;
    problem_outputs(&problem, outputs);
    problem_free(&problem);
    return ran;
}

static bool covers(void *context, const struct problem_case *which) {
    const struct subject *subject = context;
    struct obstacle obstacle;
    return kernel_covers(subject->kernel, which, subject->device, &obstacle);
}

void diagnose(const struct kernel *kernel, const struct device *device, const struct evidence *evidence, int count) {
    struct subject subject = {kernel, device, DEVICE_WELL};
    struct diagnosed diagnosed = {.operation = kernel->operation,
                                  .optional = kernel_gives_optional(kernel),
                                  .covers = covers,
                                  .run = run,
                                  .context = &subject};
    step_begin("diagnosis");
    print("diagnosis", diagnosis(&diagnosed, evidence, count));
}

void diagnose_finding(void) {
    print("about the finding", diagnosis_finding(device_first_finding()));
}
