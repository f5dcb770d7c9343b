// How many keys each query attends to under a causal mask, where all scores are the same, and by what rule.
#include "host/parallel.h"
#include "operations/diagnosis.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum mask_seen mask_see(struct observed *x, int *attended) {
    const int nk = x->which.attention.nk, nq = x->which.attention.nq;
    float *q = host_zeros(x->rows * x->which.attention.head_dim, sizeof *q);
    double *equal = host_allocate(x->rows * nk, sizeof *equal);
    bool of_weights = observed_weights(x, q, equal), of_values = of_weights;
    for (int64_t r = 0; r < x->rows && (of_weights || of_values); r++) {
        const double *weight = equal + r * nk;
        const int own = shape_attended_keys(&x->which.attention, (int)(r % nq));
        int keys = 0;
        while (keys < nk && weight[keys] > 0.5 / nk)
            keys++;
        for (int j = 0; j < nk; j++) {
            const double tolerance = 4 * x->tolerance / fmax(keys, 1);
            of_weights = of_weights && !x->missing[r] && fabs(weight[j] - (j < keys ? 1.0 / keys : 0)) <= tolerance;
            of_values = of_values && !x->missing[r] && fabs(weight[j] - (j < keys ? 1.0 / own : 0)) <= tolerance;
        }
        attended[r] = keys;
    }
    free(q);
    free(equal);
    return of_weights ? MASK_OF_WEIGHTS : of_values ? MASK_OF_VALUES : MASK_UNKNOWN;
}

static int clamp(int64_t keys, int nk) {
    return keys < 0 ? 0 : keys > nk ? nk : (int)keys;
}

// The right limit of a query of a case.
static int own_limit(const struct attention_shape *s, int64_t row) {
    return shape_attended_keys(s, (int)(row % s->nq));
}

// The causal limit of a query, also of one that the case does not have, or of a case without a mask.
static int limit_of(const struct attention_shape *s, int64_t query) {
    return clamp(query + 1 + s->nk - s->nq, s->nk);
}

static int rounded_up(int keys, int tile, int nk) {
    return clamp((int64_t)(keys + tile - 1) / tile * tile, nk);
}

// The limit that a rule gives to a row.
int mask_limit(const struct mask_rule *rule, const struct attention_shape *s, int64_t row) {
    const int64_t query = row % s->nq, head = row / s->nq;
    const int own = own_limit(s, row), group = s->heads / s->kv_heads;
    const int64_t block = query / rule->block * rule->block, end = block + rule->block - 1;
    int common = own;
    switch (rule->kind) {
    case MASK_OFF_BY:
        return own == 0 && rule->n > 0 && query + 1 + s->nk - s->nq + rule->n <= 0
                   ? 0
                   : clamp(query + 1 + s->nk - s->nq + rule->n, s->nk);
    case MASK_OF_NOTHING:
        return s->nk;
    case MASK_OF_PACKED_ROW:
        return limit_of(s, query * group + head % group);
    case MASK_OF_OTHER_QUERY:
        return limit_of(s, map_of(&rule->map, (int)query, s->nq));
    case MASK_AS_IF_SQUARE:
        common = rounded_up((int)(end + 1), rule->tile, s->nk);
        return rule->bound == AT_MOST && own < common ? own : common;
    case MASK_OF_FIRST:
        common = rounded_up(limit_of(s, block), rule->tile, s->nk);
        break;
    case MASK_OF_LAST:
        common = rounded_up(limit_of(s, end < s->nq ? end : s->nq - 1), rule->tile, s->nk);
        break;
    case MASK_DOWN_TO_TILE:
        return own / rule->tile * rule->tile;
    }
    return rule->bound == AT_MOST    ? (common < own ? common : own)
           : rule->bound == AT_LEAST ? (common > own ? common : own)
                                     : common;
}

// Whether all rows have the limit of the rule. A last tile that ends with the keys has a mask of its own in most
// kernels, so a row that may see all keys by the rule may have its own limit.
bool explanation_of_mask_holds(struct explanation *one, const struct case_seen *s) {
    const struct attention_shape *shape = &s->x->which.attention;
    int64_t wrong = 0, followers = 0; // rows that have the limit of another row of their block
    bool differ = shape->causal;      // limits that are all alike are no causal ones
    if (!s->mask)
        return false;
    one->fitting = one->rows = s->rows;
    for (int64_t r = 0; r < s->rows; r++) {
        const int keys = mask_limit(&one->mask, shape, r), own = own_limit(shape, r);
        const int place = (int)(r % shape->nq) % one->mask.block;
        const bool leads = one->mask.kind == MASK_OF_LAST ? place == one->mask.block - 1 : place == 0;
        wrong += s->attended[r] != own;
        differ = differ || s->attended[r] != s->attended[0];
        followers += !leads && s->attended[r] == keys && keys != own;
        if (s->attended[r] != keys && !(keys == shape->nk && s->attended[r] == own && one->mask.block > 1))
            return false;
    }
    return wrong > 0 && differ && (one->mask.block == 1 || followers > 1);
}

static void try(struct mask_rule rule, const struct case_seen *s, double cost, struct explanations *all) {
    struct explanation one = {.kind = EXPLAINS_MASK, .mask = rule};
    one.mask.block = rule.block ? rule.block : 1;
    one.mask.tile = rule.tile ? rule.tile : 1;
    explanations_try(all, one, s, cost);
}

static void try_blocks(const struct case_seen *s, struct explanations *all) {
    for (int tile = 1; tile <= 128; tile *= 2)
        for (int block = 1; block <= 256; block *= 2)
            for (enum mask_bound bound = EXACTLY; bound <= AT_LEAST; bound++)
                for (enum mask_kind_seen kind = MASK_AS_IF_SQUARE; kind <= MASK_OF_LAST; kind++)
                    try((struct mask_rule){.kind = kind, .block = block, .tile = tile, .bound = bound}, s,
                        6 + 2 * (tile > 1) + 2 * (block > 1) + 0.2 * log2(block) - 0.2 * log2(tile) + 2 * bound, all);
}

void explain_mask(const struct case_seen *s, struct explanations *all) {
    enum { MOST_OFF = 16 };
    struct index_map maps[MOST_MAPS];
    const int count = maps_of(s->nq, maps);
    if (!s->x->which.attention.causal)
        try((struct mask_rule){.kind = MASK_OFF_BY}, s, 2, all);
    for (int off = 1; off <= MOST_OFF; off++)
        for (int sign = -1; sign <= 1; sign += 2)
            try((struct mask_rule){.kind = MASK_OFF_BY, .n = sign * off}, s, 3 + log2(off), all);
    try((struct mask_rule){.kind = MASK_OF_NOTHING}, s, 2, all);
    try((struct mask_rule){.kind = MASK_OF_PACKED_ROW}, s, 5, all);
    for (int tile = 2; tile <= 128; tile *= 2)
        try((struct mask_rule){.kind = MASK_DOWN_TO_TILE, .tile = tile}, s, 6, all);
    try_blocks(s, all);
    for (int i = 0; i < count; i++)
        try((struct mask_rule){.kind = MASK_OF_OTHER_QUERY, .map = maps[i]}, s, 7 + map_cost(&maps[i]), all);
}

const char *explanation_of_mask_print(const struct explanation *one, const struct attention_shape *s, FILE *out) {
    static const char *const does[] = {"every query attends to as many keys as", "no query attends to more keys than",
                                       "no query attends to fewer keys than"};
    static const char *const codes[][2] = {{"limit-of-first", "limit-of-last"},
                                           {"limit-at-most-of-first", "limit-at-most-of-last"},
                                           {"limit-at-least-of-first", "limit-at-least-of-last"}};
    const struct mask_rule *rule = &one->mask;
    const int group = s->heads / s->kv_heads;
    char to[80] = "", of[60] = "", map[100];
    if (rule->tile > 1 && one->ambiguous)
        snprintf(to, sizeof to, ", rounded up to a tile");
    else if (rule->tile > 1)
        snprintf(to, sizeof to, ", rounded up to a multiple of %d", rule->tile);
    if (rule->block > 1 && one->ambiguous)
        snprintf(of, sizeof of, "in each block of queries, ");
    else if (rule->block > 1 && rule->block < s->nq)
        snprintf(of, sizeof of, "in each block of %d queries, ", rule->block);
    if (!s->causal)
        fputs("There is a causal mask, although the case is not causal: ", out);
    switch (rule->kind) {
    case MASK_OFF_BY:
        if (!rule->n) {
            fputs("each query attends to the keys up to its own", out);
            return "causal-without-request";
        }
        fprintf(out, "Each wrong row attends to %d key%s too %s", abs(rule->n), abs(rule->n) == 1 ? "" : "s",
                rule->n < 0 ? "few" : "many");
        return "limit-off-by";
    case MASK_OF_NOTHING:
        // A limit that is too late by more than the first query's keys that are masked looks the same.
        fprintf(
            out,
            "Every query attends to all keys: the causal mask is missing, or its limit is too late by %d keys or more",
            s->nq - 1 < s->nk ? s->nq - 1 : s->nk);
        return "limit-missing";
    case MASK_OF_PACKED_ROW:
        fprintf(out,
                "Causal limit: query i of head h has the limit of query %d i + h %% %d, which is the index of the row "
                "among the %d rows that share keys",
                group, group, group * s->nq);
        return "limit-of-packed-row";
    case MASK_OF_OTHER_QUERY:
        map_text(&rule->map, map, sizeof map);
        fprintf(out, "Causal limit: query i has the limit of query %s", map);
        return "limit-of-other-query";
    case MASK_DOWN_TO_TILE:
        fprintf(out,
                "Causal limit: each query attends to all keys up to the beginning of the tile of %d keys that contains "
                "the query's limit",
                rule->tile);
        return "limit-at-tile-start";
    case MASK_AS_IF_SQUARE:
        fprintf(out, "Causal limit: query i attends to %s", rule->bound == AT_MOST ? "no more than " : "");
        if (one->ambiguous)
            fputs("the end of its block of queries", out);
        else if (rule->block > 1)
            fprintf(out, "i / %d * %d + %d keys", rule->block, rule->block, rule->block);
        else
            fputs("i + 1 keys", out);
        fprintf(out, "%s, as if nk were equal to nq", to);
        return "limit-as-if-nk-were-nq";
    default:
        if (rule->block == 1) {
            fprintf(out,
                    "Causal limit: each query attends to all keys up to the end of the tile of %d keys that contains "
                    "the query's limit",
                    rule->tile);
            return "limit-at-tile-end";
        }
        fprintf(out, "Wrong causal limit: %s%s the causal limit of the %s query%s. Each row needs its own limit", of,
                does[rule->bound], rule->kind == MASK_OF_LAST ? "last" : "first", to);
        return codes[rule->bound][rule->kind == MASK_OF_LAST];
    }
}
