// Where on the way from the scores to the output a kernel goes wrong: the weights that it gives to the keys of a case
// beside the right ones. What is said holds for every row that is wrong, or says of which.
#include "operations/attention_explain_weights.h"

#include "clock.h"
#include "host/parallel.h"
#include "operations/attention_conditions.h"
#include "operations/attention_operation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 4711, NONE = -1 };

static bool rows_match(const struct explainer *s, int64_t row, int64_t other) {
    for (int j = 0; j < s->x.which.attention.nk; j++)
        if (!observed_matches(&s->x, row, got_of(s, row)[j], right_of(s, other)[j]))
            return false;
    return true;
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The factor that most of a row's larger weights share, the median of those that are not 0.
static double factor_of(const struct explainer *s, int64_t row) {
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

static bool is_mismatched(const struct explainer *s, int64_t r, int j) {
    return !observed_matches(&s->x, r, got_of(s, r)[j], s->factor[r] * right_of(s, r)[j]);
}

// The weights are off by no more than numbers of 16 bits are: they, or the scores, are rounded, which
// attention_small_probes() tells more of.
static bool report_rounded(const struct explainer *s) {
    static const double bits8 = 0x1p-8, bits11 = 0x1p-11, least = 0x1p-14;
    int nk = s->x.which.attention.nk;
    double worst = 0, of_small = 0; // weights; of the small ones no more is known than whether they are there
    for (int64_t r = 0; r < s->x.rows; r++)
        for (int j = 0; j < nk && s->wrong[r]; j++) {
            const double off = fabs(got_of(s, r)[j] / right_of(s, r)[j] - 1);
            if (right_of(s, r)[j] > 1e-3 * s->x.largest[r])
                worst = fmax(worst, off);
            else if (right_of(s, r)[j] > 1e-6 * s->x.largest[r])
                of_small = fmax(of_small, off);
        }
    if (s->x.which.dtype != ATTENTION_FP32 || !(worst > least && worst <= 2 * bits8) || of_small > 0.1)
        return false;
    explain_line(s, "weights-rounded",
                 "The weights are nearly right, off by at most %.2g: an intermediate result is rounded, %s", worst,
                 worst <= 2 * bits11 ? "as in TF32 or fp16" : "as in bf16");
    return true;
}

// What is left to say where nothing else is known of the weights.
static void report_total(struct explainer *s, bool keys_count_once) {
    if (report_rounded(s))
        return;
    s->unexplained = true;
    explain_line(s, "weights-wrong", "The weights are wrong, by more than one common factor");
    if (!explain_sums(s) && keys_count_once)
        explain_line(s, "scores-wrong",
                     "The weights of a row add up to 1, so the kernel divides by the sum of the wrong weights: the "
                     "scores or the exponential are wrong");
}

// Rows that are not there, of which no weight is known. Returns how many.
static int64_t report_missing(struct explainer *s, enum row_state kind, const char *code, const char *what) {
    int64_t missing = 0;
    for (int64_t r = 0; r < s->x.rows; r++)
        missing += s->wrong[r] = s->x.missing[r] == kind;
    if (missing == s->x.rows)
        explain_line(s, code, "%s: all rows", what);
    else if (missing)
        explain_queries(s, code, what, s->wrong);
    return missing;
}

// Rows of zeros have lost their keys, their weights, or what was made of both: which, their lse tells. Returns how
// many.
static int64_t report_zeros(struct explainer *s) {
    bool low = s->x.lse, good = s->x.lse, infinite = s->x.lse;
    int64_t missing = report_missing(s, ROW_ZERO, "rows-zero", "Output rows that are zero");
    for (int64_t r = 0; r < s->x.rows && s->x.lse; r++) {
        float lse = s->x.lse[r];
        if (s->x.missing[r] != ROW_ZERO)
            continue;
        low = low && lse == -INFINITY;
        good = good && fabs(lse - s->x.right_lse[r]) < 1e-2;
        infinite = infinite && !(lse < INFINITY);
    }
    if (missing && low)
        explain_line(
            s, "zero-rows-masked",
            "The lse of the zero rows is -infinity: all keys of a row are masked, or the sum of the weights is lost");
    else if (missing && good)
        explain_line(s, "zero-rows-lse-right",
                     "The lse of the zero rows is right, so the scores and row sums are right, too: the values, the "
                     "weights in P V, or the accumulator O are lost");
    else if (missing && infinite)
        explain_line(s, "zero-rows-sum-infinite",
                     "The lse of the zero rows is infinite or NaN, so the row sum is infinite or NaN, too: a finite "
                     "value divided by infinity is 0");
    return missing;
}

// Every wrong row is the mean of the values that it sees.
static bool report_equal(const struct explainer *s) {
    const struct attention_shape *shape = &s->x.which.attention;
    for (int64_t r = 0; r < s->x.rows; r++) {
        int attended = shape_attended_keys(shape, (int)(r % shape->nq));
        for (int j = 0; j < attended && s->wrong[r]; j++)
            if (!observed_matches(&s->x, r, got_of(s, r)[j], 1.0 / attended))
                return false;
    }
    explain_line(s, "equal-weights", "All keys of the wrong rows have the same weight, as if all scores were equal");
    return true;
}

// The weights where all scores are 0, since the queries are.
static void probe_equal_scores(struct explainer *s) {
    int64_t elements = s->x.rows * s->x.which.attention.head_dim;
    float *q = host_zeros(elements, sizeof *q);
    s->equal = host_allocate(s->x.rows * s->x.which.attention.nk, sizeof *s->equal);
    if (!observed_weights(&s->x, q, s->equal)) {
        free(s->equal);
        s->equal = NULL;
    }
    free(q);
}

// Of weights that belong to the columns alike, and are neither too many nor too few keys'.
static void report_weights(struct explainer *s, int mismatched) {
    int nk = s->x.which.attention.nk;
    if (!mismatched) {
        explain_divisor(s);
        explain_extra_keys(s);
        return;
    }
    // A row that has lost a key may have the weights that another one should have: that says less.
    if (report_equal(s) || explain_rounding(s) || explain_dropped(s) ||
        (!mismatched_keys_have_no_weight(s) && explain_rows_of_others(s)) || explain_keys_of_others(s) ||
        explain_scale(s))
        return;
    bool uneven = explain_equal_scores(s);
    if (mismatched_keys_have_no_weight(s))
        explain_keys(s, mismatched);
    else if (explain_displaced(s) || explain_permuted(s) || explain_fragments(s) || explain_tiles(s) ||
             explain_threads(s) || explain_quads(s) || explain_key_groups(s) || explain_mixed_rows(s))
        return;
    else if (explain_exponential(s) || explain_bases(s))
        return;
    else if (mismatched < nk && explain_scores(s))
        return;
    else if (mismatched < nk)
        explain_keys(s, mismatched);
    else if (!explain_added_rows(s))
        report_total(s, s->equal && !uneven);
}

// Which keys are not in proportion in some wrong row. Returns how many.
static int mark_mismatched(struct explainer *s) {
    int nk = s->x.which.attention.nk, mismatched = 0;
    for (int j = 0; j < nk; j++) {
        s->mismatched[j] = false;
        for (int64_t r = 0; r < s->x.rows && !s->mismatched[j]; r++)
            s->mismatched[j] = s->wrong[r] && is_mismatched(s, r, j);
        mismatched += s->mismatched[j];
    }
    return mismatched;
}

// Marks the few wrong rows that are wrong in many more keys than the most of them: theirs is another effect of the same
// mistake, which would hide that of the others.
static bool find_few(const struct explainer *s, int64_t wrong, bool *few /* [rows] */) {
    int nk = s->x.which.attention.nk;
    int64_t *with = host_zeros(nk + 1, sizeof *with), marked = 0, seen = 0; // [odd keys], rows
    int *count = host_allocate(s->x.rows, sizeof *count), middle = 0;
    for (int64_t r = 0; r < s->x.rows; r++) {
        count[r] = 0;
        for (int j = 0; j < nk && s->wrong[r]; j++)
            count[r] += is_mismatched(s, r, j);
        with[count[r]] += s->wrong[r];
    }
    while (2 * (seen += with[middle]) < wrong)
        middle++;
    for (int64_t r = 0; r < s->x.rows; r++) {
        few[r] = s->wrong[r] && count[r] > 2 * middle + 4;
        marked += few[r];
    }
    free(with);
    free(count);
    return marked > 0 && 5 * marked <= wrong;
}

static void report_rows(struct explainer *s) {
    if (!explain_limits(s) && !explain_attended(s))
        report_weights(s, mark_mismatched(s));
}

static void report_wrong_rows(struct explainer *s, int64_t wrong) {
    bool *few = host_allocate(s->x.rows, sizeof *few);
    if (find_few(s, wrong, few)) {
        for (int64_t r = 0; r < s->x.rows; r++)
            s->wrong[r] = s->wrong[r] && !few[r];
        explain_queries(s, "rows-excluded", "Rows with many more wrong weights than the other rows (excluded below)",
                        few);
    }
    report_rows(s);
    free(few);
}

// Which rows are not right by the weights that are known of them. Returns how many.
static int64_t mark_wrong(struct explainer *s) {
    int64_t wrong = 0;
    for (int64_t r = 0; r < s->x.rows; r++) {
        s->factor[r] = factor_of(s, r);
        s->wrong[r] = !s->x.missing[r] && !rows_match(s, r, r);
        wrong += s->wrong[r];
    }
    return wrong;
}

bool explain_column(const struct explainer *s, int column) {
    static const double most_seconds = 2;
    const int nk = s->x.which.attention.nk, d = s->x.which.attention.head_dim;
    const int64_t rows = s->x.problem.tensor[V].rows;
    if (nk * s->x.seconds > most_seconds * time_budget_factor())
        return false;
    struct explainer one = *s;
    one.unexplained = false;
    one.equal = NULL; // that is of other columns
    one.x.got = host_allocate(s->x.rows * nk, sizeof *one.x.got);
    one.wrong = host_allocate(s->x.rows, sizeof *one.wrong);
    one.factor = host_allocate(s->x.rows, sizeof *one.factor);
    one.mismatched = host_allocate(nk, sizeof *one.mismatched);
    float *v = host_allocate(rows * d, sizeof *v), *o = host_allocate(s->x.rows * d, sizeof *o);
    bool ran = true;
    for (int j = 0; j < nk && ran; j++) {
        for (int64_t e = 0; e < rows * d; e++)
            v[e] = e / d % nk == j;
        ran = observed_run(&one.x, NULL, v, o);
        for (int64_t r = 0; r < s->x.rows; r++)
            one.x.got[r * nk + j] = o[r * d + column];
    }
    char *text = NULL;
    size_t size = 0;
    one.out = open_memstream(&text, &size);
    if (one.out) {
        if (ran && mark_wrong(&one))
            report_rows(&one);
        fclose(one.out);
        if (size && !one.unexplained)
            fprintf(s->out, "  Weights in column %d: [one-column]\n%s", column, text);
        free(text);
    }
    free(v);
    free(o);
    free(one.x.got);
    free(one.wrong);
    free(one.factor);
    free(one.mismatched);
    return size && !one.unexplained;
}

static void report_all(struct explainer *s) {
    int64_t wrong,
        missing = report_missing(s, ROW_UNWRITTEN, "rows-unwritten",
                                 s->x.missing_in_part ? "Rows not written in some columns" : "Rows not written") +
                  report_missing(s, ROW_NOT_FINITE, "rows-not-finite",
                                 s->x.missing_in_part ? "Rows with NaN or infinity in some columns"
                                                      : "Rows with NaN or infinity") +
                  report_zeros(s);
    for (int64_t r = 0; r < s->x.rows; r++)
        s->not_finite = s->not_finite || s->x.missing[r] == ROW_NOT_FINITE;
    wrong = mark_wrong(s);
    const bool alone = explain_row_alone(s);
    const bool foreign = explain_other_head(s);
    if (!s->x.repeats) {
        explain_line(s, "not-reproducible",
                     "A second call with the same inputs gives different results: the kernel reads data that this call "
                     "has not written, that earlier calls left behind, or that depends on the order of blocks");
        return;
    }
    if (alone)
        explain_influence(s);
    if ((!wrong && missing) || foreign)
        return;
    if (!wrong && !s->x.weighs_as_shown)
        explain_line(s, "output-not-weighted-sum",
                     "Every key has the right weight in one column, but the output is not the sum of the values with "
                     "these weights: the output is off by up to %.2g of the magnitude of the values",
                     s->x.off);
    else if (!wrong && !explain_lse(s))
        explain_line(s, "weights-right",
                     "Every key has the right weight, within %g: the error is smaller, and comes from rounding an "
                     "intermediate result",
                     s->x.tolerance);
    if (wrong && wrong + missing < s->x.rows)
        explain_queries(s, "rows-wrong", "Wrong rows", s->wrong);
    // What is off by so little is rounded, and columns by themselves, too.
    const bool is_rounding = s->x.off <= 0x1p-6;
    if (!s->x.weighs_as_shown && !is_rounding && !(wrong && explain_added_rows(s)))
        explain_columns(s);
    else if (wrong && (s->x.weighs_as_shown || is_rounding))
        report_wrong_rows(s, wrong);
    if (wrong && s->unexplained && !alone)
        explain_influence(s);
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

// What is known after one case has been asked.
struct reported {
    bool unexplained; // it leaves open where it goes wrong
    bool located;     // it does not
    bool all_missing; // no row has numbers other than 0
};

// Says what there is to say of one case.
static bool report_case(const struct diagnosed *kernel, const struct problem_case *which, FILE *out,
                        struct reported *reported) {
    struct explainer s = {.out = out};
    char text[160];
    if (!attention_observe(kernel, which, SEED, &s.x))
        return false;
    s.wrong = host_allocate(s.x.rows, sizeof *s.wrong);
    s.factor = host_allocate(s.x.rows, sizeof *s.factor);
    s.mismatched = host_allocate(which->attention.nk, sizeof *s.mismatched);
    probe_equal_scores(&s);
    case_text(kernel->operation, which, text, sizeof text);
    fprintf(out, "\nWeights that the kernel gives each key (%s SEED=%d):\n", text, SEED);
    report_all(&s);
    bool all_missing = true;
    for (int64_t r = 0; r < s.x.rows; r++)
        all_missing = all_missing && s.x.missing[r];
    free(s.wrong);
    free(s.factor);
    free(s.mismatched);
    free(s.equal);
    attention_observed_free(&s.x);
    *reported = (struct reported){s.unexplained, !s.unexplained && !s.not_finite, all_missing};
    return true;
}

// A longer case that is wrong, too, of which the kernel has lost less; with a mask also one of nearly as many queries
// as keys, of which another diagonal leaves some.
static bool report_longer(const struct diagnosed *kernel, const struct problem_case *wrong, FILE *out,
                          struct reported *reported) {
    static const int lengths[][2] = {{33, 40}, {40, 33}, {0, 99}, {0, 115}, {0, 150}, {0, 200}, {0, 300}}; // nq, nk
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct problem_case longer = *wrong;
        char *text = NULL;
        size_t size = 0;
        longer.attention.nq = lengths[i][0] ? lengths[i][0] : longer.attention.nq;
        longer.attention.nk = lengths[i][1];
        if ((lengths[i][0] ? !wrong->attention.causal : longer.attention.nk <= wrong->attention.nk) ||
            !attention_still_wrong(kernel, &longer))
            continue;
        FILE *lines = open_memstream(&text, &size);
        if (!lines)
            return false;
        const bool explained = report_case(kernel, &longer, lines, reported) && !reported->all_missing;
        fclose(lines);
        if (explained)
            fputs(text, out);
        free(text);
        if (explained)
            return true;
    }
    return false;
}

bool attention_explain_weights(const struct diagnosed *kernel, const struct problem_case *wrong, FILE *out) {
    struct problem_case longer = *wrong;
    struct reported reported, other;
    lengthen(kernel, &longer);
    if (!report_case(kernel, &longer, out, &reported))
        return false;
    if (reported.all_missing && wrong->attention.layout != LAYOUT_STRIDES &&
        report_longer(kernel, &longer, out, &other))
        return other.located;
    // Several tiles may hide what one shows.
    if (reported.unexplained && longer.attention.nk != wrong->attention.nk) {
        char *text = NULL;
        size_t size = 0;
        FILE *shorter = open_memstream(&text, &size);
        if (!shorter)
            return false;
        const bool explained = report_case(kernel, wrong, shorter, &other);
        fclose(shorter);
        if (explained && !other.unexplained) {
            fputs(text, out);
            reported.located = other.located;
        }
        free(text);
    }
    return reported.located;
}
