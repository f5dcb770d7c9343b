// What a kernel of fp32 rounds to fewer bits: its weights beside those that such roundings would make.
#include "host/parallel.h"
#include "operations/attention_explain_weights.h"
#include "operations/attention_operation.h"

#include <math.h>
#include <stdlib.h>

enum rounded { OF_QUERIES = 1, OF_KEYS = 2, OF_SCORES = 4, OF_WEIGHTS = 8 };

// How many times the right ones the numbers are that are rounded: powers of two change nothing.
struct rounding {
    enum rounded of;
    int bits;
    double times;
};

static double round_to(double x, int bits) {
    int exponent;
    if (x == 0 || !isfinite(x))
        return x;
    const double fraction = frexp(x, &exponent);
    return ldexp(nearbyint(ldexp(fraction, bits)), exponent - bits);
}

static double maybe(double x, bool is_rounded, const struct rounding *how) {
    return is_rounded ? round_to(x * how->times, how->bits) / how->times : x;
}

// The weights of a row with it. Weights are relative to the largest, as kernels have them that look for it first.
static void weigh(const struct explainer *s, int64_t r, const struct rounding *how, double *weight /* [nk] */) {
    const struct attention_shape *shape = &s->x.which.attention;
    const float *q = s->x.own_q + r * shape->head_dim;
    const int64_t first = shape_first_key(shape, r);
    const int attended = shape_attended_keys(shape, (int)(r % shape->nq));
    double maximum = -INFINITY, sum = 0;
    for (int j = 0; j < attended; j++) {
        const float *k = host_row(&s->x.problem.tensor[K], first + j);
        double dot = 0;
        for (int c = 0; c < shape->head_dim; c++)
            dot += maybe(q[c], how->of & OF_QUERIES, how) * maybe(k[c], how->of & OF_KEYS, how);
        weight[j] = maybe(dot * s->x.problem.softmax_scale, how->of & OF_SCORES, how);
        maximum = fmax(maximum, weight[j]);
    }
    for (int j = 0; j < attended; j++) {
        weight[j] = exp(weight[j] - maximum);
        sum += weight[j];
    }
    for (int j = 0; j < shape->nk; j++)
        weight[j] = j < attended ? maybe(weight[j], how->of & OF_WEIGHTS, how) / sum : 0;
}

// How far the kernel's weights are from these, at most; NULL: from the right ones.
static double off_by(const struct explainer *s, const struct rounding *how, double *weight /* [nk] */) {
    const int nk = s->x.which.attention.nk;
    double worst = 0;
    for (int64_t r = 0; r < s->x.rows; r++) {
        if (s->x.missing[r])
            continue;
        if (how)
            weigh(s, r, how, weight);
        for (int j = 0; j < nk; j++) {
            const double expected = how ? weight[j] : right_of(s, r)[j];
            if (right_of(s, r)[j] > 1e-3 * s->x.largest[r])
                worst = fmax(worst, fabs(got_of(s, r)[j] / expected - 1));
        }
    }
    return worst;
}

// By which factor on all scores the weights come out nearest to the kernel's.
static double fitting_factor(const struct explainer *s) {
    const int nk = s->x.which.attention.nk;
    double xy = 0, xx = 0;
    for (int64_t r = 0; r < s->x.rows; r++) {
        double mean_x = 0, mean_y = 0, weights = 0;
        for (int pass = 0; pass < 2; pass++)
            for (int j = 0; j < nk; j++) {
                const double w = right_of(s, r)[j];
                if (s->x.missing[r] || !(w > 1e-3 * s->x.largest[r]) || !(got_of(s, r)[j] > 0))
                    continue;
                const double x = s->x.score[r * nk + j], y = log(got_of(s, r)[j]);
                if (!pass) {
                    mean_x += w * x;
                    mean_y += w * y;
                    weights += w;
                } else {
                    xy += w * (x - mean_x / weights) * (y - mean_y / weights);
                    xx += w * pow(x - mean_x / weights, 2);
                }
            }
    }
    return xx > 0 ? xy / xx : 1;
}

// Scores that are all off by one factor next to 1, as of a constant that is mistyped.
static bool report_factor(const struct explainer *s, double off) {
    const double factor = fitting_factor(s);
    double worst = 0;
    const int nk = s->x.which.attention.nk;
    for (int64_t r = 0; r < s->x.rows; r++) {
        double sum = 0;
        for (int j = 0; j < nk; j++)
            sum += exp(factor * (s->x.score[r * nk + j] - score_maximum(s, r)));
        for (int j = 0; j < nk && !s->x.missing[r]; j++)
            if (right_of(s, r)[j] > 1e-3 * s->x.largest[r])
                worst = fmax(
                    worst,
                    fabs(got_of(s, r)[j] * sum / exp(factor * (s->x.score[r * nk + j] - score_maximum(s, r))) - 1));
    }
    if (!(worst < off / 8))
        return false;
    explain_line(s, "constant-slightly-wrong",
                 "The weights result from scores that are %.6f times the right scores: a constant is slightly wrong",
                 factor);
    return true;
}

static const char *name_of(enum rounded of) {
    return of == OF_QUERIES               ? "queries"
           : of == OF_KEYS                ? "keys"
           : of == (OF_QUERIES | OF_KEYS) ? "queries and keys"
           : of == OF_SCORES              ? "scores"
                                          : "weights";
}

bool explain_rounding(const struct explainer *s) {
    static const double most = 0x1p-6, least = 2e-5;
    static const enum rounded which[] = {OF_QUERIES, OF_KEYS, OF_QUERIES | OF_KEYS, OF_SCORES, OF_WEIGHTS};
    const double scale = s->x.problem.softmax_scale;
    const double times[] = {1, scale, M_LOG2E, scale * M_LOG2E, 1 / scale};
    static const char *const as[] = {"unscaled", "scaled", "times log2(e)", "scaled and times log2(e)",
                                     "before scaling"};
    double *weight = host_allocate(s->x.which.attention.nk, sizeof *weight);
    const double off = s->x.which.dtype == ATTENTION_FP32 ? off_by(s, NULL, weight) : 0;
    struct rounding best = {0};
    double nearest = INFINITY, next = INFINITY; // the next one of something else
    size_t best_times = 0;
    for (size_t i = 0; i < sizeof which / sizeof *which && off > least && off <= most; i++)
        for (int bits = 8; bits <= 11; bits += 3)
            for (size_t t = 0; t < sizeof times / sizeof *times; t++) {
                if ((which[i] != OF_QUERIES && which[i] != OF_SCORES && t) ||
                    (which[i] == OF_QUERIES && t == 4)) // dividing by the scale is a matter of scores
                    continue;
                const struct rounding how = {which[i], bits, times[t]};
                const double far = off_by(s, &how, weight);
                if (far < nearest) {
                    next = best.of == which[i] ? next : nearest;
                    nearest = far;
                    best = how;
                    best_times = t;
                } else if (best.of != which[i]) {
                    next = fmin(next, far);
                }
            }
    free(weight);
    if (off > least && off <= most && report_factor(s, off))
        return true;
    if (!(nearest < off / 8) || !(nearest < next / 4))
        return false;
    static const char *const code[] = {[OF_QUERIES] = "rounded-queries",
                                       [OF_KEYS] = "rounded-keys",
                                       [OF_QUERIES | OF_KEYS] = "rounded-queries-and-keys",
                                       [OF_SCORES] = "rounded-scores",
                                       [OF_WEIGHTS] = "rounded-weights"};
    explain_line(s, code[best.of],
                 "The weights match a computation that rounds the %s to %d bits (%s; %s) within %.1g, and are off from "
                 "the right weights by up to %.2g",
                 name_of(best.of), best.bits, best.bits == 8 ? "as in bf16" : "as in fp16 and TF32", as[best_times],
                 nearest, off);
    return true;
}
