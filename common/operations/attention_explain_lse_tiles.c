// A log-sum-exp that belongs to some of the keys, or to parts of them that are not put together as they should be.
#include "operations/attention_explain_weights.h"

#include "host/parallel.h"
#include "operations/attention_conditions.h"

#include <math.h>
#include <stdlib.h>

enum { NONE = -1 };

static bool is_compared(const struct explainer *s, int64_t r) {
    return isfinite(s->x.right_lse[r]) && isfinite(s->x.lse[r]);
}

static bool is_lse(const struct explainer *s, int64_t r, double value) {
    return fabs(s->x.lse[r] - value) <= 1e-3 + 1e-4 * fabs(value);
}

// ---- Parts of so many keys ------------------------------------------------------------------------------------------

enum assembly { SUMS_NOT_RESCALED, SUMS_RUNNING, LARGEST_PART, LAST_PART_RESCALED, ASSEMBLIES };

static const char *const CODE[ASSEMBLIES] = {"lse-partial-sums-not-rescaled", "lse-sum-not-rescaled",
                                             "lse-of-largest-tile", "lse-sum-of-last-maximum"};

static const char *const DESCRIPTION[ASSEMBLIES] = {
    "the partial sum of each tile is relative to the tile's own maximum, and the partial sums are added without "
    "rescaling to the row max",
    "the row sum is not rescaled when a later tile raises the running maximum",
    "lse is the largest lse of a tile, not the lse of all tiles",
    "the row sum is relative to the maximum of the last tile, but the row max is added to the logarithm of the sum",
};

static double assemble(const struct explainer *s, int64_t r, int part, enum assembly how) {
    const int nk = s->x.which.attention.nk;
    const double *score = s->x.score + r * nk, all = score_maximum(s, r);
    double sum = 0, so_far = -INFINITY, largest = -INFINITY, last = -INFINITY;
    for (int first = 0; first < nk; first += part) {
        double own = -INFINITY, of_part = 0;
        const int end = first + part < nk ? first + part : nk;
        for (int j = first; j < end; j++)
            own = fmax(own, score[j]);
        if (own == -INFINITY)
            continue;
        so_far = fmax(so_far, own);
        for (int j = first; j < end; j++)
            of_part += exp(score[j] - (how == SUMS_RUNNING ? so_far : own));
        sum += of_part;
        largest = fmax(largest, own + log(of_part));
        last = own;
    }
    switch (how) {
    case LARGEST_PART:
        return largest;
    case LAST_PART_RESCALED:
        return s->x.right_lse[r] - last + all;
    default:
        return all + log(sum);
    }
}

static bool is_assembled(const struct explainer *s, int part, enum assembly how) {
    int64_t rows = 0, differ = 0;
    for (int64_t r = 0; r < s->x.rows; r++) {
        if (!is_compared(s, r))
            continue;
        const double value = assemble(s, r, part, how);
        if (!is_lse(s, r, value))
            return false;
        rows++;
        differ += !is_lse(s, r, s->x.right_lse[r]);
    }
    return rows > 0 && differ > 0;
}

// Parts of a power of two keys, or that many equal ones.
static bool report_assembly(const struct explainer *s) {
    enum { LEAST = 8, MOST_PARTS = 8 };
    const int nk = s->x.which.attention.nk;
    for (enum assembly how = 0; how < ASSEMBLIES; how++)
        for (int part = nk - 1; part > 0; part--) {
            const bool is_even = (nk + part - 1) / part <= MOST_PARTS;
            if ((!is_even && (part < LEAST || (part & (part - 1)))) || !is_assembled(s, part, how))
                continue;
            explain_line(s, CODE[how], "lse is computed over tiles of %d keys: %s", part, DESCRIPTION[how]);
            return true;
        }
    return false;
}

// ---- Keys that are not in it ----------------------------------------------------------------------------------------

// Whether lse is, in all rows, that of the marked keys alone.
static bool is_of(const struct explainer *s, const bool *marked /* [nk] */) {
    const int nk = s->x.which.attention.nk;
    bool lacks_some = false;
    for (int64_t r = 0; r < s->x.rows; r++) {
        double sum = 0, maximum = score_maximum(s, r);
        if (!is_compared(s, r))
            continue;
        for (int j = 0; j < nk; j++)
            if (marked[j])
                sum += exp(s->x.score[r * nk + j] - maximum);
        if (!is_lse(s, r, maximum + log(sum)))
            return false;
        lacks_some = lacks_some || !is_lse(s, r, s->x.right_lse[r]);
    }
    return lacks_some;
}

static bool report_of(const struct explainer *s, const bool *marked) {
    const int nk = s->x.which.attention.nk;
    char text[200];
    if (!is_of(s, marked) || !pattern_ranges(marked, nk, "key", "keys", text, sizeof text))
        return false;
    explain_line(s, "lse-of-some-keys",
                 "lse counts only %s: the row sum of the output contains the other keys, but the sum in lse does not",
                 text);
    return true;
}

static bool report_some_keys(const struct explainer *s) {
    enum { MOST_KEYS = 160, MOST_STEP = 32 };
    const int nk = s->x.which.attention.nk;
    bool *marked = host_allocate(nk, sizeof *marked), found = false;
    for (int first = 0; first < nk && nk <= MOST_KEYS && !found; first++)
        for (int end = nk; end > first && !found; end--) {
            for (int j = 0; j < nk; j++)
                marked[j] = j >= first && j < end;
            found = end - first < nk && report_of(s, marked);
        }
    for (int step = 2; step <= MOST_STEP && step < nk && !found; step *= 2)
        for (int from = 0; from < step && !found; from++)
            for (int width = 1; width < step && from + width <= step && !found; width++) {
                for (int j = 0; j < nk; j++)
                    marked[j] = j % step >= from && j % step < from + width;
                found = report_of(s, marked);
            }
    free(marked);
    return found;
}

// ---- A maximum that was raised since --------------------------------------------------------------------------------

// Of row r: the key with the largest score up to it, so that lse has the sum relative to that one and the row's maximum
// beside it. NONE: there is none.
static int earlier_maximum(const struct explainer *s, int64_t r) {
    const int nk = s->x.which.attention.nk;
    const double *score = s->x.score + r * nk, all = score_maximum(s, r);
    double so_far = -INFINITY;
    for (int j = 0; j < nk && so_far < all; j++) {
        if (!(score[j] > so_far))
            continue;
        so_far = score[j];
        if (is_lse(s, r, s->x.right_lse[r] + all - so_far))
            return j;
    }
    return NONE;
}

static bool report_earlier_maximum(const struct explainer *s) {
    enum { LEAST = 3 };
    const int nk = s->x.which.attention.nk;
    int64_t off = 0, first = NONE;
    int key = NONE;
    for (int64_t r = 0; r < s->x.rows; r++) {
        if (!is_compared(s, r) || is_lse(s, r, s->x.right_lse[r]))
            continue;
        const int found = earlier_maximum(s, r);
        if (found == NONE)
            return false;
        key = off++ ? key : found;
        first = first == NONE ? r : first;
    }
    if (off < LEAST)
        return false;
    explain_line(s, "lse-sum-of-earlier-maximum",
                 "lse is too large by the difference between the row max and an earlier running maximum: the row sum "
                 "is relative to a running maximum that was not updated (in query %d the maximum up to key %d of %d), "
                 "but the row max is added to the logarithm of that sum",
                 (int)(first % s->x.which.attention.nq), key, nk);
    return true;
}

bool explain_lse_tiles(const struct explainer *s) {
    return report_assembly(s) || report_some_keys(s) || report_earlier_maximum(s);
}
