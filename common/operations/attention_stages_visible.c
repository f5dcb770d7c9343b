// Rows that see a number of keys from the first on which is not theirs, as the case's own weights show it.
#include "operations/attention_stages.h"

#include <math.h>
#include <stdlib.h>

enum { NONE = -1 };

// What the weights of row r before `end` come to, and what those come to that they should be.
static double total_before(const struct stages *s, int64_t r, int end, double *of_right) {
    double all = 0;
    *of_right = 0;
    for (int j = 0; j < end; j++) {
        all += got_of(s, r)[j];
        *of_right += right_of(s, r)[j];
    }
    return all;
}

// Whether the keys before `end` that row r sees are in the right proportion to each other.
static bool is_right_before(const struct stages *s, int64_t r, int end) {
    double of_right, all = total_before(s, r, end, &of_right);
    for (int j = 0; j < end; j++)
        if (!observed_near(&s->x, r, got_of(s, r)[j] * of_right, right_of(s, r)[j] * all))
            return false;
    return true;
}

bool stages_say_visible(const struct stages *s) {
    const struct attention_shape *shape = &s->x.which.attention;
    int64_t first = NONE, count = 0, wrong = 0;
    int seen_by_first = 0, difference = 0;
    int64_t in_sum = 0, left_out = 0; // rows whose sum has the weights of keys whose values it lacks, and the others
    bool same = true, alike = true;   // by how many keys, and whether too few or too many
    if (!shape->causal)
        return false;
    for (int64_t r = 0; r < s->x.rows; r++) {
        int seen = shape->nk, visible = shape_visible_keys(shape, (int)(r % shape->nq));
        wrong += s->wrong[r];
        while (seen > 0 && fabs(got_of(s, r)[seen - 1]) < 1e-7)
            seen--;
        double missing = 0; // a weight may be too small to be seen
        for (int j = seen; j < visible; j++)
            missing += right_of(s, r)[j];
        bool fewer = missing > 1e-4;
        if (!s->wrong[r] || !(fewer || seen > visible) || !is_right_before(s, r, seen < visible ? seen : visible))
            continue;
        if (!count++) {
            first = r;
            seen_by_first = seen;
            difference = seen - visible;
        }
        same = same && seen - visible == difference;
        alike = alike && (seen < visible) == (difference < 0);
        double of_right, all = total_before(s, r, seen, &of_right);
        if (fewer && missing > 8 * s->x.near)
            *(fabs(all - of_right) <= 2 * s->x.near ? &in_sum : &left_out) += 1;
    }
    if (!count || 5 * count < 4 * wrong)
        return false;
    int visible = shape_visible_keys(shape, (int)(first % shape->nq));
    bool sees_nothing = true;
    for (int64_t r = 0; r < s->x.rows; r++)
        for (int j = 0; j < shape->nk && s->wrong[r] && sees_nothing; j++)
            sees_nothing = !shape_visible_keys(shape, (int)(r % shape->nq)) &&
                           fabs(got_of(s, r)[j] * shape->nk - 1) <= 4 * s->x.near;
    if (in_sum && !left_out)
        stages_say(s,
                   "adds up the values of %d of %d keys for query %d, not of %d, and divides by the sum of all their "
                   "weights, as it should; at least %lld of %lld rows have too few values",
                   seen_by_first, shape->nk, (int)(first % shape->nq), visible, (long long)count, (long long)s->x.rows);
    else
        stages_say(s, "lets query %d see %d of %d keys, not %d; at least %lld of %lld rows see too %s",
                   (int)(first % shape->nq), seen_by_first, shape->nk, visible, (long long)count, (long long)s->x.rows,
                   !alike                    ? "few or too many"
                   : seen_by_first < visible ? "few"
                                             : "many");
    if (sees_nothing)
        stages_say(
            s,
            "what sees no key weighs all alike: hidden scores are a number there, not -infinity, or a number is left "
            "when they are subtracted");
    if (count > 1 && same)
        stages_say(s, "%d %s in each of them", abs(difference), difference < 0 ? "too few" : "too many");
    return true;
}
