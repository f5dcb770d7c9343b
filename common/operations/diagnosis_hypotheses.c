#include "operations/diagnosis.h"

#include <math.h>
#include <string.h>

const struct hypothesis hypotheses[] = {
#define HYPOTHESIS(kind, column, partitions, coefficient, code, words)                                                 \
    {kind, column, partitions, coefficient, code, words},
#include "operations/diagnosis_hypotheses.def"
#undef HYPOTHESIS
};

const int hypothesis_count = sizeof hypotheses / sizeof *hypotheses;

enum partition_class partition_class(const struct partition *p) {
    switch (p->kind) {
    case KEYS_TILE:
        return OWN_TILE;
    case KEYS_SPLIT:
        return OWN_SPLIT;
    case KEYS_MODULO:
        return THREADS;
    case TILES_MODULO:
        return p->tile < 16 ? LANES : WARPS;
    case QUAD_LANES:
        return QUADS;
    case QUAD_PAIRS:
    case QUAD_HALVES:
        return HALF_QUADS;
    case TILE_MODULO:
        return GROUPS;
    default:
        return p->backwards ? LAST_TILE_FIRST : p->tile == 1 ? EACH_KEY : EACH_TILE;
    }
}

const struct hypothesis *hypothesis_of(enum explanation_kind kind, enum column_name column,
                                       const struct partition *partition, double coefficient) {
    static const double near = 5e-3;
    const unsigned bit = partition_class(partition);
    for (int i = 0; i < hypothesis_count; i++) {
        const struct hypothesis *h = &hypotheses[i];
        if (h->kind == kind && h->column == column && (h->partitions & bit) &&
            (isnan(h->coefficient) || fabs(coefficient - h->coefficient) <= near * (1 + fabs(h->coefficient))))
            return h;
    }
    return NULL;
}

double partition_cost(const struct partition *p) {
    static const double kind[PARTITION_KINDS] = {
        [KEYS_ALL] = 0,   [KEYS_TILE] = 2,  [KEYS_MODULO] = 2, [TILES_MODULO] = 5, [KEYS_SPLIT] = 5,
        [QUAD_LANES] = 4, [QUAD_PAIRS] = 5, [QUAD_HALVES] = 5, [TILE_MODULO] = 6};
    return kind[p->kind] + (p->tile > 1) + 1.5 * p->backwards + (p->tile & (p->tile - 1) ? 3 : 0);
}

void explanation_words(const struct explanation *one, int term, FILE *out) {
    char chain[200];
    partition_text(&one->by, chain, sizeof chain);
    for (const char *c = one->meaning[term]->words; *c; c++)
        if (!strncmp(c, "{chain}", 7)) {
            fputs(chain, out);
            c += 6;
        } else if (!strncmp(c, "{power}", 7)) {
            fprintf(out, "%.4g", 1 + one->a[term]);
            c += 6;
        } else {
            fputc(*c, out);
        }
}

// What was tried beside the case itself.
static void print_tried(const struct explanation *one, int nk, FILE *out) {
    if (one->fitting < one->rows)
        fprintf(out, " (in %lld of %lld rows)", (long long)one->fitting, (long long)one->rows);
    if (one->only_wrong_rows && one->kind == EXPLAINS_OPERANDS)
        fputs(" (in the wrong rows)", out);
    if (one->confirmed_keys != nk)
        fprintf(out, "; so it is with other inputs and nk = %d", one->confirmed_keys);
    else
        fprintf(out, "; so it is with other inputs");
}

// Scores that are scaled by another factor are so by the usual one where the case has one of its own.
static bool is_usual_scale(const struct explanation *one, const struct observed *x) {
    return one->terms && one->column[0] == COLUMN_SCALE && x->which.has_scale &&
           fabs((1 + one->a[0]) * x->problem.softmax_scale * sqrt(x->which.attention.head_dim) - 1) < 4 * x->tolerance;
}

static void begin(const struct observed *x, FILE *out) {
    fputs("diagnosis: ", out);
    if (x->column != ANY_COLUMN)
        fprintf(out, "In column %d of the output: ", x->column);
}

void explanation_print(const struct explanation *one, const struct observed *x, FILE *out) {
    const int nk = x->which.attention.nk;
    const char *code = NULL;
    begin(x, out);
    for (int i = 0; i < one->terms && one->kind == EXPLAINS_WEIGHTS; i++) {
        explanation_words(one, i, out);
        code = one->meaning[i]->code;
        if (i + 1 < one->terms) {
            fprintf(out, "; and [%s]\n", code);
            begin(x, out);
        }
    }
    if (one->kind == EXPLAINS_MASK)
        code = explanation_of_mask_print(one, &x->which.attention, out);
    else if (one->kind == EXPLAINS_OPERANDS)
        code = explanation_of_operands_print(one, x->which.attention.head_dim, out);
    else if (one->kind == EXPLAINS_ROUNDING)
        code = explanation_of_rounding_print(one, x->which.dtype != ATTENTION_FP32, out);
    else if (one->kind != EXPLAINS_WEIGHTS)
        code = explanation_of_sum_print(one, nk, out);
    else if (one->gather)
        code = explanation_of_gather_print(one, nk, out);
    if (is_usual_scale(one, x)) {
        fputs(": the kernel uses the scale 1 / sqrt(head_dim) instead of the requested one", out);
        code = "scale-ignored";
    }
    print_tried(one, nk, out);
    fprintf(out, " [%s]\n", code);
}

static void add(struct explanations *all, const struct explanation *one) {
    int at = all->count;
    while (at > 0 && all->list[at - 1].cost > one->cost)
        at--;
    if (at == MOST_EXPLANATIONS)
        return;
    const int moved = all->count < MOST_EXPLANATIONS ? all->count - at : MOST_EXPLANATIONS - 1 - at;
    memmove(all->list + at + 1, all->list + at, (size_t)moved * sizeof *all->list);
    all->list[at] = *one;
    all->count += all->count < MOST_EXPLANATIONS;
}

void explanations_try(struct explanations *all, struct explanation one, const struct case_seen *s, double cost) {
    one.cost = cost;
    if (!explanation_holds(&one, s))
        return;
    one.cost += 2 * log2(1 + (double)(one.rows - one.fitting));
    add(all, &one);
}
