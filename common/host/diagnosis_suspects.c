#include "host/diagnosis_suspects.h"

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

// Explains: every element is as predicted, and what is wrong about the output nearly all due to that. Says nothing: the
// suspect cannot tell half of the elements, and what it can tell is as predicted.
static enum hearing weigh(const struct prediction *p, const struct prediction *right, int64_t elements,
                          const float *got) {
    double left = 0, error = 0;
    int64_t told = 0, wrong = 0;
    for (int64_t i = 0; i < elements; i++) {
        if (isinf(p->bound[i]))
            continue;
        told++;
        if (is_poison(got[i])) {
            if (!p->unwritten_fits)
                return CONTRADICTS;
            wrong++;
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
        left += (got[i] - p->value[i]) * (got[i] - p->value[i]);
        if (isfinite(right->value[i]))
            error += (got[i] - right->value[i]) * (got[i] - right->value[i]);
    }
    if (2 * told < elements)
        return SAYS_NOTHING;
    return wrong || left < unexplained * unexplained * error ? EXPLAINS : CONTRADICTS;
}

// The two would be taken for the same output.
static bool same(const struct prediction *a, const struct prediction *b, int64_t elements) {
    for (int64_t i = 0; i < elements; i++) {
        double bound = a->bound[i] + b->bound[i];
        if (isinf(bound))
            continue;
        if (!isfinite(a->value[i]) || !isfinite(b->value[i])) {
            if (isfinite(a->value[i]) != isfinite(b->value[i]))
                return false;
        } else if (fabs(a->value[i] - b->value[i]) > bound) {
            return false;
        }
    }
    return a->unwritten_fits == b->unwritten_fits;
}

void suspects_hear(struct suspects *s, const void *problem, int64_t elements, bool finite, const float *got) {
    struct prediction right = allocate(elements), mistaken = allocate(elements);
    s->predict(NO_MISTAKE, problem, &right);
    for (int i = 0; i < s->count; i++) {
        if (s->dropped[i] || (!finite && !s->knows_nan(i)))
            continue;
        mistaken.unwritten_fits = false;
        s->predict(i, problem, &mistaken);
        if (!got) {
            mistaken.unwritten_fits = false; // what is never written may be written all the same
            s->dropped[i] = !same(&mistaken, &right, elements);
            continue;
        }
        enum hearing hearing = weigh(&mistaken, &right, elements, got);
        s->explained[i] += hearing == EXPLAINS;
        s->dropped[i] = hearing == CONTRADICTS;
    }
    release(&right);
    release(&mistaken);
}

bool suspects_silent(const struct suspects *s, const void *problem, int64_t elements) {
    struct prediction mistaken = allocate(elements);
    bool any = false, silent = true;
    for (int i = 0; i < s->count && silent; i++) {
        if (s->dropped[i] || !s->explained[i])
            continue;
        int64_t told = 0;
        s->predict(i, problem, &mistaken);
        for (int64_t e = 0; e < elements; e++)
            told += !isinf(mistaken.bound[e]);
        any = true;
        silent = 2 * told < elements;
    }
    release(&mistaken);
    return any && silent;
}

bool suspects_right(const struct suspects *s, const void *problem, int64_t elements, const float *got) {
    struct prediction right = allocate(elements);
    bool all = true;
    s->predict(NO_MISTAKE, problem, &right);
    for (int64_t i = 0; i < elements; i++)
        all = all && !is_poison(got[i]) && tolerance_holds(got[i], right.value[i], right.bound[i]);
    release(&right);
    return all;
}

int suspects_left(const struct suspects *s, const struct mistake **only) {
    int left = 0;
    *only = NULL;
    for (int i = 0; i < s->count; i++) {
        if (s->dropped[i] || !s->explained[i])
            continue;
        const struct mistake *mistake = s->mistake(i);
        bool known = false;
        for (int j = 0; j < i && !known; j++)
            known = !s->dropped[j] && s->explained[j] && s->mistake(j) == mistake;
        left += !known;
        *only = mistake;
    }
    return left;
}
