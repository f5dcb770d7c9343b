#include "host/diagnosis.h"

#include "clock.h"
#include "host/parallel.h"
#include "host/verdict.h"

#include <stdlib.h>

enum { PROBE_SEED = 4711 };

static void make(const struct diagnosed *kernel, const struct problem_case *which, uint64_t seed, bool optional,
                 struct host_problem *problem) {
    kernel->operation->make(which, seed, true, problem);
    if (!optional)
        problem_omit_optional(problem);
}

// Runs the kernel on a case and lets the suspects hear its output. A probe, and a case in a smaller shape, may be
// right. Where all that is left would read outside the tensors, the kernel is spared the case.
static void observe_output(struct candidates *candidates, const struct diagnosed *kernel,
                           const struct problem_case *which, uint64_t seed, bool is_probe) {
    struct host_problem problem;
    make(kernel, which, seed, kernel->optional, &problem);
    float *outputs = host_allocate(problem_output_elements(&problem), sizeof *outputs);
    if (!(is_probe && candidates_cannot_predict(candidates, &problem)) &&
        kernel->run(kernel->context, &problem, outputs))
        candidates_observe(candidates, &problem,
                           is_probe && verdict_of_all(&problem, outputs, PROBE_SEED) ? NULL : outputs);
    free(outputs);
    host_problem_free(&problem);
}

static void observe_right(struct candidates *candidates, const struct diagnosed *kernel,
                          const struct evidence *evidence) {
    struct host_problem problem;
    make(kernel, &evidence->which, evidence->seed, evidence->optional, &problem);
    candidates_observe(candidates, &problem, NULL);
    host_problem_free(&problem);
}

// Whether the mistake fits what the kernel gives for a probe, with any of its parameters: a kernel may choose its tile
// by the shape.
static bool is_confirmed(const struct mistake *mistake, const struct diagnosed *kernel,
                         const struct problem_case *which) {
    struct candidates candidates = {.mistake_models = kernel->operation->mistake_models()};
    for (int i = 0; i < candidates.mistake_models->count; i++) {
        candidates.dropped[i] = candidates.mistake_models->mistake(i) != mistake;
        candidates.explained[i] = candidates.mistake_models->mistake(i) == mistake;
    }
    observe_output(&candidates, kernel, which, PROBE_SEED, true);
    const struct mistake *only;
    return candidates_left(&candidates, &only) == 1;
}

// The one mistake that is left. One that is alone after a few wrong cases has to be right about the telling probes,
// too. The others only tell apart what is left.
// After so many seconds there is no name: to ask a slow kernel for more is worth less than to say what is known of it.
static const struct mistake *probe(struct candidates *candidates, const struct diagnosed *kernel,
                                   enum attention_dtype dtype, double until) {
    const struct mistake_models *mistake_models = candidates->mistake_models;
    const struct mistake *only;
    int left = candidates_left(candidates, &only);
    for (int i = 0; i < mistake_models->probes; i++) {
        struct problem_case which = mistake_models->probe[i];
        which.dtype = dtype;
        if (clock_seconds() > until)
            return NULL;
        if (!kernel->covers(kernel->context, &which) || (left == 1 && !mistake_models->discriminates(&which)))
            continue;
        if (left == 1 && !is_confirmed(only, kernel, &which))
            return NULL;
        if (left != 1)
            observe_output(candidates, kernel, &which, PROBE_SEED, true);
        left = candidates_left(candidates, &only);
    }
    return left == 1 ? only : NULL;
}

const struct mistake *diagnosis(const struct diagnosed *kernel, const struct evidence *evidence, int count) {
    const struct mistake_models *mistake_models = kernel->operation->mistake_models();
    struct candidates candidates = {.mistake_models = mistake_models};
    enum attention_dtype dtype = count ? evidence[0].which.dtype : ATTENTION_FP32;
    double work_done = 0;
    const double time_budget = 20 * time_budget_factor();
    const double begin = clock_seconds();
    for (int i = 0; i < count; i++) {
        struct problem_case which = evidence[i].which;
        bool usable = mistake_models->usable(&which);
        if (evidence[i].outcome != OUTCOME_WRONG || !(usable || mistake_models->reduce(&which)))
            continue;
        dtype = which.dtype;
        observe_output(&candidates, kernel, &which, evidence[i].seed, !usable);
    }
    for (int i = 0; i < count; i++) {
        const struct problem_case *which = &evidence[i].which;
        if (evidence[i].outcome == OUTCOME_RIGHT && mistake_models->usable(which) &&
            work_done + mistake_models->work(which) <= mistake_models->work_of_right) {
            work_done += mistake_models->work(which);
            observe_right(&candidates, kernel, &evidence[i]);
        }
    }
    const struct mistake *only = probe(&candidates, kernel, dtype, begin + time_budget);
    return only && mistake_models->refine ? mistake_models->refine(only, kernel, dtype) : only;
}
