// Where on the way from the scores to the output a kernel goes wrong: the weights that it gives to the keys of a case
// beside the right ones. What is said holds for every row that is wrong, or says of which.
#include "operations/attention_stages.h"

#include "host/parallel.h"
#include "operations/attention_pattern.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 4711, NONE = -1 };

static bool rows_match(const struct stages *s, int64_t row, int64_t other) {
    for (int j = 0; j < s->x.which.attention.nk; j++)
        if (!observed_near(&s->x, row, got_of(s, row)[j], right_of(s, other)[j]))
            return false;
    return true;
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The factor that most of a row's larger weights share, the median of those that are not 0.
static double factor_of(const struct stages *s, int64_t row) {
    int nk = s->x.which.attention.nk, count = 0;
    double largest = 0, *ratio = host_allocate(nk, sizeof *ratio);
    for (int j = 0; j < nk; j++)
        largest = fmax(largest, right_of(s, row)[j]);
    for (int j = 0; j < nk; j++)
        if (right_of(s, row)[j] > largest / 64 && got_of(s, row)[j] != 0)
            ratio[count++] = got_of(s, row)[j] / right_of(s, row)[j];
    qsort(ratio, (size_t)count, sizeof *ratio, compare_doubles);
    double middle = count ? ratio[count / 2] : 0;
    free(ratio);
    return middle;
}

// Which queries are marked, where each head has the same ones and not all.
static void say_queries(const struct stages *s, const char *what, const bool *marked /* [rows] */) {
    const struct attention_shape *shape = &s->x.which.attention;
    int64_t heads = s->x.rows / shape->nq;
    bool *wrong = host_allocate(shape->nq, sizeof *wrong);
    int bad_heads = 0, first_bad = NONE;
    for (int64_t h = 0; h < heads; h++) {
        bool any = false;
        for (int i = 0; i < shape->nq; i++)
            any = any || marked[h * shape->nq + i];
        if (any && !bad_heads++)
            first_bad = (int)h;
    }
    int count = 0, first_row = first_bad * shape->nq;
    while (!marked[first_row])
        first_row++;
    for (int i = 0; i < shape->nq; i++)
        count += wrong[i] = marked[(int64_t)first_bad * shape->nq + i];
    for (int64_t r = 0; r < s->x.rows; r++) // only where the heads agree
        if (count && marked[r] && !wrong[r % shape->nq])
            count = 0;
    char text[200];
    if (count && count < shape->nq && pattern_ranges(wrong, shape->nq, "query", "queries", text, sizeof text))
        stages_say(s, "%s: %s of %d", what, text, shape->nq);
    else if (bad_heads == heads)
        stages_say(s, "%s: some rows, the first one is query %d of batch %d head %d", what, first_row % shape->nq,
                   first_bad / shape->heads, first_bad % shape->heads);
    if (bad_heads < heads)
        stages_say(s, "%s: %d of %d heads, the first one is batch %d head %d", what, bad_heads, (int)heads,
                   first_bad / shape->heads, first_bad % shape->heads);
    free(wrong);
}

// All weights of each wrong row are off by one factor: its divisor is.
static void say_divisor(const struct stages *s) {
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
        double f = s->factor[r], maximum = -INFINITY, sum = 0, other;
        least = fmin(least, f);
        most = fmax(most, f);
        for (int j = 0; j < nk; j++)
            maximum = fmax(maximum, s->x.score[r * nk + j]);
        for (int j = 0; j < nk; j++)
            sum += exp(s->x.score[r * nk + j] - maximum);
        other = sum / f;
        // Keys past the end count as if their score was 0.
        double keys = (other - sum) / exp(-maximum), near = 4 * s->x.near * other / exp(-maximum);
        if (isnan(extra))
            extra = nearbyint(keys);
        extra_fits = extra_fits && extra >= 1 && near < 0.4 && fabs(keys - extra) <= near;
        for (int j = 0; j < nk; j++)
            if (lacks[j] &&
                fabs(sum - exp(s->x.score[r * nk + j] - maximum) - other) > 4 * s->x.near * fmin(sum, other)) {
                lacks[j] = false;
                lacking--;
            }
    }
    if (most - least <= 2 * s->x.near * most)
        stages_say(s, "gives each key %.4g times its weight: the weights are right, what they are divided by is not",
                   most);
    else
        stages_say(
            s,
            "gives the keys of a row their weights in the right proportion, but divides them by another sum: rows "
            "are %.4g to %.4g times the right ones",
            least, most);
    if (extra_fits)
        stages_say(s, "the sum is larger by as much as %.0f more key%s with a score of 0 would make it", extra,
                   extra > 1 ? "s" : "");
    if (lacking == 1)
        for (int j = 0; j < nk; j++)
            if (lacks[j])
                stages_say(s, "the sum lacks the weight of key %d of %d", j, nk);
    free(lacks);
}

// Rows that see a number of keys from the first on which is not theirs.
static bool say_visible(const struct stages *s) {
    const struct attention_shape *shape = &s->x.which.attention;
    int64_t first = NONE, count = 0, wrong = 0;
    int seen_by_first = 0;
    for (int64_t r = 0; r < s->x.rows; r++) {
        int seen = shape->nk, visible = shape_visible_keys(shape, (int)(r % shape->nq));
        wrong += s->wrong[r];
        while (seen > 0 && fabs(got_of(s, r)[seen - 1]) < 1e-7)
            seen--;
        // A weight may be too small to be seen.
        bool fewer = seen < visible && right_of(s, r)[visible - 1] > 1e-3;
        if (!s->wrong[r] || !(fewer || seen > visible))
            continue;
        if (!count++) {
            first = r;
            seen_by_first = seen;
        }
    }
    if (!count || (!shape->causal && count < wrong))
        return false;
    int visible = shape_visible_keys(shape, (int)(first % shape->nq));
    stages_say(s, "lets query %d see %d of %d keys, not %d; in all %lld of %lld rows see too %s",
               (int)(first % shape->nq), seen_by_first, shape->nk, visible, (long long)count, (long long)s->x.rows,
               seen_by_first < visible ? "few" : "many");
    return true;
}

static void say_two_rows(const struct stages *s, const char *what, int64_t row, int64_t other) {
    const struct attention_shape *shape = &s->x.which.attention;
    int64_t head = row / shape->nq, other_head = other / shape->nq;
    stages_say(s, "%s batch %d head %d query %d those of batch %d head %d query %d", what, (int)(head / shape->heads),
               (int)(head % shape->heads), (int)(row % shape->nq), (int)(other_head / shape->heads),
               (int)(other_head % shape->heads), (int)(other % shape->nq));
}

// Every wrong row is another one.
static bool say_other_rows(const struct stages *s) {
    const struct attention_shape *shape = &s->x.which.attention;
    int64_t first = NONE, instead = NONE;
    if (shape->nk < 3)
        return false;
    for (int64_t r = 0; r < s->x.rows; r++) {
        if (!s->wrong[r])
            continue;
        int64_t other = 0;
        while (other < s->x.rows && !rows_match(s, r, other))
            other++;
        if (other == s->x.rows)
            return false;
        if (first == NONE) {
            first = r;
            instead = other;
        }
    }
    say_two_rows(s, "gives each wrong row the weights of another:", first, instead);
    return true;
}

// Every wrong row has the weights of another one beside its own, by some factor.
static bool say_added_rows(const struct stages *s) {
    int nk = s->x.which.attention.nk;
    int64_t first = NONE, added = NONE;
    for (int64_t r = 0; r < s->x.rows; r++) {
        int largest = 0;
        bool found = false;
        if (!s->wrong[r])
            continue;
        for (int j = 1; j < nk; j++)
            if (fabs(got_of(s, r)[j] - right_of(s, r)[j]) > fabs(got_of(s, r)[largest] - right_of(s, r)[largest]))
                largest = j;
        for (int64_t other = 0; other < s->x.rows && !found; other++) {
            double factor = (got_of(s, r)[largest] - right_of(s, r)[largest]) / right_of(s, other)[largest];
            found = other != r && isfinite(factor);
            for (int j = 0; j < nk && found; j++)
                found = observed_near(&s->x, r, got_of(s, r)[j], right_of(s, r)[j] + factor * right_of(s, other)[j]);
            if (found && first == NONE) {
                first = r;
                added = other;
            }
        }
        if (!found)
            return false;
    }
    say_two_rows(s, "adds to each wrong row the weights of another: to", first, added);
    return true;
}

// What the weights of a row add up to where nothing else is known of them.
static void say_total(const struct stages *s) {
    int nk = s->x.which.attention.nk;
    double least = INFINITY, most = -INFINITY;
    for (int64_t r = 0; r < s->x.rows; r++) {
        double total = 0;
        for (int j = 0; j < nk; j++)
            total += got_of(s, r)[j];
        least = s->wrong[r] ? fmin(least, total) : least;
        most = s->wrong[r] ? fmax(most, total) : most;
    }
    stages_say(s, "gives all keys weights that are in no proportion to the right ones");
    if (fabs(least - 1) < 4 * s->x.near && fabs(most - 1) < 4 * s->x.near)
        stages_say(s, "they add up to 1: they are divided by their own sum, and already the scores are wrong");
    else
        stages_say(s, "they add up to %.4g to %.4g, not to 1: the sum is of other weights than the output", least,
                   most);
}

// The logarithms of the weights of every row are the scores times one factor.
static bool say_scale(const struct stages *s) {
    int nk = s->x.which.attention.nk;
    double products = 0, squares = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t r = 0; r < s->x.rows; r++) {
            const double *got = got_of(s, r), *score = s->x.score + r * nk;
            for (int j = 1; j < nk; j++) {
                if (score[j] == -INFINITY || score[0] == -INFINITY)
                    continue;
                if (!(got[j] > 1e-6) || !(got[0] > 1e-6))
                    return false;
                double x = score[j] - score[0], y = log(got[j] / got[0]);
                if (pass && fabs(y - products / squares * x) > 4 * s->x.near)
                    return false;
                products += pass ? 0 : x * y;
                squares += pass ? 0 : x * x;
            }
        }
    if (!(squares > 0))
        return false;
    stages_say(s, "weighs as if all scores were %.4g times the right ones", products / squares);
    return true;
}

// How far lse is off: as a factor of the sum, since that is what its logarithm is of. False where it is right.
static bool say_lse(const struct stages *s) {
    const double rounding = dtype_of(s->x.which.dtype)->unit_roundoff;
    double least = INFINITY, most = -INFINITY;
    int64_t rows = 0;
    for (int64_t r = 0; r < s->x.rows && s->x.lse; r++)
        if (isfinite(s->x.right_lse[r])) {
            double off = s->x.lse[r] - s->x.right_lse[r];
            least = fmin(least, off);
            most = fmax(most, off);
            rows++;
        }
    double largest = fmax(most, -least);
    if (!rows || !(largest > 1e-5))
        return false;
    stages_say(s, "gives every key its right weight, and an lse that is off by %.2g to %.2g", least, most);
    if (s->x.which.dtype != ATTENTION_FP32 && rows > 4 && least < 0 && most > 0 && largest < 8 * rounding)
        stages_say(s, "that is some roundings to %s of the sum: lse wants it in fp32",
                   dtype_of(s->x.which.dtype)->name);
    return true;
}

// Rows that are not there, of which no weight is known. Returns how many.
static int64_t say_lost(struct stages *s, enum lost_row kind, const char *what) {
    int64_t lost = 0;
    for (int64_t r = 0; r < s->x.rows; r++)
        lost += s->wrong[r] = s->x.lost[r] == kind;
    if (lost == s->x.rows)
        stages_say(s, "%s: all rows", what);
    else if (lost)
        say_queries(s, what, s->wrong);
    return lost;
}

// Every wrong row is the mean of the values that it sees.
static bool say_equal(const struct stages *s) {
    const struct attention_shape *shape = &s->x.which.attention;
    for (int64_t r = 0; r < s->x.rows; r++) {
        int visible = shape_visible_keys(shape, (int)(r % shape->nq));
        for (int j = 0; j < visible && s->wrong[r]; j++)
            if (!observed_near(&s->x, r, got_of(s, r)[j], 1.0 / visible))
                return false;
    }
    stages_say(s, "gives all keys of these rows the same weight, as for a query that is 0");
    return true;
}

static void say_all(struct stages *s) {
    int nk = s->x.which.attention.nk, odd = 0;
    int64_t wrong = 0, lost = say_lost(s, ROW_UNWRITTEN, "never written") + say_lost(s, ROW_NO_NUMBERS, "no numbers") +
                              say_lost(s, ROW_ZERO, "0 throughout");
    for (int64_t r = 0; r < s->x.rows; r++) {
        s->factor[r] = factor_of(s, r);
        s->wrong[r] = !s->x.lost[r] && !rows_match(s, r, r);
        wrong += s->wrong[r];
        for (int j = 0; j < nk && s->wrong[r]; j++)
            s->odd[j] = s->odd[j] || !observed_near(&s->x, r, got_of(s, r)[j], s->factor[r] * right_of(s, r)[j]);
    }
    for (int j = 0; j < nk; j++)
        odd += s->odd[j];
    if (!wrong && lost)
        return;
    if (!wrong && !s->x.weighs_as_shown)
        stages_say(s, "gives every key its right weight; what is wrong are the values, or where the sums are stored");
    else if (!wrong && !say_lse(s))
        stages_say(s, "gives every key its right weight, to %g: what is wrong is smaller, a rounding on the way",
                   s->x.near);
    if (!wrong)
        return;
    if (wrong + lost < s->x.rows)
        say_queries(s, "wrong", s->wrong);
    if (!s->x.weighs_as_shown && !say_added_rows(s))
        stages_say(s, "makes an output that is not its head's values by one weight for each key: columns have weights "
                      "of their own, or columns or heads are mixed up");
    else if (!s->x.weighs_as_shown)
        return;
    else if (say_visible(s))
        return;
    else if (!odd)
        say_divisor(s);
    else if (!say_equal(s) && !say_other_rows(s) && !say_scale(s) &&
             (stages_left_out(s) ||
              !(stages_say_moved(s) || stages_say_parts(s) || stages_say_threads(s) || stages_say_mixture(s)))) {
        if (odd < nk)
            stages_say_keys(s, odd);
        else if (!say_added_rows(s))
            say_total(s);
    }
}

// A tile of which the case has only a key or two tells less than a longer one: the same with twice as many keys, as
// long as it is wrong, too.
static void lengthen(const struct diagnosed *kernel, struct problem_case *which) {
    enum { MOST_KEYS = 512 };
    struct problem_case longer = *which;
    longer.attention.nk *= 2;
    if (which->attention.nk > 8 && longer.attention.nk <= MOST_KEYS && longer.attention.layout != LAYOUT_STRIDES &&
        attention_still_wrong(kernel, &longer))
        *which = longer;
}

void attention_stages(const struct diagnosed *kernel, const struct problem_case *wrong, FILE *out) {
    struct stages s = {.out = out};
    struct problem_case which = *wrong;
    char text[160];
    lengthen(kernel, &which);
    if (!attention_observe(kernel, &which, SEED, &s.x))
        return;
    s.wrong = host_allocate(s.x.rows, sizeof *s.wrong);
    s.factor = host_allocate(s.x.rows, sizeof *s.factor);
    s.odd = host_allocate(which.attention.nk, sizeof *s.odd);
    memset(s.odd, 0, (size_t)which.attention.nk);
    case_text(kernel->operation, &which, text, sizeof text);
    fprintf(out, "\nasked for the weight of each key of %s, the kernel\n", text);
    say_all(&s);
    free(s.wrong);
    free(s.factor);
    free(s.odd);
    attention_observed_free(&s.x);
}
