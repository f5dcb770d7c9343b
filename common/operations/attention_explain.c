#include "operations/attention_explain.h"

#include "clock.h"
#include "host/parallel.h"
#include "operations/attention_conditions.h"
#include "operations/attention_operation.h"
#include "operations/diagnosis_extremes.h"
#include "operations/diagnosis_report.h"

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
    return processor_seconds() < p->deadline && p->kernel->run(p->kernel->context, problem, outputs);
}

// ---- Scores that are chosen -----------------------------------------------------------------------------------------

enum { D = 64, QUERIES = 2 };

struct one_head {
    const struct diagnosed *kernel;
    enum attention_dtype dtype;
    bool negative; // the scale is below 0
};

// One head, not causal: all queries have these scores.
static bool run_scores(void *context, const double *score, int keys, double sums[EXTREME_SUMS]) {
    const struct one_head *h = context;
    struct problem_case which = {.attention = {1, 1, 1, QUERIES, keys, D}, .dtype = h->dtype};
    struct host_problem problem;
    float *q = host_zeros(QUERIES * D, sizeof *q), *k = host_zeros(keys * D, sizeof *k);
    float *v = host_zeros(keys * D, sizeof *v);
    which.has_scale = h->negative;
    which.scale = -1.0f / 8;
    for (int i = 0; i < QUERIES; i++)
        q[i * D] = h->negative ? -8 : 8; // the square root of D
    for (int j = 0; j < keys; j++) {
        k[j * D] = (float)score[j];
        for (int c = 0; c < EXTREME_SUMS; c++)
            v[j * D + c] = (float)extreme_value(c, j, keys);
    }
    attention_make_of(&which, q, k, v, QUERIES, keys, &problem);
    problem_omit_optional(&problem);
    float *o = host_allocate(problem_output_elements(&problem), sizeof *o);
    const bool ran = h->kernel->covers(h->kernel->context, &which) && h->kernel->run(h->kernel->context, &problem, o);
    for (int c = 0; c < EXTREME_SUMS; c++)
        sums[c] = o[c];
    free(o);
    host_problem_free(&problem);
    return ran;
}

void attention_explain(const struct diagnosed *kernel, const struct evidence *evidence, int count, FILE *out) {
    const double time_budget = 10; // seconds; most kernels take one
    struct deadline_kernel deadline_kernel = {kernel, processor_seconds() + time_budget};
    struct diagnosed limited = *kernel;
    limited.covers = covers;
    limited.run = run;
    limited.context = &deadline_kernel;
    struct problem_case which;
    // Each part has a clock of its own, in case the kernel is slow.
    if (!attention_simplest(&limited, evidence, count, &which))
        return;
    deadline_kernel.deadline = processor_seconds() + time_budget;
    const bool explained = diagnosis_of_case(&limited, &which, out);
    deadline_kernel.deadline = processor_seconds() + time_budget;
    attention_conditions(&limited, &which, out);
    deadline_kernel.deadline = processor_seconds() + time_budget / 2;
    struct one_head head = {&limited, which.dtype, which.has_scale && which.scale < 0};
    if (!explained)
        diagnosis_extremes(&(struct score_kernel){run_scores, &head, which.dtype}, out);
}
