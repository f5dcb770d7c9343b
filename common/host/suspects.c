#include "host/suspects.h"

#include "host/parallel.h"
#include "host/tolerance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// How much of the error (its RMS) a mistake may leave unexplained.
static const double unexplained = 0.1;

static struct prediction allocate(int64_t elements) {
    return (struct prediction){.value = host_allocate(elements, sizeof(double)),
                               .bound = host_allocate(elements, sizeof(double))};
}

static void release(struct prediction *prediction) {
    free(prediction->value);
    free(prediction->bound);
}

// A sum of weights that is 0 gives NaN in one kernel and 0 in another, which looks before it divides.
static bool both_undefined(float got, double predicted, double right) {
    return !isfinite(predicted) && (!isfinite(got) || (got == 0 && right != 0));
}

enum hearing { CONTRADICTS, SAYS_NOTHING, EXPLAINS };

// Of the first output, which every mistake but those in an optional one has something to say of.
static bool tells_half(const struct prediction *p, const struct host_problem *problem) {
    int64_t elements = problem_output(problem, 0)->rows * problem_output(problem, 0)->columns, told = 0;
    for (int64_t i = 0; i < elements; i++)
        told += !isinf(p->bound[i]);
    return 2 * told >= elements;
}

// The square of what lies between a result and what it should be, beyond one rounding of it: 16 bits of a large number
// say no more of a mistake than that.
static double beyond_rounding(double got, double expected, double unit_roundoff) {
    double difference = got - expected, rounding = unit_roundoff * expected;
    return fmax(difference * difference - rounding * rounding, 0);
}

// Explains: every element is as predicted, and what is wrong about the output nearly all due to that. Says nothing: the
// suspect cannot tell half of the elements, and what it can tell is as predicted.
static enum hearing weigh(const struct prediction *p, const struct prediction *right,
                          const struct host_problem *problem, const float *got) {
    double left = 0, error = 0, u = 0;
    int64_t elements = problem_output_elements(problem), wrong = 0, end = 0;
    for (int64_t i = 0, output = 0; i < elements; i++) {
        if (i == end) {
            const struct host_tensor *tensor = problem_output(problem, (int)output++);
            end += tensor->rows * tensor->columns;
            u = dtype_of(tensor->dtype)->unit_roundoff;
        }
        if (isinf(p->bound[i]))
            continue;
        if (is_poison(got[i])) {
            if (!p->unwritten_fits)
                return CONTRADICTS;
            wrong++;
            continue;
        }
        if (isinf(right->value[i])) { // as exact as a number: a mistake is anything else
            if ((p->value[i] == right->value[i]) != (got[i] == right->value[i]))
                return CONTRADICTS;
            wrong += got[i] != right->value[i];
            continue;
        }
        if (!isfinite(p->value[i]) || !isfinite(got[i])) {
            if (!both_undefined(got[i], p->value[i], right->value[i]))
                return CONTRADICTS;
            wrong += isfinite(right->value[i]);
            continue;
        }
        if (fabs(got[i] - p->value[i]) > p->bound[i])
            return CONTRADICTS;
        left += beyond_rounding(got[i], p->value[i], u);
        if (isfinite(right->value[i]))
            error += beyond_rounding(got[i], right->value[i], u);
    }
    if (!tells_half(p, problem))
        return SAYS_NOTHING;
    return wrong || left < unexplained * unexplained * error ? EXPLAINS : CONTRADICTS;
}

// The mistaken output would be taken for the right one.
static bool same(const struct prediction *a, const struct prediction *right, int64_t elements) {
    for (int64_t i = 0; i < elements; i++) {
        double bound = a->bound[i] + right->bound[i];
        if (isinf(bound))
            continue;
        if (isinf(right->value[i]) && a->value[i] != right->value[i])
            return false;
        if (!isfinite(a->value[i]) || !isfinite(right->value[i])) {
            if (isfinite(a->value[i]) != isfinite(right->value[i]))
                return false;
        } else if (fabs(a->value[i] - right->value[i]) > bound) {
            return false;
        }
    }
    return a->unwritten_fits == right->unwritten_fits;
}

void lineup_hear(struct lineup *l, const struct host_problem *problem, const float *got) {
    const struct suspects *s = l->suspects;
    int64_t elements = problem_output_elements(problem);
    bool finite = s->finite(problem);
    struct prediction right = allocate(elements), mistaken = allocate(elements);
    s->predict(NO_MISTAKE, problem, &right);
    for (int i = 0; i < s->count; i++) {
        if (l->dropped[i] || (!finite && !s->knows_nan(i)))
            continue;
        mistaken.unwritten_fits = false;
        s->predict(i, problem, &mistaken);
        if (!got) {
            mistaken.unwritten_fits = false; // what is never written may be written all the same
            l->dropped[i] = !same(&mistaken, &right, elements);
            continue;
        }
        enum hearing hearing = weigh(&mistaken, &right, problem, got);
        l->explained[i] += hearing == EXPLAINS;
        l->dropped[i] = hearing == CONTRADICTS;
    }
    release(&right);
    release(&mistaken);
}

bool lineup_silent(const struct lineup *l, const struct host_problem *problem) {
    struct prediction mistaken = allocate(problem_output_elements(problem));
    bool any = false, silent = true;
    for (int i = 0; i < l->suspects->count && silent; i++) {
        if (l->dropped[i] || !l->explained[i])
            continue;
        l->suspects->predict(i, problem, &mistaken);
        any = true;
        silent = !tells_half(&mistaken, problem);
    }
    release(&mistaken);
    return any && silent;
}

int lineup_left(const struct lineup *l, const struct mistake **only) {
    int left = 0;
    *only = NULL;
    for (int i = 0; i < l->suspects->count; i++) {
        if (l->dropped[i] || !l->explained[i])
            continue;
        const struct mistake *mistake = l->suspects->mistake(i);
        bool known = false;
        for (int j = 0; j < i && !known; j++)
            known = !l->dropped[j] && l->explained[j] && l->suspects->mistake(j) == mistake;
        left += !known;
        *only = mistake;
    }
    return left;
}
