// A log-sum-exp that is off by as much as roundings are: of what.
#include "operations/attention_explain_weights.h"
#include "operations/attention_operation.h"

#include <math.h>

enum rounded { ROUNDED_QUERIES, ROUNDED_QUERIES_2, ROUNDED_SCORES, ROUNDED_SCORES_2, ROUNDED_KINDS };

static const char *const ROUNDED[ROUNDED_KINDS] = {"queries times the scale", "queries times the scale and log2(e)",
                                                   "scores", "scores times log2(e)"};

static double rounded_lse(const struct explainer *s, int64_t r, enum rounded kind) {
    const struct attention_shape *shape = &s->x.which.attention;
    const enum attention_dtype dtype = s->x.which.dtype;
    const double unit = kind == ROUNDED_QUERIES_2 || kind == ROUNDED_SCORES_2 ? M_LOG2E : 1;
    const double scale = s->x.problem.softmax_scale;
    const int64_t keys = shape_first_key(shape, r);
    const float *q = s->x.own_q + r * shape->head_dim;
    double sum = 0, maximum = score_maximum(s, r);
    for (int j = 0; j < shape_attended_keys(shape, (int)(r % shape->nq)); j++) {
        const float *k = host_row(&s->x.problem.tensor[K], keys + j);
        double score = 0;
        for (int c = 0; c < shape->head_dim && kind <= ROUNDED_QUERIES_2; c++)
            score += (double)dtype_round(dtype, (float)(q[c] * scale * unit)) * k[c];
        if (kind > ROUNDED_QUERIES_2)
            score = dtype_round(dtype, (float)(s->x.score[r * shape->nk + j] * unit));
        sum += exp(score / unit - maximum);
    }
    return maximum + log(sum);
}

// Whether lse is, in every row, what it is with such a rounding, and far nearer to that than to what it should be.
static bool is_rounded(const struct explainer *s, enum rounded kind) {
    double worst = 0, off = 0;
    for (int64_t r = 0; r < s->x.rows; r++) {
        if (!isfinite(s->x.right_lse[r]) || !isfinite(s->x.lse[r]))
            continue;
        worst = fmax(worst, fabs(s->x.lse[r] - rounded_lse(s, r, kind)));
        off = fmax(off, fabs(s->x.lse[r] - s->x.right_lse[r]));
    }
    return worst <= off / 8;
}

void explain_lse_rounding(const struct explainer *s) {
    const char *type = dtype_of(s->x.which.dtype)->name;
    for (enum rounded kind = 0; kind < ROUNDED_KINDS; kind++)
        if (is_rounded(s, kind)) {
            explain_line(s, "lse-of-rounded",
                         "Such an lse results from %s rounded to %s: lse must be computed from fp32 values",
                         ROUNDED[kind], type);
            return;
        }
    explain_line(s, "lse-rounded",
                 "The error has the size of some roundings to %s: lse must be computed from fp32 values", type);
}
