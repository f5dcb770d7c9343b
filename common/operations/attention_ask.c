#include "operations/attention_ask.h"

#include "clock.h"
#include "host/parallel.h"
#include "operations/attention_operation.h"
#include "operations/attention_pattern.h"

#include <stdlib.h>
#include <string.h>

// A kernel that is answered for so many seconds, and then no more.
struct patient {
    const struct diagnosed *kernel;
    double until;
};

static bool covers(void *context, const struct problem_case *which) {
    const struct patient *p = context;
    return p->kernel->covers(p->kernel->context, which);
}

static bool run(void *context, const struct host_problem *problem, float *outputs) {
    const struct patient *p = context;
    return clock_seconds() < p->until && p->kernel->run(p->kernel->context, problem, outputs);
}

static bool ask_head(const struct diagnosed *kernel, struct problem_case which, const float *q, const float *k,
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
        problem_leave_optional(&problem);
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

bool attention_ask_head(const struct diagnosed *kernel, enum attention_dtype dtype, int d, int nq, int nk,
                        const float *q, const float *k, const float *v, float *o) {
    return ask_head(kernel, one_head(dtype, d, nq, nk), q, k, v, o);
}

bool attention_ask_scaled(const struct diagnosed *kernel, enum attention_dtype dtype, double scale, int d, int nq,
                          int nk, const float *q, const float *k, const float *v, float *o) {
    struct problem_case which = one_head(dtype, d, nq, nk);
    which.has_scale = true;
    which.scale = (float)scale;
    return ask_head(kernel, which, q, k, v, o);
}

void attention_ask(const struct diagnosed *kernel, const struct evidence *evidence, int count, FILE *out) {
    const double patience = 4 * patience_factor(); // most kernels take half a second
    int wrong = 0;
    while (wrong < count && evidence[wrong].outcome != OUTCOME_WRONG)
        wrong++;
    if (wrong == count)
        return;
    struct patient patient = {kernel, clock_seconds() + patience};
    struct diagnosed asked = *kernel;
    asked.covers = covers;
    asked.run = run;
    asked.context = &patient;
    struct problem_case which = evidence[wrong].which;
    // Each part has a clock of its own, in case the kernel is slow.
    char *weights = NULL;
    size_t size = 0;
    bool located = false;
    FILE *of_weights = open_memstream(&weights, &size);
    bool found = attention_simplest(&asked, evidence, count, &which);
    patient.until = clock_seconds() + patience;
    if (found && of_weights) {
        attention_pattern(&asked, &which, out);
        patient.until = clock_seconds() + patience;
        located = attention_stages(&asked, &which, of_weights) && which.family == INPUTS_NORMAL && !which.has_scale;
        attention_where(&asked, &which, out);
    }
    if (of_weights)
        fclose(of_weights);
    fputs(weights ? weights : "", out);
    free(weights);
    patient.until = clock_seconds() + patience / 2;
    bool told = attention_probe(&asked, &which, out);
    if (!located && !told && !attention_operands(&asked, &which, out))
        attention_extremes(&asked, which.dtype, which.has_scale && which.scale < 0, out);
}
