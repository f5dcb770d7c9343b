// How far the log-sum-exp is off, where the weights are right: what it is made of instead.
#include "host/parallel.h"
#include "operations/attention_explain_weights.h"

#include <math.h>
#include <stdlib.h>

enum { NONE = -1 };

// The largest score of the first `tile` keys, or of the last ones: one that is raised late.
static double maximum_of_tile(const struct explainer *s, int64_t r, int tile, bool last) {
    const int nk = s->x.which.attention.nk;
    const double *score = s->x.score + r * nk;
    double maximum = -INFINITY;
    for (int j = last ? (nk - 1) / tile * tile : 0; j < nk && (last || j < tile); j++)
        maximum = fmax(maximum, score[j]);
    return maximum;
}

// lse as a times such a maximum plus b times the logarithm of the sum relative to it, plus c: the best of all rows,
// which each of them must then fit.
static bool fits_lse(const struct explainer *s, int tile, bool last, double x[3]) {
    enum { TERMS = 3 };
    double a[TERMS][TERMS + 1] = {{0}};
    int64_t rows = 0;
    for (int64_t r = 0; r < s->x.rows; r++) {
        double maximum = maximum_of_tile(s, r, tile, last);
        const double term[] = {maximum, s->x.right_lse[r] - maximum, 1, s->x.lse[r]};
        if (!isfinite(s->x.right_lse[r]) || !isfinite(s->x.lse[r]) || !isfinite(maximum))
            continue;
        for (int i = 0; i < TERMS; i++)
            for (int j = 0; j <= TERMS; j++)
                a[i][j] += term[i] * term[j];
        rows++;
    }
    if (rows < 2 * TERMS)
        return false;
    for (int i = 0; i < TERMS; i++) { // the normal equations, which are positive definite where rows differ
        if (!(fabs(a[i][i]) > 1e-6))
            return false;
        for (int k = 0; k < TERMS; k++) {
            double f = a[k][i] / a[i][i];
            for (int j = 0; j <= TERMS && k != i; j++)
                a[k][j] -= f * a[i][j];
        }
    }
    for (int i = 0; i < TERMS; i++)
        x[i] = a[i][TERMS] / a[i][i];
    for (int64_t r = 0; r < s->x.rows; r++) {
        double maximum = maximum_of_tile(s, r, tile, last);
        if (isfinite(s->x.right_lse[r]) && isfinite(maximum) &&
            !(fabs(x[0] * maximum + x[1] * (s->x.right_lse[r] - maximum) + x[2] - s->x.lse[r]) < 2e-3))
            return false;
    }
    return fabs(x[0]) < 100 && fabs(x[1]) < 100;
}

static bool report_combination(const struct explainer *s) {
    const int nk = s->x.which.attention.nk, tiles[] = {nk, 128, 64, 32, 16};
    double x[3];
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++)
        for (int last = 0; last < 2; last++)
            // Factors of nearly 1 say no more than that it is nearly right.
            if (tiles[i] <= nk && fits_lse(s, tiles[i], last, x) &&
                (fabs(x[0] - 1) > 0.01 || fabs(x[1] - 1) > 0.01 || fabs(x[2]) > 0.01)) {
                char constant[64] = "";
                if (fabs(x[2]) > 0.01)
                    snprintf(constant, sizeof constant, " %s %.4g", x[2] < 0 ? "less" : "plus", fabs(x[2]));
                char maximum[60] = "row max";
                if (tiles[i] < nk)
                    snprintf(maximum, sizeof maximum, "largest score of the %s %d keys", last ? "last" : "first",
                             tiles[i]);
                explain_line(s, "lse-formula",
                             "lse is %.4g times the %s plus %.4g times the logarithm of the row sum%s%s", x[0], maximum,
                             x[1], tiles[i] < nk ? ", which is relative to this maximum" : "", constant);
                if (fabs(x[0] - 1) < 0.01 && fabs(x[1] - 1) < 0.01)
                    explain_line(s, "lse-sum-factor",
                                 "Such an lse results from a row sum that is %.4g times the right one", exp(x[2]));
                return true;
            }
    return false;
}

// Nearly every row that is off is so by as much as its maximum lies from that of another row: one of the two is taken
// for the other. Maxima that are raised late are those of a first or last tile.
static bool report_other_maximum(const struct explainer *s, const bool *off) {
    const int nk = s->x.which.attention.nk, nq = s->x.which.attention.nq, tiles[] = {nk, 128, 64, 32, 16};
    for (size_t i = 0; i < 2 * sizeof tiles / sizeof *tiles; i++) {
        const int tile = tiles[i / 2];
        int64_t first = NONE, actual = NONE, rows = 0, found = 0;
        for (int64_t r = 0; r < s->x.rows && tile <= nk; r++) {
            int64_t other = 0;
            double difference = s->x.lse[r] - s->x.right_lse[r] - maximum_of_tile(s, r, tile, i % 2);
            while (off[r] && other < s->x.rows &&
                   (other == r || !(fabs(difference + maximum_of_tile(s, other, tile, i % 2)) < 1e-3)))
                other++;
            rows += off[r];
            found += off[r] && other < s->x.rows;
            if (off[r] && other < s->x.rows && first == NONE) {
                first = r;
                actual = other;
            }
        }
        if (found > 1 && 5 * found >= 4 * rows) { // a row beyond the last one has no number
            explain_line(s, "lse-maximum-of-other-row",
                         "lse is off by the difference of two row maxima: for query %d of head %d the kernel has "
                         "subtracted the row max of query %d of head %d",
                         (int)(first % nq), (int)(first / nq), (int)(actual % nq), (int)(actual / nq));
            return true;
        }
    }
    return false;
}

bool explain_lse(struct explainer *s) {
    const double rounding = dtype_of(s->x.which.dtype)->unit_roundoff;
    const int nq = s->x.which.attention.nq;
    double least = INFINITY, most = -INFINITY;
    int64_t rows = 0, others = 0, off_rows = 0, first = NONE, actual = NONE;
    bool *off = host_allocate(s->x.rows, sizeof *off);
    for (int64_t r = 0; r < s->x.rows && s->x.lse; r++) {
        off[r] = isfinite(s->x.right_lse[r]) && !(fabs(s->x.lse[r] - s->x.right_lse[r]) <= 1e-4);
        if (!isfinite(s->x.right_lse[r]))
            continue;
        least = fmin(least, s->x.lse[r] - s->x.right_lse[r]);
        most = fmax(most, s->x.lse[r] - s->x.right_lse[r]);
        rows++;
        off_rows += off[r];
        for (int64_t o = 0; o < s->x.rows && off[r]; o++)
            if (o != r && fabs(s->x.lse[r] - s->x.right_lse[o]) < 1e-4) {
                actual = first == NONE ? o : actual;
                first = first == NONE ? r : first;
                others++;
                break;
            }
    }
    double largest = fmax(most, -least);
    bool wrong = rows && !(largest <= 1e-5);
    if (wrong)
        explain_line(s, "lse-wrong", "Every key has the right weight, within %.2g, but lse is off by %.2g to %.2g",
                     s->x.tolerance, least, most);
    if (wrong && s->x.which.dtype != ATTENTION_FP32 && rows > 4 && least < 0 && most > 0 && largest < 8 * rounding)
        explain_lse_rounding(s);
    else if (wrong && off_rows && others == off_rows)
        explain_line(s, "lse-of-other-row",
                     "lse is the lse of another row: query %d of head %d has the lse of query %d of head %d",
                     (int)(first % nq), (int)(first / nq), (int)(actual % nq), (int)(actual / nq));
    else if (wrong && !report_combination(s) && off_rows && !explain_lse_tiles(s) && !report_other_maximum(s, off)) {
        s->unexplained = true;
        explain_queries(s, "lse-rows-wrong", "Rows with a wrong lse", off);
    }
    free(off);
    return wrong;
}
