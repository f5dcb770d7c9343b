// Where on the way from the scores to the output a kernel goes wrong: the passes over a wrong case, and which case that
// is.
#include "host/parallel.h"
#include "operations/attention_conditions.h"
#include "operations/attention_operation.h"
#include "operations/diagnosis_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 4711 };

// How far the log-sum-exp is off, where the weights are right, and why. Whether it is.
static bool report_lse(const struct report *s) {
    double least = INFINITY, most = -INFINITY;
    bool masked = false, *off = host_zeros(s->x->rows, sizeof *off);
    for (int64_t r = 0; r < s->x->rows && s->x->lse; r++) {
        masked = masked || (!isfinite(s->x->right_lse[r]) && s->x->lse[r] != s->x->right_lse[r]);
        if (!isfinite(s->x->right_lse[r]))
            continue;
        off[r] = !(fabs(s->x->lse[r] - s->x->right_lse[r]) <= 1e-4);
        least = fmin(least, s->x->lse[r] - s->x->right_lse[r]);
        most = fmax(most, s->x->lse[r] - s->x->right_lse[r]);
    }
    const bool wrong = least <= most && !(fmax(most, -least) <= 1e-5);
    if (masked)
        report_line(s, "lse-of-masked-row", "The lse of rows that attend to no key is not -infinity");
    if (wrong)
        report_line(s, "lse-wrong", "Every key has the right weight, within %.2g, but lse is off by %.2g to %.2g",
                    s->x->tolerance, least, most);
    if (wrong && !diagnosis_by(&s->seen, explain_rounding, NULL, s->out) &&
        !diagnosis_by(&s->seen, explain_lse, NULL, s->out))
        report_queries(s, "lse-rows-wrong", "Rows with a wrong lse", off);
    free(off);
    return wrong || masked;
}

// Whether what is said explains the case.
static bool report_all(const struct report *s) {
    int64_t wrong = 0;
    const int64_t missing = report_missing_rows(s);
    for (int64_t r = 0; r < s->x->rows; r++)
        wrong += s->seen.wrong[r];
    if (!s->x->repeats) {
        report_line(s, "not-reproducible",
                    "A second call with the same inputs gives different results: the kernel reads data that this call "
                    "has not written, that earlier calls left behind, or that depends on the order of blocks");
        return true;
    }
    struct explanation best;
    if (missing < s->x->rows && diagnosis_by(&s->seen, explain_operands, &best, s->out)) {
        if (best.only_wrong_rows)
            report_places(s);
        return true;
    }
    report_places(s);
    if (missing)
        report_influence(s, false);
    if (!wrong && missing)
        return false;
    if (!wrong && s->x->weighs_as_shown) {
        if (!report_lse(s))
            report_line(s, "weights-right", "Every key has the right weight, within %g: the error is smaller",
                        s->x->tolerance);
        return true;
    }
    // What is off by so little is rounded, and columns by themselves, too.
    const bool is_sum = s->x->weighs_as_shown || s->x->off <= 0x1p-6;
    const bool explained = is_sum ? report_weights(s) : report_columns(s);
    if (!explained && !missing)
        report_influence(s, false);
    return explained;
}

// What is known after one case has been asked.
struct told {
    bool explained, all_missing;
};

static bool report_case(const struct diagnosed *kernel, const struct problem_case *which, FILE *out,
                        struct told *outcome) {
    struct observed x;
    struct report s = {.x = &x, .out = out};
    if (!attention_observe(kernel, which, SEED, ANY_COLUMN, &x))
        return false;
    case_seen_of(&x, &s.seen);
    *outcome = (struct told){report_all(&s), true};
    for (int64_t r = 0; r < x.rows; r++)
        outcome->all_missing = outcome->all_missing && x.missing[r];
    case_seen_free(&s.seen);
    attention_observed_free(&x);
    return true;
}

// Prints the explanations first, then what is certain of the case.
static void print_sorted(const char *lines, const struct diagnosed *kernel, const struct problem_case *which,
                         FILE *out) {
    char text[160];
    bool confirmed = false;
    case_text(kernel->operation, which, text, sizeof text);
    for (int pass = 0; pass < 2; pass++) {
        bool any = false;
        for (const char *line = lines; *line; line = strchr(line, '\n') + 1) {
            const int is_fact = strncmp(line, "diagnosis: ", 11) != 0;
            if (is_fact != pass)
                continue;
            if (!any && pass)
                fprintf(out, "\n%s%s SEED=%d:\n",
                        confirmed ? ""
                                  : "Nothing that was tried explains this case and another one. What is certain of ",
                        text, SEED);
            fprintf(out, "%s%.*s\n", any || pass ? "" : "\n", (int)strcspn(line, "\n"), line);
            any = true;
        }
        confirmed = any;
    }
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

bool diagnosis_of_case(const struct diagnosed *kernel, const struct problem_case *wrong, FILE *out) {
    enum { LENGTHS = 8, OF_CASE = 2 };
    struct told outcome = {0}, first = {0};
    struct problem_case of_best = *wrong;
    char *best = NULL;
    for (int i = 0; i < LENGTHS && !outcome.explained; i++) {
        struct problem_case which;
        char *text = NULL;
        size_t size = 0;
        // The first that could be asked is enough where it has lost nothing, but for the case itself, a long one, and
        // other diagonals.
        if ((best && !first.all_missing && !wrong->attention.causal && i >= OF_CASE && i < LENGTHS - 1) ||
            !other_length(wrong, i, &which) || (i != 1 && attention_case_result(kernel, &which, SEED) != CASE_WRONG))
            continue;
        FILE *lines = open_memstream(&text, &size);
        const bool asked = lines && report_case(kernel, &which, lines, &outcome);
        if (lines)
            fclose(lines);
        if (asked && (!best || outcome.explained)) {
            first = outcome;
            of_best = which;
            free(best);
            best = text;
        } else {
            free(text);
        }
    }
    if (best)
        print_sorted(best, kernel, &of_best, out);
    free(best);
    return first.explained;
}
