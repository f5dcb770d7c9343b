// Keys whose scores went to other rows of their head, while those of the other keys are right.
#include "host/parallel.h"
#include "operations/attention_conditions.h"
#include "operations/attention_explain_weights.h"

#include <math.h>
#include <stdlib.h>

enum { NONE = -1, LEAST_KEYS = 3 };

// Whether the keys of row r that are not in proportion have the scores of the other row.
static bool has_scores_of(const struct explainer *s, int64_t r, int64_t other) {
    const int nk = s->x.which.attention.nk;
    int reported = 0;
    for (int j = 0; j < nk; j++) {
        if (!s->mismatched[j] || !weight_is_significant(s, r, j))
            continue;
        const double actual = s->x.score[other * nk + j] - s->x.score[r * nk + j];
        if (!(fabs(log(got_of(s, r)[j] / (s->factor[r] * right_of(s, r)[j])) - actual) <= 16 * s->x.tolerance))
            return false;
        reported++;
    }
    return reported >= LEAST_KEYS;
}

// The one row of the same head whose scores they are. NONE: there is none, or several.
static int64_t row_of_scores(const struct explainer *s, int64_t r) {
    const int nq = s->x.which.attention.nq;
    int64_t found = NONE;
    for (int64_t other = r / nq * nq; other < (r / nq + 1) * nq; other++)
        if (has_scores_of(s, r, other)) {
            if (found != NONE)
                return NONE;
            found = other;
        }
    return found;
}

bool explain_scores(const struct explainer *s) {
    enum { MOST_REPORTED = 4 };
    const int nk = s->x.which.attention.nk, nq = s->x.which.attention.nq;
    char keys[200], rows[200];
    int length = 0, reported = 0;
    int64_t wrong = 0, found = 0;
    for (int64_t r = 0; r < s->x.rows; r++) {
        if (!s->wrong[r])
            continue;
        const int64_t other = row_of_scores(s, r);
        wrong++;
        found += other != NONE && other != r;
        if (other != NONE && other != r && reported++ < MOST_REPORTED)
            length += snprintf(rows + length, sizeof rows - (size_t)length, "%squery %d has the scores of query %d",
                               reported > 1 ? ", " : "", (int)(r % nq), (int)(other % nq));
    }
    if (!found || 5 * found < 4 * wrong || !pattern_ranges(s->mismatched, nk, "key", "keys", keys, sizeof keys))
        return false;
    explain_line(s, "scores-of-other-rows", "The scores of %s are the scores of other rows: %s", keys, rows);
    return true;
}
