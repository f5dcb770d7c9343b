// What a kernel rounds to fewer bits than its type has.
#include "host/parallel.h"
#include "operations/attention_operation.h"
#include "operations/diagnosis.h"

#include <math.h>
#include <stdlib.h>

static double maybe(double x, bool is_rounded, const struct rounding *how) {
    int exponent;
    if (!is_rounded || x == 0 || !isfinite(x))
        return x;
    const double fraction = ldexp(frexp(x * how->times, &exponent), how->bits);
    return ldexp(how->cut ? trunc(fraction) : nearbyint(fraction), exponent - how->bits) / how->times;
}

static bool rounds_queries(const struct rounding *how) {
    return how->of == ROUNDS_QUERIES || how->of == ROUNDS_BOTH;
}

static bool rounds_keys(const struct rounding *how) {
    return how->of == ROUNDS_KEYS || how->of == ROUNDS_BOTH;
}

// The weights of a row with it, relative to the largest, as kernels have them that look for it first; returns their
// sum before they are rounded. *largest: the largest score.
static double weigh(const struct case_seen *s, int64_t r, const struct rounding *how, double *weight, double *largest) {
    const struct attention_shape *shape = &s->x->which.attention;
    const float *q = s->x->own_q + r * shape->head_dim;
    const int attended = shape_attended_keys(shape, (int)(r % s->nq));
    double maximum = -INFINITY, sum = 0;
    for (int j = 0; j < attended; j++) {
        double score = s->x->raw[r * s->nk + j] * (how->of == ROUNDS_NOTHING ? how->times : 1);
        if (rounds_queries(how) || rounds_keys(how)) {
            const float *k = host_row(&s->x->problem.tensor[K], shape_first_key(shape, r) + j);
            score = 0;
            for (int c = 0; c < shape->head_dim; c++)
                score += maybe(q[c], rounds_queries(how), how) * maybe(k[c], rounds_keys(how), how);
            score *= s->x->problem.softmax_scale;
        }
        weight[j] = maybe(score, how->of == ROUNDS_SCORES, how);
        maximum = fmax(maximum, weight[j]);
    }
    for (int j = 0; j < s->nk; j++) {
        const double right = j < attended ? exp(weight[j] - maximum) : 0;
        weight[j] = maybe(right, how->of == ROUNDS_WEIGHTS || how->of == ROUNDS_WEIGHTS_SUMMED, how);
        sum += how->of == ROUNDS_WEIGHTS_SUMMED ? weight[j] : right;
    }
    *largest = maximum;
    return sum;
}

// How far the kernel's weights, its lse, or for values its outputs, are from these, at most. 16-bit
// weights are rounded themselves, so lse alone tells there.
static double off_by(const struct case_seen *s, const struct rounding *how) {
    const int d = s->x->which.attention.head_dim;
    double worst = 0, *weight = host_allocate(s->nk, sizeof *weight);
    for (int64_t r = 0; r < s->rows; r++) {
        const int64_t values = shape_first_key(&s->x->which.attention, r);
        if (s->x->missing[r])
            continue;
        for (int c = 0; c < d && how->of == ROUNDS_VALUES; c++) {
            double sum = 0;
            for (int j = 0; j < s->nk; j++)
                sum += case_right(s, r)[j] * maybe(s->x->own_v[(values + j) * d + c], how->bits > 0, how);
            worst = fmax(worst, fabs(s->x->o[r * d + c] - sum) / s->x->size_o[r * d + c]);
        }
        double largest;
        const double sum = how->of == ROUNDS_VALUES ? 0 : weigh(s, r, how, weight, &largest);
        if (s->x->lse && sum > 0)
            worst = fmax(worst, fabs(s->x->lse[r] - largest - log(sum)));
        for (int j = 0; j < s->nk && sum > 0 && s->x->which.dtype == ATTENTION_FP32; j++)
            if (case_right(s, r)[j] > 1e-3 * s->x->largest[r])
                worst = fmax(worst, fabs(case_got(s, r)[j] * sum / weight[j] - 1));
    }
    free(weight);
    return worst;
}

static double off_without(const struct case_seen *s, enum rounded of) {
    return off_by(s, &(struct rounding){of == ROUNDS_VALUES ? of : ROUNDS_NOTHING, 0, false, 1, ""});
}

// Whether it explains a case eight times better than nothing, and that is off by no more than a rounding.
bool explanation_of_rounding_holds(struct explanation *one, const struct case_seen *s) {
    static const double least = 2e-5;
    const double off = off_without(s, one->rounding.of), most = one->rounding.of ? 0x1p-6 : 0x1p-3;
    one->rows = one->fitting = s->rows;
    return off > least && off <= most && off_by(s, &one->rounding) < off / 8;
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

void explain_rounding(const struct case_seen *s, struct explanations *all) {
    const double scale = s->x->problem.softmax_scale;
    const bool is_fp32 = s->x->which.dtype == ATTENTION_FP32;
    // Of numbers that are not as they were read: what has been multiplied into them before they are rounded.
    const struct rounding queries[] = {{.times = 1, .as = "unscaled"},
                                       {.times = scale, .as = "scaled"},
                                       {.times = M_LOG2E, .as = "times log2(e)"},
                                       {.times = scale * M_LOG2E, .as = "scaled and times log2(e)"}},
                          scores[] = {{.times = 1, .as = "scaled"},
                                      {.times = M_LOG2E, .as = "scaled and times log2(e)"},
                                      {.times = 1 / scale, .as = "before scaling"}},
                          others[] = {{.times = 1, .as = ""}};
    struct explanation one = {.kind = EXPLAINS_ROUNDING, .rounding = {.times = fitting_factor(s)}};
    if (!is_fp32 && !s->x->lse)
        return;
    explanations_try(all, one, s, 4);
    for (enum rounded of = ROUNDS_QUERIES; of <= (is_fp32 ? ROUNDS_VALUES : ROUNDS_SCORES); of++) {
        const struct rounding *forms = of == ROUNDS_QUERIES ? queries : of == ROUNDS_SCORES ? scores : others;
        const int count = of == ROUNDS_QUERIES ? 4 : of == ROUNDS_SCORES ? 3 : 1;
        for (int t = 0; t < 4 * count; t++) {
            one.rounding = forms[t / 4];
            one.rounding.of = of;
            one.rounding.bits = t % 4 < 2 ? 8 : 11;
            one.rounding.cut = t % 2;
            explanations_try(all, one, s, 6 + t / 4 + log2(off_by(s, &one.rounding) / 1e-6 + 1));
        }
    }
}

const char *explanation_of_rounding_print(const struct explanation *one, bool of_lse, FILE *out) {
    static const char *const name[] = {"",       "queries", "keys",    "queries and keys",
                                       "scores", "weights", "weights", "values"};
    static const char *const code[] = {"",       "queries", "keys",    "queries-and-keys",
                                       "scores", "weights", "weights", "values"};
    static char text[60];
    const struct rounding *how = &one->rounding;
    if (how->of == ROUNDS_NOTHING) {
        fprintf(out,
                "The weights result from scores that are %.6f times the right scores: a constant is slightly wrong",
                how->times);
        return "constant-slightly-wrong";
    }
    const bool scaled = *how->as && !one->ambiguous;
    fprintf(out, "%s a computation that %s the %s%s%s%s to %d bits (%s)",
            of_lse                     ? "lse matches"
            : how->of == ROUNDS_VALUES ? "The outputs match"
                                       : "The weights match",
            how->cut ? "truncates" : "rounds", name[how->of], scaled ? ", " : "", scaled ? how->as : "",
            scaled ? "," : "", how->bits, how->bits == 8 ? "as in bf16" : "as in fp16 and TF32");
    snprintf(text, sizeof text, "%s-%s", how->cut ? "truncated" : "rounded", code[how->of]);
    return text;
}
