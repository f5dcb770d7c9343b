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
        problem_leave_optional(problem);
}

// Runs the kernel on a case and lets the suspects hear its output. A probe, and a case in a smaller shape, may be
// right. Where all that is left would read outside the tensors, the kernel is spared the case.
static void hear_output(struct lineup *lineup, const struct diagnosed *kernel, const struct problem_case *which,
                        uint64_t seed, bool is_probe) {
    struct host_problem problem;
    make(kernel, which, seed, kernel->optional, &problem);
    float *outputs = host_allocate(problem_output_elements(&problem), sizeof *outputs);
    if (!(is_probe && lineup_silent(lineup, &problem)) && kernel->run(kernel->context, &problem, outputs))
        lineup_hear(lineup, &problem, is_probe && verdict_of_all(&problem, outputs, PROBE_SEED) ? NULL : outputs);
    free(outputs);
    host_problem_free(&problem);
}

static void hear_right(struct lineup *lineup, const struct diagnosed *kernel, const struct evidence *evidence) {
    struct host_problem problem;
    make(kernel, &evidence->which, evidence->seed, evidence->optional, &problem);
    lineup_hear(lineup, &problem, NULL);
    host_problem_free(&problem);
}

// Whether the mistake fits what the kernel gives for a probe, with any of its parameters: a kernel may choose its tile
// by the shape.
static bool is_confirmed(const struct mistake *mistake, const struct diagnosed *kernel,
                         const struct problem_case *which) {
    struct lineup lineup = {.suspects = kernel->operation->suspects()};
    for (int i = 0; i < lineup.suspects->count; i++) {
        lineup.dropped[i] = lineup.suspects->mistake(i) != mistake;
        lineup.explained[i] = lineup.suspects->mistake(i) == mistake;
    }
    hear_output(&lineup, kernel, which, PROBE_SEED, true);
    const struct mistake *only;
    return lineup_left(&lineup, &only) == 1;
}

// The one mistake that is left. One that is alone after a few wrong cases has to be right about the telling probes,
// too. The others only tell apart what is left.
// After so many seconds there is no name: to ask a slow kernel for more is worth less than to say what is known of it.
static const struct mistake *probe(struct lineup *lineup, const struct diagnosed *kernel, enum attention_dtype dtype,
                                   double until) {
    const struct suspects *suspects = lineup->suspects;
    const struct mistake *only;
    int left = lineup_left(lineup, &only);
    for (int i = 0; i < suspects->probes; i++) {
        struct problem_case which = suspects->probe[i];
        which.dtype = dtype;
        if (clock_seconds() > until)
            return NULL;
        if (!kernel->covers(kernel->context, &which) || (left == 1 && !suspects->telling(&which)))
            continue;
        if (left == 1 && !is_confirmed(only, kernel, &which))
            return NULL;
        if (left != 1)
            hear_output(lineup, kernel, &which, PROBE_SEED, true);
        left = lineup_left(lineup, &only);
    }
    return left == 1 ? only : NULL;
}

const struct mistake *diagnosis(const struct diagnosed *kernel, const struct evidence *evidence, int count) {
    const struct suspects *suspects = kernel->operation->suspects();
    struct lineup lineup = {.suspects = suspects};
    enum attention_dtype dtype = count ? evidence[0].which.dtype : ATTENTION_FP32;
    double spent = 0;
    const double patience = 20 * patience_factor();
    const double begin = clock_seconds();
    for (int i = 0; i < count; i++) {
        struct problem_case which = evidence[i].which;
        bool usable = suspects->usable(&which);
        if (evidence[i].outcome != OUTCOME_WRONG || !(usable || suspects->reduce(&which)))
            continue;
        dtype = which.dtype;
        hear_output(&lineup, kernel, &which, evidence[i].seed, !usable);
    }
    for (int i = 0; i < count; i++) {
        const struct problem_case *which = &evidence[i].which;
        if (evidence[i].outcome == OUTCOME_RIGHT && suspects->usable(which) &&
            spent + suspects->work(which) <= suspects->work_of_right) {
            spent += suspects->work(which);
            hear_right(&lineup, kernel, &evidence[i]);
        }
    }
    const struct mistake *only = probe(&lineup, kernel, dtype, begin + patience);
    return only && suspects->refine ? suspects->refine(only, kernel, dtype) : only;
}
