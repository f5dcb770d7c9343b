// What the weights of a row are divided by, where that is not their sum.
#include "host/parallel.h"
#include "operations/attention_explain_weights.h"
#include "operations/attention_operation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NONE = -1 };

double score_maximum(const struct explainer *s, int64_t row) {
    int nk = s->x.which.attention.nk;
    double maximum = -INFINITY;
    for (int j = 0; j < nk; j++)
        maximum = fmax(maximum, s->x.score[row * nk + j]);
    return maximum;
}

// The sum of a row's weights, relative to its maximum.
static double sum_of(const struct explainer *s, int64_t row) {
    int nk = s->x.which.attention.nk;
    double maximum = score_maximum(s, row), sum = 0;
    for (int j = 0; j < nk; j++)
        sum += exp(s->x.score[row * nk + j] - maximum);
    return sum;
}

// ---- What a row is divided by ---------------------------------------------------------------------------------------

// How a sum is brought to larger maxima, as tiles of so many keys are added: from the first or from the last one on, in
// runs of so many keys that are summed up by themselves and put together rightly. A maximum is taken anew only where it
// has grown by more than lazy, and what is there is then rescaled by this power of the right factor.
struct growth {
    int tile, run;
    bool last_first;
    double lazy, power;
};

// The sum of keys first to end, relative to the last maximum taken.
static double sum_of_run(const struct growth *g, const double *score, int first, int end, double *maximum) {
    const int tiles = (end - first + g->tile - 1) / g->tile;
    double sum = 0;
    *maximum = -INFINITY;
    for (int i = 0; i < tiles; i++) {
        const int begin = first + (g->last_first ? tiles - 1 - i : i) * g->tile;
        const int until = begin + g->tile < end ? begin + g->tile : end;
        double own = -INFINITY;
        for (int j = begin; j < until; j++)
            own = fmax(own, score[j]);
        if (own > *maximum + g->lazy) {
            sum *= g->power == 0 || *maximum == -INFINITY ? 1 : exp((*maximum - own) * g->power);
            *maximum = own;
        }
        for (int j = begin; j<until && * maximum> - INFINITY; j++)
            sum += exp(score[j] - *maximum);
    }
    return sum;
}

// Relative to the row's maximum.
static double sum_as_it_grows(const struct explainer *s, int64_t r, const struct growth *g) {
    const int nk = s->x.which.attention.nk;
    double sum = 0, maximum;
    for (int first = 0; first < nk; first += g->run) {
        const double of_run =
            sum_of_run(g, s->x.score + r * nk, first, first + g->run < nk ? first + g->run : nk, &maximum);
        sum += maximum > -INFINITY ? of_run * exp(maximum - score_maximum(s, r)) : 0;
    }
    return sum;
}

static bool fits_growth(const struct explainer *s, const struct growth *g) {
    for (int64_t r = 0; r < s->x.rows; r++) {
        const double divisor = sum_of(s, r) / s->factor[r];
        if (s->wrong[r] && fabs(sum_as_it_grows(s, r, g) - divisor) > 4 * s->x.tolerance * divisor)
            return false;
    }
    return true;
}

// With which laziness it is so: from *least to *most. False: with none. Runs are tried without.
static bool find_lazy(const struct explainer *s, struct growth *g, double *least, double *most) {
    static const double step = 0.25, most_lazy = 12;
    *least = NAN;
    *most = 0;
    g->lazy = 0;
    if (fits_growth(s, g)) {
        *least = 0;
        return true;
    }
    for (g->lazy = step; g->lazy <= most_lazy && g->run >= s->x.which.attention.nk; g->lazy += step)
        if (fits_growth(s, g)) {
            *least = isnan(*least) ? g->lazy - step : *least;
            *most = g->lazy + step;
        }
    return !isnan(*least);
}

static void report_growth(const struct explainer *s, const struct growth *g, double least, double most) {
    char raised[120] = "", how[100] = "is not rescaled", keys[40] = "each key", runs[100] = "";
    if (most > 0)
        snprintf(raised, sizeof raised, ", which is updated only after growing by more than %.3g to %.3g", least, most);
    if (g->power != 0)
        snprintf(how, sizeof how, "is rescaled with the right factor to the power %.3g", g->power);
    if (g->tile > 1)
        snprintf(keys, sizeof keys, "every %d keys", g->tile);
    if (g->run < s->x.which.attention.nk)
        snprintf(runs, sizeof runs, ", within runs of %d keys; the combination of the runs is right", g->run);
    explain_line(s, g->power != 0 ? "row-sum-rescale-power" : "row-sum-not-rescaled",
                 "The row sum %s: the kernel adds the weights of %s relative to the running maximum at that key%s%s%s",
                 how, keys, g->last_first ? ", the last keys first" : "", raised, runs);
}

static bool report_not_rescaled(const struct explainer *s) {
    static const double powers[] = {0, -1, 0.5, 2, M_LN2, M_LOG2E};
    const int nk = s->x.which.attention.nk, runs[] = {nk, 16, 32, 64, 128};
    double least, most;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        for (size_t p = 0; p < sizeof powers / sizeof *powers; p++)
            for (int tile = 1; tile <= 128 && tile < runs[i] && runs[i] <= nk; tile *= tile == 1 ? 16 : 2)
                for (int last_first = 0; last_first < 2; last_first++) {
                    struct growth g = {tile, runs[i], last_first, 0, powers[p]};
                    if (find_lazy(s, &g, &least, &most)) {
                        report_growth(s, &g, least, most);
                        return true;
                    }
                }
    return false;
}

enum { ALL_PARTS = -1, MOST_PARTS_ADDED = 256 };

// The sum of a row of which parts, or one of them, are relative to the largest score of their own keys and added as
// they stand. A part has every `parts`th run of so many keys.
static double sum_of_parts(const struct explainer *s, int64_t r, int run, int parts, int one) {
    const int nk = s->x.which.attention.nk;
    const double *score = s->x.score + r * nk, row_maximum = score_maximum(s, r);
    double maximum[MOST_PARTS_ADDED], sum = 0;
    for (int i = 0; i < parts; i++)
        maximum[i] = one == ALL_PARTS || i == one ? -INFINITY : row_maximum;
    for (int j = 0; j < nk; j++) {
        const int i = j / run % parts;
        if (one == ALL_PARTS || i == one)
            maximum[i] = fmax(maximum[i], score[j]);
    }
    for (int j = 0; j < nk; j++)
        if (score[j] > -INFINITY)
            sum += exp(score[j] - maximum[j / run % parts]);
    return sum;
}

static bool fits_parts(const struct explainer *s, int run, int parts, int one) {
    for (int64_t r = 0; r < s->x.rows; r++) {
        const double divisor = sum_of(s, r) / s->factor[r];
        if (!s->x.missing[r] && fabs(sum_of_parts(s, r, run, parts, one) - divisor) > 4 * s->x.tolerance * divisor)
            return false;
    }
    return true;
}

static bool report_parts_added(const struct explainer *s) {
    const int nk = s->x.which.attention.nk;
    for (int run = 1; run <= 128; run *= run == 1 ? 16 : 2)
        for (int parts = 2; parts <= MOST_PARTS_ADDED && run * parts < 2 * nk; parts *= 2)
            for (int one = ALL_PARTS; one < parts && one < 16; one++) {
                if (run * (one + 1) >= nk || !fits_parts(s, run, parts, one))
                    continue;
                char keys[100];
                if (run == 1)
                    snprintf(keys, sizeof keys, one < 0 ? "keys j, j + %d, ..." : "keys j, j + %d, ... for j = %d",
                             parts, one);
                else if (run * parts >= nk && one < 0)
                    snprintf(keys, sizeof keys, "runs of %d keys", run);
                else
                    snprintf(keys, sizeof keys,
                             one < 0 ? "every %dth run of %d keys" : "every %dth run of %d keys, starting with run %d",
                             parts, run, one);
                if (one < 0)
                    explain_line(s, "partial-sums-not-rescaled",
                                 "The row sum adds the partial sums of %s without rescaling: each partial sum is "
                                 "relative to the maximum of its own keys",
                                 keys);
                else
                    explain_line(s, "one-partial-sum-not-rescaled",
                                 "The row sum adds the partial sum of %s without rescaling from the maximum of these "
                                 "keys; the other keys are right",
                                 keys);
                return true;
            }
    return false;
}

// A sum that is off to both sides, and by no more than roundings.
static bool report_sum_rounded(const struct explainer *s, double least, double most) {
    static const double bits8 = 0x1p-8;
    if (!(least < 1 && most > 1 && least > 1 - bits8 && most < 1 + bits8))
        return false;
    explain_line(s, "row-sum-rounded",
                 "The row sum is too large in some rows and too small in others, by at most %.2g, like a sum whose "
                 "additions are rounded to 8 or 11 bits",
                 fmax(1 - least, most - 1));
    return true;
}

// With a mask: the sum of the first keys, so many that some are hidden.
static double sum_with_masked(const struct explainer *s, int64_t r, int keys) {
    const struct attention_shape *shape = &s->x.which.attention;
    const float *q = s->x.own_q + r * shape->head_dim;
    const double maximum = score_maximum(s, r);
    const int64_t first = shape_first_key(shape, r);
    double sum = 0;
    for (int j = 0; j < keys; j++) {
        const float *k = host_row(&s->x.problem.tensor[K], first + j);
        double dot = 0;
        for (int c = 0; c < shape->head_dim; c++)
            dot += (double)q[c] * k[c];
        sum += exp(dot * s->x.problem.softmax_scale - maximum);
    }
    return sum;
}

static bool report_masked_counted(const struct explainer *s) {
    const struct attention_shape *shape = &s->x.which.attention;
    const int tiles[] = {shape->nk, 16, 32, 64, 128};
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles && shape->causal; i++) {
        bool all = true;
        for (int64_t r = 0; r < s->x.rows && all; r++) {
            int keys = (shape_attended_keys(shape, (int)(r % shape->nq)) + tiles[i] - 1) / tiles[i] * tiles[i];
            keys = keys < shape->nk ? keys : shape->nk;
            double divisor = sum_of(s, r) / s->factor[r];
            all = !s->wrong[r] || fabs(sum_with_masked(s, r, keys) - divisor) <= 4 * s->x.tolerance * divisor;
        }
        if (!all)
            continue;
        if (i)
            explain_line(s, "row-sum-counts-masked-keys-of-tile",
                         "The row sum counts masked keys, up to the end of their tile of %d keys", tiles[i]);
        else
            explain_line(s, "row-sum-counts-masked-keys", "The row sum counts all keys, including masked ones");
        return true;
    }
    return false;
}

// Every wrong row is divided by some power of its sum, or by that of another row.
static void report_which_divisor(const struct explainer *s) {
    int64_t first = NONE, actual = NONE;
    double power = NAN;
    bool one_power = true, other_rows = true;
    for (int64_t r = 0; r < s->x.rows; r++) {
        if (!s->wrong[r])
            continue;
        double sum = sum_of(s, r), divisor = sum / s->factor[r];
        double p = log(divisor) / log(sum);
        power = isnan(power) ? p : power;
        one_power = one_power && sum > 1.1 && fabs(p - power) * log(sum) < 4 * s->x.tolerance;
        int64_t other = 0;
        while (other < s->x.rows &&
               (other == r || fabs(sum_of(s, other) - divisor) > 4 * s->x.tolerance * fabs(divisor)))
            other++;
        other_rows = other_rows && other < s->x.rows;
        if (first == NONE && other < s->x.rows) {
            first = r;
            actual = other;
        }
    }
    const int nq = s->x.which.attention.nq;
    // A power next to 1 is a sum that is nearly the right one: another cause has to say by what it is not.
    const bool is_one = fabs(power - 1) < 0.05;
    if (one_power && !isnan(power) && !is_one)
        explain_line(s, "row-sum-power", "The divisor is the right row sum to the power %.3g", power);
    else if (other_rows && first != NONE)
        explain_line(s, "row-sum-of-other-row",
                     "The divisor is another row's sum: query %d is divided by the row sum of query %d",
                     (int)(first % nq), (int)(actual % nq));
}

void explain_divisor(const struct explainer *s) {
    const struct attention_shape *shape = &s->x.which.attention;
    int nk = shape->nk;
    double least = INFINITY, most = -INFINITY, extra = NAN;
    bool *lacks = host_allocate(nk, sizeof *lacks);
    int lacking = nk;
    bool extra_fits = true;
    memset(lacks, true, (size_t)nk);
    for (int64_t r = 0; r < s->x.rows; r++) {
        if (!s->wrong[r])
            continue;
        double f = s->factor[r], maximum = score_maximum(s, r), sum = sum_of(s, r), other = sum / f;
        least = fmin(least, f);
        most = fmax(most, f);
        // Keys past the end count as if their score was 0.
        double keys = (other - sum) / exp(-maximum), tolerance = 4 * s->x.tolerance * other / exp(-maximum);
        if (isnan(extra))
            extra = nearbyint(keys);
        extra_fits = extra_fits && extra >= 1 && tolerance < 0.4 && fabs(keys - extra) <= tolerance;
        for (int j = 0; j < nk; j++)
            if (lacks[j] &&
                fabs(sum - exp(s->x.score[r * nk + j] - maximum) - other) > 4 * s->x.tolerance * fmin(sum, other)) {
                lacks[j] = false;
                lacking--;
            }
    }
    bool same = most - least <= 2 * s->x.tolerance * most;
    if (most == 0)
        explain_line(s, "no-weights", "No key has any weight");
    else if (same)
        explain_line(s, "divisor-off-by-factor",
                     "The weights are %.4g times the right ones: the divisor is wrong by this factor", most);
    else
        explain_line(s, "divisor-wrong",
                     "The weights of a row are right up to one common factor, so the divisor is wrong: rows are %.4g "
                     "to %.4g times the right ones",
                     least, most);
    // A sum that is nearly the right one is not told from that, whatever else it may be; a rounding does as much.
    const bool is_significant = fmax(fabs(least - 1), fabs(most - 1)) > 8 * s->x.tolerance;
    if (extra_fits && is_significant)
        explain_line(s, "row-sum-counts-extra-keys",
                     "The row sum is too large, by the weight of %.0f more key%s with a score of 0", extra,
                     extra > 1 ? "s" : "");
    if (lacking == 1 && is_significant)
        for (int j = 0; j < nk; j++)
            if (lacks[j])
                explain_line(s, "row-sum-misses-key", "The row sum omits the weight of key %d (of %d)", j, nk);
    if (is_significant && !same && !extra_fits && lacking != 1 && !report_sum_rounded(s, least, most) &&
        !report_not_rescaled(s) && !report_parts_added(s) && !report_masked_counted(s))
        report_which_divisor(s);
    free(lacks);
}
