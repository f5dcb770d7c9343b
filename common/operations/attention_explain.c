#include "operations/attention_explain.h"

#include "clock.h"
#include "host/parallel.h"
#include "operations/attention_conditions.h"
#include "operations/attention_operation.h"

#include <stdlib.h>
#include <string.h>

// A kernel that is answered for so many seconds, and then no more.
struct deadline_kernel {
    const struct diagnosed *kernel;
    double deadline;
};

static bool covers(void *context, const struct problem_case *which) {
    const struct deadline_kernel *p = context;
    return p->kernel->covers(p->kernel->context, which);
}

static bool run(void *context, const struct host_problem *problem, float *outputs) {
    const struct deadline_kernel *p = context;
    return clock_seconds() < p->deadline && p->kernel->run(p->kernel->context, problem, outputs);
}

static bool run_head(const struct diagnosed *kernel, struct problem_case which, const float *q, const float *k,
                     const float *v, float *o) {
    const int nq = which.attention.nq, nk = which.attention.nk, d = which.attention.head_dim;
    struct host_problem problem;
    const float *from[] = {q, k, v};
    const int rows[] = {nq, nk, nk};
    float *copy[3];
    if (!kernel->covers(kernel->context, &which))
        return false;
    for (int i = 0; i < 3; i++) {
        copy[i] = host_allocate((int64_t)rows[i] * d, sizeof(float));
        memcpy(copy[i], from[i], (size_t)rows[i] * d * sizeof(float));
    }
    attention_make_of(&which, copy[0], copy[1], copy[2], nq, nk, &problem);
    if (!kernel->optional)
        problem_omit_optional(&problem);
    float *outputs = host_allocate(problem_output_elements(&problem), sizeof *outputs);
    bool ran = kernel->run(kernel->context, &problem, outputs);
    memcpy(o, outputs, (size_t)nq * d * sizeof *o);
    free(outputs);
    host_problem_free(&problem);
    return ran;
}

static struct problem_case one_head(enum attention_dtype dtype, int d, int nq, int nk) {
    return (struct problem_case){.attention = {1, 1, 1, nq, nk, d, .layout = LAYOUT_BHND}, .dtype = dtype};
}

bool attention_run_head(const struct diagnosed *kernel, enum attention_dtype dtype, int d, int nq, int nk,
                        const float *q, const float *k, const float *v, float *o) {
    return run_head(kernel, one_head(dtype, d, nq, nk), q, k, v, o);
}

bool attention_run_scaled(const struct diagnosed *kernel, enum attention_dtype dtype, double scale, int d, int nq,
                          int nk, const float *q, const float *k, const float *v, float *o) {
    struct problem_case which = one_head(dtype, d, nq, nk);
    which.has_scale = true;
    which.scale = (float)scale;
    return run_head(kernel, which, q, k, v, o);
}

void attention_explain(const struct diagnosed *kernel, const struct evidence *evidence, int count, FILE *out) {
    const double time_budget = 4 * time_budget_factor(); // most kernels take half a second
    int wrong = 0;
    while (wrong < count && evidence[wrong].outcome != OUTCOME_WRONG)
        wrong++;
    if (wrong == count)
        return;
    struct deadline_kernel deadline_kernel = {kernel, clock_seconds() + time_budget};
    struct diagnosed limited = *kernel;
    limited.covers = covers;
    limited.run = run;
    limited.context = &deadline_kernel;
    struct problem_case which = evidence[wrong].which;
    // Each part has a clock of its own, in case the kernel is slow.
    char *weights = NULL;
    size_t size = 0;
    bool located = false;
    FILE *of_weights = open_memstream(&weights, &size);
    bool found = attention_simplest(&limited, evidence, count, &which);
    deadline_kernel.deadline = clock_seconds() + time_budget;
    if (found && of_weights) {
        attention_conditions(&limited, &which, out);
        deadline_kernel.deadline = clock_seconds() + time_budget;
        located = attention_explain_weights(&limited, &which, of_weights) && which.family == INPUTS_NORMAL &&
                  !which.has_scale;
        attention_wrong_elements(&limited, &which, out);
    }
    if (of_weights)
        fclose(of_weights);
    fputs(weights ? weights : "", out);
    free(weights);
    deadline_kernel.deadline = clock_seconds() + time_budget / 2;
    if (!attention_small_probes(&limited, &which, out) && !located)
        attention_extremes(&limited, which.dtype, which.has_scale && which.scale < 0, out);
}
