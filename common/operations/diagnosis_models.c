#include "operations/diagnosis_models.h"

#include "clock.h"
#include "host/parallel.h"
#include "host/verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 4711, CONFIRMING_OUTPUTS = 2, MOST_WRONG_CASES = 4 };

// How much of the error (its RMS) a mistake may leave unexplained, and the seconds after which there is no name.
static const double unexplained = 0.1, seconds = 20;

struct elimination {
    const struct mistake_models *models;
    bool dropped[MAX_MODELS];
    int wrong_outputs;
};

static bool is_predicted(double value, double bound, float got) {
    // A sum of weights that is 0 gives NaN in one kernel and 0 in another, which looks before it divides.
    if (!isfinite(value) || !isfinite(got))
        return !isfinite(value) && (!isfinite(got) || got == 0) && !is_poison(got);
    return fabs(got - value) <= bound;
}

// Whether a prediction is what the kernel computed: all elements within their bounds, and of those that are wrong next
// to nothing of the error left. A NaN that the kernel has as 0 may be among the wrong elements, but is not all of them:
// a 0 everywhere is another mistake.
static bool predicts(const struct prediction *p, const struct prediction *right, const float *got, int64_t elements) {
    double left = 0, error = 0;
    int64_t wrong = 0, other = 0;
    for (int64_t i = 0; i < elements; i++) {
        const bool is_wrong = !is_predicted(right->value[i], right->bound[i], got[i]);
        if (!is_predicted(p->value[i], p->bound[i], got[i]))
            return false;
        wrong += is_wrong;
        other += is_wrong && !isfinite(p->value[i]) && isfinite(got[i]);
        if (isfinite(p->value[i]) && isfinite(got[i]) && is_wrong) {
            left += (got[i] - p->value[i]) * (got[i] - p->value[i]);
            error += (got[i] - right->value[i]) * (got[i] - right->value[i]);
        }
    }
    return (!wrong || other < wrong) && left <= unexplained * unexplained * error;
}

// Drops the models that do not compute what the kernel does for the case. A right output drops those that predict
// another one.
static void observe(struct elimination *e, const struct diagnosed *kernel, const struct problem_case *which,
                    uint64_t seed) {
    struct host_problem problem;
    kernel->operation->make(which, seed, true, &problem);
    if (!kernel->optional)
        problem_omit_optional(&problem);
    const int64_t elements = problem_output_elements(&problem);
    float *got = host_allocate(elements, sizeof *got);
    if (kernel->run(kernel->context, &problem, got)) {
        struct prediction p = {host_allocate(elements, sizeof(double)), host_allocate(elements, sizeof(double))};
        struct prediction right = {host_allocate(elements, sizeof(double)), host_allocate(elements, sizeof(double))};
        const bool is_right = verdict_of_all(&problem, got, seed);
        e->wrong_outputs += !is_right;
        e->models->predict(RIGHT_MODEL, &problem, &right);
        for (int i = 0; i < e->models->count; i++) {
            if (e->dropped[i])
                continue;
            e->models->predict(i, &problem, &p);
            for (int64_t n = 0; is_right && n < elements; n++)
                e->dropped[i] |= !is_predicted(p.value[n], p.bound[n], got[n]);
            e->dropped[i] |= !is_right && !predicts(&p, &right, got, elements);
        }
        free(p.value);
        free(p.bound);
        free(right.value);
        free(right.bound);
    }
    free(got);
    host_problem_free(&problem);
}

// The only mistake that is left; NULL: none, or several.
static const struct mistake *left_over(const struct elimination *e) {
    const struct mistake *only = NULL;
    for (int i = 0; i < e->models->count; i++) {
        const struct mistake *mistake = e->models->mistake(i);
        if (e->dropped[i])
            continue;
        if (only && strcmp(only->code, mistake->code) != 0)
            return NULL;
        only = only ? only : mistake;
    }
    return only;
}

bool diagnosis_by_models(const struct diagnosed *kernel, const struct evidence *evidence, int count,
                         const struct mistake_models *models, FILE *out) {
    struct elimination e = {.models = models};
    const double until = processor_seconds() + seconds;
    enum attention_dtype dtype = ATTENTION_FP32;
    int observed = 0;
    for (int i = 0; i < count; i++)
        if (evidence[i].outcome == OUTCOME_WRONG) {
            dtype = evidence[i].which.dtype;
            if (observed < MOST_WRONG_CASES && models->usable(&evidence[i].which) && processor_seconds() < until) {
                observe(&e, kernel, &evidence[i].which, evidence[i].seed);
                observed++;
            }
        }
    for (int i = 0; i < models->probes && processor_seconds() < until; i++) {
        struct problem_case which = models->probe[i];
        which.dtype = dtype;
        if (kernel->covers(kernel->context, &which)) {
            observe(&e, kernel, &which, SEED);
            observed++;
        }
    }
    const struct mistake *only = e.wrong_outputs >= CONFIRMING_OUTPUTS ? left_over(&e) : NULL;
    if (only) {
        advice_print("diagnosis", &only->advice, only->code, out);
        fprintf(out, "  Tried: %d cases, of which the kernel gets %d wrong, each as predicted.\n", observed,
                e.wrong_outputs);
    }
    return only != NULL;
}
