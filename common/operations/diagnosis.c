#include "operations/diagnosis.h"

#include "host/parallel.h"
#include "operations/attention_conditions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SEED = 4711, OTHER_SEED = 4712, TRIED = 6 };

// Another case that a true explanation predicts: other inputs, and another length where that is wrong, too.
bool attention_observe_again(const struct observed *x, int longer, struct observed *twin) {
    struct problem_case which = x->which;
    which.attention.nk += longer;
    which.attention.nq += which.attention.causal ? longer / 3 : 0;
    if (which.attention.nq < 1 || which.attention.nk < 1)
        return false;
    if (which.attention.layout == LAYOUT_STRIDES && longer)
        return false;
    return attention_work(&which.attention) <= ATTENTION_MOST_WORK &&
           attention_case_result(x->kernel, &which, OTHER_SEED) == CASE_WRONG &&
           attention_observe(x->kernel, &which, OTHER_SEED, x->column, twin);
}

static enum mask_seen see_mask(struct observed *x, struct case_seen *s) {
    s->attended = host_allocate(x->rows, sizeof *s->attended);
    const enum mask_seen seen = mask_see(x, s->attended);
    if (seen == MASK_UNKNOWN) {
        free(s->attended);
        s->attended = NULL;
    }
    return seen;
}

// Tables hold for their own length alone.
static bool needs_same_length(const struct explanations *all) {
    for (int i = 0; i < all->count; i++)
        if (all->list[i].gather == GATHER_TABLE ||
            (all->list[i].operand.change == OPERAND_TENSORS && all->list[i].operand.n == 1))
            return true;
    return false;
}

static bool is_equal(const struct explanations *all) {
    const struct explanation *one = &all->list[0];
    return one->kind == EXPLAINS_WEIGHTS && one->terms == 1 && one->column[0] == COLUMN_SCALE && one->a[0] == -1;
}

bool diagnosis_confirm(const struct observed *x, struct explanations *all) {
    enum { MOST_THREADS = 300 };
    const int nk = x->which.attention.nk;
    // Where each thread has one key, its maximum is that key's score, and all keys seem to be the same.
    const int longer[] = {is_equal(all) && nk < MOST_THREADS ? MOST_THREADS - nk : nk / 4 + 5, -(nk / 4), 0};
    for (size_t i = needs_same_length(all) ? 2 : 0; i < sizeof longer / sizeof *longer; i++) {
        struct observed twin;
        struct case_seen seen;
        if (!x->again(x, longer[i], &twin))
            continue;
        case_seen_of(&twin, &seen);
        if (all->list[0].kind == EXPLAINS_MASK)
            see_mask(&twin, &seen);
        for (int e = 0; e < all->count && e < TRIED; e++)
            if ((all->list[e].confirmed = explanation_holds(&all->list[e], &seen))) {
                const struct explanation best = all->list[e];
                *all = (struct explanations){{best}, 1};
                all->list[0].confirmed_keys = nk + longer[i];
                break;
            }
        const bool confirmed = all->count && all->list[0].confirmed;
        case_seen_free(&seen);
        attention_observed_free(&twin);
        return confirmed;
    }
    return false;
}

static bool print_confirmed(const struct observed *x, struct explanations *all, FILE *out) {
    if (!all->count || !diagnosis_confirm(x, all))
        return false;
    explanation_print(&all->list[0], x, out);
    return true;
}

// Of keys that have no weight whether the row sum counts them all the same.
static void print_sum_of_table(const struct case_seen *s, const struct key_table *table, FILE *out) {
    bool counts = true, omits = true;
    for (int64_t r = 0; r < s->rows; r++) {
        double total = 0, kept = 0;
        for (int j = 0; j < s->nk && s->wrong[r]; j++) {
            total += case_got(s, r)[j];
            kept += table->from[j] < 0 ? 0 : case_right(s, r)[table->from[j]];
        }
        counts = counts && fabs(total - kept) <= 8 * s->x->tolerance;
        omits = omits && (!s->wrong[r] || fabs(total - 1) <= 8 * s->x->tolerance);
    }
    if (counts && !omits)
        fputs("  The row sum counts these keys [skipped-keys-in-row-sum]\n", out);
    else if (omits && !counts)
        fputs("  The row sum does not count these keys, either [skipped-keys-not-in-row-sum]\n", out);
}

bool diagnosis_of_weights(const struct observed *x, bool *totals_explained, FILE *out) {
    struct key_table *table = host_allocate(1, sizeof *table);
    struct explanations all = {0};
    struct case_seen seen;
    case_seen_of(x, &seen);
    if (weights_are_proportional(&seen)) {
        explain_row_sums(&seen, EXPLAINS_DIVISOR, &all);
    } else {
        explain_gathers(&seen, table, &all);
        explain_factors(&seen, &all);
    }
    const bool printed = print_confirmed(x, &all, out);
    *totals_explained = printed && (all.list[0].kind == EXPLAINS_DIVISOR || all.list[0].gather == GATHER_TABLE);
    if (printed && all.list[0].gather == GATHER_TABLE)
        print_sum_of_table(&seen, table, out);
    case_seen_free(&seen);
    free(table);
    return printed;
}

bool diagnosis_of_operands(const struct observed *x, FILE *out) {
    float *times = host_allocate(MAX_HEAD_DIM, sizeof *times);
    struct explanations all = {0};
    struct case_seen seen;
    case_seen_of(x, &seen);
    explain_operands(&seen, times, &all);
    const bool printed = print_confirmed(x, &all, out);
    case_seen_free(&seen);
    free(times);
    return printed;
}

bool diagnosis_of_rounding(const struct observed *x, FILE *out) {
    struct explanations all = {0};
    struct case_seen seen;
    case_seen_of(x, &seen);
    explain_rounding(&seen, &all);
    const bool printed = print_confirmed(x, &all, out);
    case_seen_free(&seen);
    return printed;
}

bool diagnosis_of_lse(const struct observed *x, FILE *out) {
    struct explanations all = {0};
    struct case_seen seen;
    case_seen_of(x, &seen);
    explain_row_sums(&seen, EXPLAINS_LSE, &all);
    const bool printed = print_confirmed(x, &all, out);
    case_seen_free(&seen);
    return printed;
}

static void print_counts(const struct case_seen *s, enum mask_seen mask, FILE *out) {
    const struct attention_shape *shape = &s->x->which.attention;
    int64_t few = 0, many = 0, first = -1;
    for (int64_t r = 0; r < s->rows; r++) {
        const int own = shape_attended_keys(shape, (int)(r % s->nq));
        few += s->attended[r] < own;
        many += s->attended[r] > own;
        first = first < 0 && s->attended[r] != own ? r : first;
    }
    const int own = shape_attended_keys(shape, (int)(first % s->nq)), keys = s->attended[first];
    if (mask == MASK_OF_VALUES) {
        fprintf(
            out,
            "  For query %d the weighted sum has the values of only %d of %d keys instead of %d keys, but the row sum "
            "is right; at least %lld of %lld rows have too few values [values-missing-for-query]\n",
            (int)(first % s->nq), keys, s->nk, own, (long long)few, (long long)s->rows);
        return;
    }
    fprintf(out, "  Query %d attends to %d of %d keys instead of %d keys; %lld of %lld rows attend to too %s keys",
            (int)(first % s->nq), keys, s->nk, own, (long long)(few ? few : many), (long long)s->rows,
            few ? "few" : "many");
    if (few && many)
        fprintf(out, ", and %lld rows attend to too many keys", (long long)many);
    fputs(" [limit-wrong]\n", out);
}

bool diagnosis_of_mask(struct observed *x, bool *wrong, FILE *out) {
    struct explanations all = {0};
    struct case_seen seen;
    const struct attention_shape *shape = &x->which.attention;
    bool blind = true, explained = false; // rows that attend to nothing may be all that is wrong
    *wrong = false;
    if (!shape->causal)
        return false;
    case_seen_of(x, &seen);
    const enum mask_seen mask = see_mask(x, &seen);
    for (int64_t r = 0; r < x->rows && mask; r++) {
        const int own = shape_attended_keys(shape, (int)(r % shape->nq));
        *wrong = *wrong || seen.attended[r] != own;
        blind = blind && (seen.attended[r] == own || own == 0);
    }
    *wrong = *wrong && !blind;
    if (*wrong) {
        print_counts(&seen, mask, out);
        explain_mask(&seen, &all);
        explained = print_confirmed(x, &all, out);
    }
    case_seen_free(&seen);
    return explained;
}
