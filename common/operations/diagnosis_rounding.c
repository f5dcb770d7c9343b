// What a kernel rounds to fewer bits than its type has: its weights, or its lse, beside those that such roundings make.
#include "host/parallel.h"
#include "operations/attention_operation.h"
#include "operations/diagnosis.h"

#include <math.h>
#include <stdlib.h>

enum { QUERIES = 1, KEYS = 2, SCORES = 4, WEIGHTS = 8 };

// times: how many times the right ones the numbers are that are rounded; powers of two change nothing.
struct rounding {
    int of, bits;
    double times;
    const char *as;
};

static double round_to(double x, int bits) {
    int exponent;
    if (x == 0 || !isfinite(x))
        return x;
    const double fraction = frexp(x, &exponent);
    return ldexp(nearbyint(ldexp(fraction, bits)), exponent - bits);
}

static double maybe(double x, int is_rounded, const struct rounding *how) {
    return is_rounded ? round_to(x * how->times, how->bits) / how->times : x;
}

// The weights of a row with it, relative to the largest, as kernels have them that look for it first; returns their
// sum before they are rounded. factor: that of all scores.
static double weigh(const struct case_seen *s, int64_t r, const struct rounding *how, double factor, double *weight) {
    const struct attention_shape *shape = &s->x->which.attention;
    const float *q = s->x->own_q + r * shape->head_dim;
    const int attended = shape_attended_keys(shape, (int)(r % s->nq));
    double maximum = -INFINITY, sum = 0;
    for (int j = 0; j < attended; j++) {
        double score = s->x->raw[r * s->nk + j] * factor;
        if (how->of & (QUERIES | KEYS)) {
            const float *k = host_row(&s->x->problem.tensor[K], shape_first_key(shape, r) + j);
            score = 0;
            for (int c = 0; c < shape->head_dim; c++)
                score += maybe(q[c], how->of & QUERIES, how) * maybe(k[c], how->of & KEYS, how);
            score *= s->x->problem.softmax_scale;
        }
        weight[j] = maybe(score, how->of & SCORES, how);
        maximum = fmax(maximum, weight[j]);
    }
    for (int j = 0; j < attended; j++)
        sum += weight[j] = exp(weight[j] - maximum);
    for (int j = 0; j < s->nk; j++)
        weight[j] = j < attended ? maybe(weight[j], how->of & WEIGHTS, how) : 0;
    return sum;
}

// How far the kernel's weights are from these, at most.
static double weights_off(const struct case_seen *s, const struct rounding *how, double factor) {
    double worst = 0, *weight = host_allocate(s->nk, sizeof *weight);
    for (int64_t r = 0; r < s->rows; r++) {
        if (s->x->missing[r])
            continue;
        const double sum = weigh(s, r, how, factor, weight);
        for (int j = 0; j < s->nk; j++)
            if (case_right(s, r)[j] > 1e-3 * s->x->largest[r])
                worst = fmax(worst, fabs(case_got(s, r)[j] * sum / weight[j] - 1));
    }
    free(weight);
    return worst;
}

// By which factor on all scores the weights come out nearest to the kernel's.
static double fitting_factor(const struct case_seen *s) {
    double xy = 0, xx = 0;
    for (int64_t r = 0; r < s->rows; r++) {
        double mean_x = 0, mean_y = 0, weights = 0;
        for (int pass = 0; pass < 2; pass++)
            for (int j = 0; j < s->nk; j++) {
                const double w = case_right(s, r)[j], x = case_score(s, r)[j], y = s->off[r * s->nk + j];
                if (isnan(y))
                    continue;
                mean_x += pass ? 0 : w * x;
                mean_y += pass ? 0 : w * y;
                weights += pass ? 0 : w;
                xy += pass ? w * (x - mean_x / weights) * (y - mean_y / weights) : 0;
                xx += pass ? w * pow(x - mean_x / weights, 2) : 0;
            }
    }
    return xx > 0 ? 1 + xy / xx : 1;
}

// The rounding that explains the weights of a case eight times better than none, and four times better than a rounding
// of something else.
static bool find_rounding(const struct case_seen *s, double off, struct rounding *best, double *nearest) {
    static const int which[] = {QUERIES, KEYS, QUERIES | KEYS, SCORES, WEIGHTS};
    const double scale = s->x->problem.softmax_scale;
    const struct rounding forms[] = {{0, 0, 1, "unscaled"},
                                     {0, 0, scale, "scaled"},
                                     {0, 0, M_LOG2E, "times log2(e)"},
                                     {0, 0, scale * M_LOG2E, "scaled and times log2(e)"},
                                     {0, 0, 1 / scale, "before scaling"}};
    double next = INFINITY; // of something else
    *nearest = INFINITY;
    for (size_t i = 0; i < sizeof which / sizeof *which; i++)
        for (int bits = 8; bits <= 11; bits += 3)
            for (size_t t = 0; t < sizeof forms / sizeof *forms; t++) {
                struct rounding how = forms[t];
                // Only queries and scores are scaled before they are rounded, and scores alone are unscaled after.
                if (t && which[i] != SCORES && (which[i] != QUERIES || t == 4))
                    continue;
                how.of = which[i];
                how.bits = bits;
                const double far = weights_off(s, &how, 1);
                if (far < *nearest) {
                    next = best->of == which[i] ? next : *nearest;
                    *nearest = far;
                    *best = how;
                } else if (best->of != which[i]) {
                    next = fmin(next, far);
                }
            }
    return *nearest < off / 8 && *nearest < next / 4;
}

bool diagnosis_of_rounding(const struct observed *x, FILE *out) {
    static const double most = 0x1p-6, least = 2e-5;
    static const char *const name[] = {[QUERIES] = "queries",
                                       [KEYS] = "keys",
                                       [QUERIES | KEYS] = "queries-and-keys",
                                       [SCORES] = "scores",
                                       [WEIGHTS] = "weights"};
    struct case_seen seen;
    struct rounding best = {0}, none = {.times = 1};
    double nearest;
    case_seen_of(x, &seen);
    const double off = x->which.dtype == ATTENTION_FP32 ? weights_off(&seen, &none, 1) : 0;
    bool found = off > least && off <= most;
    if (found) {
        const double factor = fitting_factor(&seen);
        if (weights_off(&seen, &none, factor) < off / 8)
            fprintf(out,
                    "  The weights result from scores that are %.6f times the right scores: a constant is slightly "
                    "wrong [constant-slightly-wrong]\n",
                    factor);
        else if (find_rounding(&seen, off, &best, &nearest))
            fprintf(out,
                    "  The weights match a computation that rounds the %s to %d bits (%s; %s) within %.1g, and are off "
                    "from the right weights by up to %.2g [rounded-%s]\n",
                    best.of == (QUERIES | KEYS) ? "queries and keys" : name[best.of], best.bits,
                    best.bits == 8 ? "as in bf16" : "as in fp16 and TF32", best.as, nearest, off, name[best.of]);
        else
            found = false;
    }
    case_seen_free(&seen);
    return found;
}

// ---- The log-sum-exp of 16-bit tensors ------------------------------------------------------------------------------

static double rounded_lse(const struct observed *x, int64_t r, bool of_scores, double unit) {
    const struct attention_shape *shape = &x->which.attention;
    const double scale = x->problem.softmax_scale;
    const float *q = x->own_q + r * shape->head_dim;
    double sum = 0, maximum = -INFINITY;
    for (int j = 0; j < shape->nk; j++)
        maximum = fmax(maximum, x->score[r * shape->nk + j]);
    for (int j = 0; j < shape_attended_keys(shape, (int)(r % shape->nq)); j++) {
        const float *k = host_row(&x->problem.tensor[K], shape_first_key(shape, r) + j);
        double score = 0;
        for (int c = 0; c < shape->head_dim && !of_scores; c++)
            score += (double)dtype_round(x->which.dtype, (float)(q[c] * scale * unit)) * k[c];
        if (of_scores)
            score = dtype_round(x->which.dtype, (float)(x->score[r * shape->nk + j] * unit));
        sum += exp(score / unit - maximum);
    }
    return maximum + log(sum);
}

void diagnosis_of_lse_rounding(const struct observed *x, FILE *out) {
    static const char *const what[] = {"queries times the scale", "queries times the scale and log2(e)", "scores",
                                       "scores times log2(e)"};
    const char *type = dtype_of(x->which.dtype)->name;
    for (int kind = 0; kind < 4; kind++) {
        double worst = 0, off = 0;
        for (int64_t r = 0; r < x->rows; r++)
            if (isfinite(x->right_lse[r]) && isfinite(x->lse[r])) {
                worst = fmax(worst, fabs(x->lse[r] - rounded_lse(x, r, kind > 1, kind % 2 ? M_LOG2E : 1)));
                off = fmax(off, fabs(x->lse[r] - x->right_lse[r]));
            }
        if (worst <= off / 8) {
            fprintf(out,
                    "  Such an lse results from %s rounded to %s: lse must be computed from fp32 values "
                    "[lse-of-rounded]\n",
                    what[kind], type);
            return;
        }
    }
    fprintf(out,
            "  The error has the size of some roundings to %s: lse must be computed from fp32 values [lse-rounded]\n",
            type);
}
