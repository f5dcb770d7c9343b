// Where on the way from the scores to the output a kernel goes wrong: the passes over a wrong case, and which case that
// is.
#include "host/parallel.h"
#include "operations/attention_conditions.h"
#include "operations/attention_operation.h"
#include "operations/diagnosis_report.h"

#include <math.h>
#include <stdlib.h>

enum { SEED = 4711 };

// How far the log-sum-exp is off, where the weights are right, and why. Whether it is.
static bool report_lse(const struct report *s) {
    const double rounding = dtype_of(s->x->which.dtype)->unit_roundoff;
    double least = INFINITY, most = -INFINITY;
    int64_t rows = 0;
    bool *off = host_allocate(s->x->rows, sizeof *off);
    for (int64_t r = 0; r < s->x->rows && s->x->lse; r++) {
        off[r] = isfinite(s->x->right_lse[r]) && !(fabs(s->x->lse[r] - s->x->right_lse[r]) <= 1e-4);
        if (!isfinite(s->x->right_lse[r]))
            continue;
        least = fmin(least, s->x->lse[r] - s->x->right_lse[r]);
        most = fmax(most, s->x->lse[r] - s->x->right_lse[r]);
        rows++;
    }
    const double largest = fmax(most, -least);
    const bool wrong = rows && !(largest <= 1e-5);
    if (wrong)
        report_line(s, "lse-wrong", "Every key has the right weight, within %.2g, but lse is off by %.2g to %.2g",
                    s->x->tolerance, least, most);
    if (wrong && s->x->which.dtype != ATTENTION_FP32 && rows > 4 && least < 0 && most > 0 && largest < 8 * rounding)
        diagnosis_of_lse_rounding(s->x, s->out);
    else if (wrong && !diagnosis_of_lse(s->x, s->out))
        report_queries(s, "lse-rows-wrong", "Rows with a wrong lse", off);
    free(off);
    return wrong;
}

// Whether what is said explains the case.
static bool report_all(const struct report *s) {
    int64_t wrong = 0;
    const int64_t missing = report_missing_rows(s);
    for (int64_t r = 0; r < s->x->rows; r++)
        wrong += s->seen.wrong[r];
    const bool splits = report_empty_splits(s), alone = report_row_alone(s), foreign = report_other_head(s);
    if (!s->x->repeats) {
        report_line(s, "not-reproducible",
                    "A second call with the same inputs gives different results: the kernel reads data that this call "
                    "has not written, that earlier calls left behind, or that depends on the order of blocks");
        return true;
    }
    if (alone)
        report_influence(s);
    if ((!wrong && missing) || foreign)
        return splits || foreign;
    // What is off by so little is rounded, and columns by themselves, too.
    const bool is_sum = s->x->weighs_as_shown || s->x->off <= 0x1p-6;
    if (wrong && wrong + missing < s->x->rows)
        report_queries(s, "rows-wrong", "Wrong rows", s->seen.wrong);
    if (!wrong && !s->x->weighs_as_shown)
        report_line(s, "output-not-weighted-sum",
                    "Every key has the right weight in one column, but the output is not the sum of the values with "
                    "these weights: the output is off by up to %.2g of the magnitude of the values",
                    s->x->off);
    else if (!wrong && !report_lse(s))
        report_line(s, "weights-right",
                    "Every key has the right weight, within %g: the error is smaller, and comes from rounding an "
                    "intermediate result",
                    s->x->tolerance);
    const bool explained = !is_sum ? report_columns(s) : !wrong || report_weights(s);
    if (wrong && !explained && !alone)
        report_influence(s);
    return explained;
}

// What is known after one case has been asked.
struct told {
    bool explained, all_missing, not_finite;
};

static bool report_case(const struct diagnosed *kernel, const struct problem_case *which, FILE *out,
                        struct told *outcome) {
    struct observed x;
    struct report s = {.x = &x, .out = out};
    char text[160];
    if (!attention_observe(kernel, which, SEED, ANY_COLUMN, &x))
        return false;
    case_seen_of(&x, &s.seen);
    case_text(kernel->operation, which, text, sizeof text);
    fprintf(out, "\nWeights that the kernel gives each key (%s SEED=%d):\n", text, SEED);
    *outcome = (struct told){report_all(&s), true, false};
    for (int64_t r = 0; r < x.rows; r++) {
        outcome->all_missing = outcome->all_missing && x.missing[r];
        outcome->not_finite = outcome->not_finite || x.missing[r] == ROW_NOT_FINITE;
    }
    case_seen_free(&s.seen);
    attention_observed_free(&x);
    return true;
}

// Other lengths of a wrong case, at which more, or something simpler, may show: a tile of which the case has only a key
// or two tells less than a longer one; several tiles may hide what one shows; longer rows may have lost less; with a
// mask, nearly as many queries as keys show another diagonal.
static bool other_length(const struct problem_case *wrong, int number, struct problem_case *which) {
    enum { MOST_KEYS = 512, FEW_KEYS = 8 };
    static const int lengths[][2] = {{130, 300}, {33, 40}, {40, 33}, {0, 99}, {0, 150}, {0, 300}}; // nq, nk
    const int of_case = 2;
    *which = *wrong;
    if (number == 0)
        which->attention.nk *= 2;
    else if (number >= of_case) {
        const int *length = lengths[number - of_case];
        if (length[0] ? !wrong->attention.causal : length[1] <= wrong->attention.nk)
            return false;
        which->attention.nq = length[0] ? length[0] : which->attention.nq;
        which->attention.nk = length[1];
    }
    return number == 1 || (which->attention.layout != LAYOUT_STRIDES && which->attention.nk <= MOST_KEYS &&
                           (number || wrong->attention.nk > FEW_KEYS));
}

bool attention_explain_weights(const struct diagnosed *kernel, const struct problem_case *wrong, FILE *out) {
    enum { LENGTHS = 8, OF_CASE = 2 };
    struct told outcome = {0}, first = {0};
    char *best = NULL;
    for (int i = 0; i < LENGTHS && !outcome.explained; i++) {
        struct problem_case which;
        char *text = NULL;
        size_t size = 0;
        // The first that could be asked is enough where it has lost nothing, but for the case itself.
        if ((best && !first.all_missing && i >= OF_CASE) || !other_length(wrong, i, &which) ||
            (i != 1 && !attention_still_wrong(kernel, &which)))
            continue;
        FILE *lines = open_memstream(&text, &size);
        const bool asked = lines && report_case(kernel, &which, lines, &outcome);
        if (lines)
            fclose(lines);
        if (asked && (!best || outcome.explained)) {
            first = outcome;
            free(best);
            best = text;
        } else {
            free(text);
        }
    }
    fputs(best ? best : "", out);
    free(best);
    return first.explained && !first.not_finite;
}
