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

// Tables hold for their own length alone.
static bool needs_same_length(const struct explanations *all) {
    for (int i = 0; i < all->count; i++)
        if (all->list[i].gather == GATHER_TABLE || all->list[i].operand.from ||
            (all->list[i].operand.change == OPERAND_TENSORS && all->list[i].operand.n == 1))
            return true;
    return false;
}

static bool is_equal(const struct explanations *all) {
    const struct explanation *one = &all->list[0];
    return one->kind == EXPLAINS_WEIGHTS && one->terms == 1 && one->column[0] == COLUMN_SCALE && one->a[0] == -1;
}

// Whether two explanations say the same but for their numbers.
static bool are_alike(const struct explanation *a, const struct explanation *b) {
    const struct rounding *x = &a->rounding, *y = &b->rounding;
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case EXPLAINS_OPERANDS:
        return a->operand.change == OPERAND_PANELS && b->operand.change == OPERAND_PANELS;
    case EXPLAINS_MASK:
        return a->mask.kind == b->mask.kind && a->mask.bound == b->mask.bound && a->mask.block > 1 && b->mask.block > 1;
    case EXPLAINS_ROUNDING:
        return x->of == y->of && x->bits == y->bits && x->cut == y->cut;
    default:
        return false;
    }
}

// Leaves the first explanation that predicts the case. Where one that is alike does so, too, its numbers are not said.
static void keep_confirmed(struct explanations *all, const struct case_seen *seen) {
    struct explanation best;
    bool found = false;
    for (int e = 0; e < all->count && (e < TRIED || found); e++) {
        struct explanation *one = &all->list[e];
        if ((found && (best.ambiguous || !are_alike(&best, one))) || !explanation_holds(one, seen))
            continue;
        if (!found)
            best = *one;
        best.ambiguous = found;
        found = true;
    }
    all->count = found;
    if (found)
        all->list[0] = best;
}

bool diagnosis_confirm(const struct observed *x, struct explanations *all) {
    enum { MOST_THREADS = 300 };
    const int nk = x->which.attention.nk;
    // Where each thread has one key, its maximum is that key's score, and all keys seem to be the same.
    // A mask is the same for all inputs, so that only another length tells.
    const bool of_mask = all->list[0].kind == EXPLAINS_MASK;
    const int longer[] = {is_equal(all) && nk < MOST_THREADS ? MOST_THREADS - nk : nk / 4 + 5, -(nk / 4),
                          of_mask ? nk / 2 + 1 : 0};
    for (size_t i = needs_same_length(all) ? 2 : 0; i < sizeof longer / sizeof *longer; i++) {
        struct observed twin;
        struct case_seen seen;
        if (!x->again(x, longer[i], &twin))
            continue;
        case_seen_of(&twin, &seen);
        keep_confirmed(all, &seen);
        if (all->count)
            all->list[0].confirmed_keys = nk + longer[i];
        const bool confirmed = all->count;
        case_seen_free(&seen);
        attention_observed_free(&twin);
        return confirmed;
    }
    return false;
}

bool diagnosis_by(const struct case_seen *seen, explain_function *explain, struct explanation *best, FILE *out) {
    struct explanations all = {0};
    explain(seen, &all);
    if (!all.count || !diagnosis_confirm(seen->x, &all))
        return false;
    explanation_print(&all.list[0], seen->x, out);
    if (best)
        *best = all.list[0];
    return true;
}

void explain_weights(const struct case_seen *s, struct explanations *all) {
    if (weights_are_proportional(s)) {
        explain_divisor(s, all);
    } else {
        explain_gathers(s, all);
        explain_factors(s, all);
    }
}
