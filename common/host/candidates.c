#include "host/candidates.h"

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

// Multiplies rows of the prediction by the factor that fits them best, where they may have one.
static void shrink(struct prediction *p, const struct host_problem *problem, const float *got) {
    const struct host_tensor *first = problem_output(problem, 0);
    for (int64_t r = p->shrunk_from; r < first->rows; r++) {
        double product = 0, square = 0, *value = p->value + r * first->columns;
        for (int64_t c = 0; c < first->columns; c++) {
            product += got[r * first->columns + c] * value[c];
            square += value[c] * value[c];
        }
        double factor = square > 0 ? fmin(fmax(product / square, 0), 1) : 1; // NaN: 0, which does not fit either
        for (int64_t c = 0; c < first->columns; c++)
            value[c] *= factor;
    }
}

enum fit { CONTRADICTS, NOT_INFORMATIVE, EXPLAINS };

// Of the first output, which every mistake but those in an optional one has something to say of.
static bool predicts_half(const struct prediction *p, const struct host_problem *problem) {
    int64_t elements = problem_output(problem, 0)->rows * problem_output(problem, 0)->columns, predicted = 0;
    for (int64_t i = 0; i < elements; i++)
        predicted += !isinf(p->bound[i]);
    return 2 * predicted >= elements;
}

// The square of what lies between a result and what it should be, beyond one rounding of it: 16 bits of a large number
// say no more of a mistake than that.
static double beyond_rounding(double got, double expected, double unit_roundoff) {
    double difference = got - expected, rounding = unit_roundoff * expected;
    return fmax(difference * difference - rounding * rounding, 0);
}

// What was heard of one output.
struct fit_statistics {
    double left, error;         // sums of squares: not explained by the suspect, and of all that is not right
    int64_t unpredicted, wrong; // elements of which the suspect says nothing, and such that no rounding makes
    int64_t exactly_as_wrong;   // not finite or never written, as the suspect has it
};

// Adds element i to the account; false where it contradicts the suspect.
static bool compare_element(struct fit_statistics *a, const struct prediction *p, const struct prediction *right,
                            int64_t i, float got, double unit_roundoff) {
    a->unpredicted += isinf(p->bound[i]);
    if (isinf(p->bound[i]))
        return true;
    // A check allows for half of what a prediction does, at most.
    a->wrong += got != right->value[i] && !(fabs(got - right->value[i]) <= right->bound[i] / 2);
    if (is_poison(got)) {
        a->exactly_as_wrong++;
        return p->unwritten_fits;
    }
    if (isinf(right->value[i])) { // as exact as a number: a mistake is anything else
        a->exactly_as_wrong += got != right->value[i];
        return (p->value[i] == right->value[i]) == (got == right->value[i]);
    }
    if (!isfinite(p->value[i]) || !isfinite(got)) {
        a->exactly_as_wrong += isfinite(right->value[i]);
        return both_undefined(got, p->value[i], right->value[i]);
    }
    a->left += beyond_rounding(got, p->value[i], unit_roundoff);
    if (isfinite(right->value[i]))
        a->error += beyond_rounding(got, right->value[i], unit_roundoff);
    return fabs(got - p->value[i]) <= p->bound[i];
}

// Explains: every element is as predicted, and what is wrong about an output nearly all due to that. Says nothing: what
// the suspect can tell is as predicted, but it cannot tell half of the elements, or none that is wrong.
static enum fit assess_fit(const struct prediction *p, const struct prediction *right,
                           const struct host_problem *problem, const float *got) {
    struct fit_statistics of[MAX_TENSORS] = {0}, all = {0};
    int64_t i = 0;
    for (int output = 0; output < problem->outputs; output++) {
        const struct host_tensor *tensor = problem_output(problem, output);
        double u = dtype_of(tensor->dtype)->unit_roundoff;
        for (int64_t end = i + tensor->rows * tensor->columns; i < end; i++)
            if (!compare_element(&of[output], p, right, i, got[i], u))
                return CONTRADICTS;
        all.unpredicted += of[output].unpredicted;
        all.wrong += of[output].wrong;
        all.exactly_as_wrong += of[output].exactly_as_wrong;
    }
    // A right output contributes rounding errors only, which no mistake has to explain.
    for (int output = 0; output < problem->outputs; output++)
        if (of[output].wrong || !all.wrong) {
            all.left += of[output].left;
            all.error += of[output].error;
        }
    if (!predicts_half(p, problem) || (all.unpredicted && !all.wrong))
        return NOT_INFORMATIVE;
    return all.exactly_as_wrong || all.left < unexplained * unexplained * all.error ? EXPLAINS : CONTRADICTS;
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

void candidates_observe(struct candidates *l, const struct host_problem *problem, const float *got) {
    const struct mistake_models *s = l->mistake_models;
    int64_t elements = problem_output_elements(problem);
    if (!s->finite(problem))
        return;
    struct prediction right = allocate(elements), mistaken = allocate(elements);
    right.shrunk_from = INT64_MAX;
    s->predict(NO_MISTAKE, problem, &right);
    for (int i = 0; i < s->count; i++) {
        if (l->dropped[i])
            continue;
        mistaken.unwritten_fits = false;
        mistaken.shrunk_from = INT64_MAX;
        s->predict(i, problem, &mistaken);
        if (!got) {
            mistaken.unwritten_fits = false; // what is never written may be written all the same
            l->dropped[i] = !same(&mistaken, &right, elements);
            continue;
        }
        shrink(&mistaken, problem, got);
        enum fit fit = assess_fit(&mistaken, &right, problem, got);
        l->explained[i] += fit == EXPLAINS;
        l->dropped[i] = fit == CONTRADICTS;
    }
    release(&right);
    release(&mistaken);
}

bool candidates_cannot_predict(const struct candidates *l, const struct host_problem *problem) {
    struct prediction mistaken = allocate(problem_output_elements(problem));
    bool any = false, silent = true;
    for (int i = 0; i < l->mistake_models->count && silent; i++) {
        if (l->dropped[i] || !l->explained[i])
            continue;
        l->mistake_models->predict(i, problem, &mistaken);
        any = true;
        silent = !predicts_half(&mistaken, problem);
    }
    release(&mistaken);
    return any && silent;
}

int candidates_left(const struct candidates *l, const struct mistake **only) {
    int left = 0;
    *only = NULL;
    for (int i = 0; i < l->mistake_models->count; i++) {
        if (l->dropped[i] || !l->explained[i])
            continue;
        const struct mistake *mistake = l->mistake_models->mistake(i);
        bool known = false;
        for (int j = 0; j < i && !known; j++)
            known = !l->dropped[j] && l->explained[j] && l->mistake_models->mistake(j) == mistake;
        left += !known;
        *only = mistake;
    }
    return left;
}
