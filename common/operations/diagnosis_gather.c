// Weights of other rows, keys or values: an index map of the rows or keys of a head, or a table that is read off.
#include "host/parallel.h"
#include "operations/diagnosis.h"
#include "operations/diagnosis_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NONE = -1, FRAGMENT_BITS = 8, SIDE = 16 };

static double largest_score(const struct case_seen *s, int64_t row) {
    double top = -INFINITY;
    for (int j = 0; j < s->nk; j++)
        top = fmax(top, case_score(s, row)[j]);
    return top;
}

// The position of a weight in a tile of 16 queries and 16 keys, the bits of the key above those of the query.
static void move_in_fragment(const struct explanation *one, const struct case_seen *s, int64_t *row, int *key) {
    const int query = (int)(*row % s->nq), position = query % SIDE + *key % SIDE * SIDE;
    const int to = one->map.kind == MAP_XOR ? position ^ 1 << one->map.n : map_of(&one->map, position, SIDE * SIDE);
    const int other = query - query % SIDE + to % SIDE;
    *key = *key - *key % SIDE + to / SIDE;
    *row = other < s->nq && *key < s->nk ? *row - query + other : NONE;
}

// As an operand of P V, relative to the maximum of the row it comes from; or as a score (n[0]).
static double moved_weight(const struct explanation *one, const struct case_seen *s, int64_t row, int key, double top) {
    int64_t from = row;
    int from_key = key;
    move_in_fragment(one, s, &from, &from_key);
    if (from == NONE)
        from = row, from_key = key;
    return exp(case_score(s, from)[from_key] - (one->n[0] ? top : largest_score(s, from)));
}

// The weight of a block of rows that lies where that of a key would if the block were stored key by key; NAN: it is
// none of the case's.
static double transposed_weight(const struct explanation *one, const struct case_seen *s, int64_t row, int key) {
    const int query = (int)(row % s->nq), place = query % one->n[0] + key * one->n[0];
    const int other = query - query % one->n[0] + place / s->nk;
    const int64_t from = row - query + other;
    return other < s->nq ? exp(case_score(s, from)[place % s->nk] - largest_score(s, from)) : NAN;
}

void explanation_gathered(const struct explanation *one, const struct case_seen *s, int64_t row, double *weight) {
    const double *right = case_right(s, row);
    const int query = (int)(row % s->nq), other = one->gather == GATHER_ROWS ? map_of(&one->map, query, s->nq) : query;
    const int64_t from = row - query + other;
    const double top = largest_score(s, other == NONE ? row : from);
    memset(weight, 0, (size_t)s->nk * sizeof *weight);
    for (int j = 0; j < s->nk; j++)
        switch (one->gather) {
        case GATHER_ROWS:
            weight[j] =
                other == NONE || case_score(s, row)[j] == -INFINITY ? 0 : exp(s->x->raw[from * s->nk + j] - top);
            break;
        case GATHER_TRANSPOSED:
            weight[j] = transposed_weight(one, s, row, j);
            break;
        case GATHER_FRAGMENT:
            weight[j] = moved_weight(one, s, row, j, top);
            break;
        case GATHER_TABLE:
            weight[j] = one->table->from[j] == NONE ? 0 : one->table->times[j] * right[one->table->from[j]];
            break;
        case GATHER_NOT_OWN:
            weight[j] = j == row % s->nq + one->n[0] ? 0 : right[j];
            break;
        case GATHER_SCORES:
            weight[j] = case_score(s, row)[j] > -INFINITY ? case_score(s, row)[j] : 0;
            break;
        case GATHER_NEAR:
            weight[j] = top - case_score(s, row)[j] <= one->formula[0] ? right[j] : 0;
            break;
        default:
            weight[j] = right[j];
        }
}

static void try_rows(const struct case_seen *s, struct explanations *all) {
    struct index_map maps[MOST_MAPS];
    const int count = s->nq > 1 ? maps_of(s->nq, maps) : 0;
    for (int i = 0; i < count; i++)
        explanations_try(all, (struct explanation){.gather = GATHER_ROWS, .map = maps[i]}, s, 5 + map_cost(&maps[i]));
}

static void try_fragments(const struct case_seen *s, struct explanations *all) {
    for (int rows = 2; rows <= 16 && rows <= s->nq; rows *= 2)
        explanations_try(all, (struct explanation){.gather = GATHER_TRANSPOSED, .n = {rows}}, s, 8);
    for (int a = 0; a < FRAGMENT_BITS && s->nq > 1; a++)
        for (int b = a; b < FRAGMENT_BITS; b++)
            for (int of_scores = 0; of_scores < 2; of_scores++)
                explanations_try(all,
                                 (struct explanation){.gather = GATHER_FRAGMENT,
                                                      .map = {a == b ? MAP_XOR : MAP_BITS, a, b},
                                                      .n = {of_scores}},
                                 s, 12);
}

// ---- A table that is read off ---------------------------------------------------------------------------------------

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The factor that most keys of a row share.
static double usual_factor(const struct case_seen *s, int64_t r, double *room /* [nk] */) {
    int count = 0;
    for (int j = 0; j < s->nk; j++)
        if (!isnan(s->off[r * s->nk + j]))
            room[count++] = exp(s->off[r * s->nk + j]);
    qsort(room, (size_t)count, sizeof *room, compare_doubles);
    return count ? room[count / 2] : 0;
}

struct reading {
    const struct case_seen *s;
    int64_t row[24];
    double factor[24];
    int rows;
};

// Whether key j has in all rows the weight of key `from`, so many times.
static bool has_weight(const struct reading *x, int j, int from, double times) {
    for (int i = 0; i < x->rows; i++)
        if (!observed_matches(x->s->x, x->row[i], case_got(x->s, x->row[i])[j],
                              from == NONE ? 0 : times * x->factor[i] * case_right(x->s, x->row[i])[from]))
            return false;
    return true;
}

// How many times its right weight a key has, where its weight is largest.
static double times_of(const struct reading *x, int j) {
    double times = 0, largest = 0;
    for (int i = 0; i < x->rows; i++) {
        const double right = case_right(x->s, x->row[i])[j] / x->s->x->largest[x->row[i]];
        if (right > largest) {
            largest = right;
            times = case_got(x->s, x->row[i])[j] / x->factor[i] / case_right(x->s, x->row[i])[j];
        }
    }
    return times;
}

static bool read_key(const struct reading *x, int j, struct key_table *t) {
    t->from[j] = (int16_t)j;
    t->times[j] = 1;
    if (has_weight(x, j, j, 1))
        return true;
    const double times = times_of(x, j);
    if (has_weight(x, j, NONE, 0))
        t->from[j] = NONE;
    else if (has_weight(x, j, j, times))
        t->times[j] = (float)times;
    else {
        int from = 0;
        while (from < x->s->nk && !has_weight(x, j, from, 1))
            from++;
        t->from[j] = (int16_t)from;
        return from < x->s->nk;
    }
    return true;
}

// Whether each key has in all these rows the weight of one key, or none, and not each its own.
static bool read_keys(const struct reading *x, struct key_table *t) {
    int others = 0, known = 0;
    while (known < x->s->nk && read_key(x, known, t)) {
        others += t->from[known] != known || t->times[known] != 1;
        known++;
    }
    return known == x->s->nk && others;
}

static void read_table(const struct case_seen *s, struct explanations *all) {
    enum { FEW = 3, MANY = 8, MOST = 24 };
    struct key_table *t = s->table;
    struct reading x = {.s = s};
    double *room = host_allocate(s->nk, sizeof *room);
    for (int64_t r = 0; r < s->rows && x.rows < MOST; r++)
        if (s->wrong[r]) {
            x.row[x.rows] = r;
            x.factor[x.rows++] = usual_factor(s, r, room);
        }
    free(room);
    if (s->nk > (int)(sizeof t->from / sizeof *t->from) || s->nk <= FEW || x.rows < FEW)
        return;
    if (!read_keys(&x, t)) {
        // Where few keys have their own weight, the row sum may be right all the same.
        for (int i = 0; i < x.rows; i++)
            x.factor[i] = 1;
        if (!read_keys(&x, t))
            return;
    }
    bool *marked = host_allocate(s->nk, sizeof *marked);
    int ranges = 1;
    for (int j = 0; j < s->nk; j++) {
        marked[j] = t->from[j] == NONE;
        ranges += j && (t->from[j] == NONE
                            ? t->from[j - 1] != NONE
                            : t->from[j] != t->from[j - 1] + 1 || fabsf(t->times[j] - t->times[j - 1]) > 0.01f);
    }
    char text[200];
    const struct explanation one = {.gather = GATHER_TABLE, .table = t, .only_wrong_rows = true};
    // What many rows have in common is no chance.
    if (x.rows >= MANY || ranges < s->nk / 3 + 3 || pattern_ranges(marked, s->nk, "", "", text, sizeof text))
        explanations_try(all, one, s, 10 + 3 * fmin(ranges, 8));
    free(marked);
}

// ---- Weights that are dropped ---------------------------------------------------------------------------------------

static void try_dropped(const struct case_seen *s, struct explanations *all) {
    double kept = 0, dropped = INFINITY;
    for (int64_t r = 0; r < s->rows; r++) {
        const double top = largest_score(s, r);
        for (int j = 0; j < s->nk && !s->x->missing[r]; j++) {
            const double below = top - case_score(s, r)[j];
            if (!(below < INFINITY))
                continue;
            if (case_got(s, r)[j] == 0)
                dropped = fmin(dropped, below);
            else
                kept = fmax(kept, below);
        }
    }
    // What is too small for its type is 0 in a kernel that is right, too.
    if (kept > 0 && kept < dropped && dropped < (s->x->which.dtype == ATTENTION_FP32 ? 60 : 8))
        explanations_try(all, (struct explanation){.gather = GATHER_NEAR, .formula = {(kept + dropped) / 2}}, s, 6);
}

void explain_gathers(const struct case_seen *s, struct explanations *all) {
    bool any = false;
    for (int64_t r = 0; r < s->rows; r++)
        any = any || s->wrong[r];
    if (!any)
        return;
    try_dropped(s, all);
    explanations_try(all, (struct explanation){.gather = GATHER_SCORES}, s, 6);
    for (int apart = -1; apart <= 1; apart++)
        explanations_try(all, (struct explanation){.gather = GATHER_NOT_OWN, .n = {apart}}, s, 7);
    try_rows(s, all);
    try_fragments(s, all);
    if (!all->count)
        read_table(s, all);
}

// ---- Words ----------------------------------------------------------------------------------------------------------

static void print_run(const struct key_table *t, int first, int end, FILE *out) {
    fprintf(out, end - first > 1 ? "keys %d to %d" : "key %d", first, end - 1);
    if (t->from[first] == NONE)
        fputs(": no weight", out);
    else if (t->from[first] == first)
        fprintf(out, ": %.4g times the right weight", t->times[first]);
    else
        fprintf(out, end - first > 1 ? ": the weights of keys %d to %d" : ": the weight of key %d", t->from[first],
                t->from[end - 1]);
}

static const char *print_table(const struct explanation *one, int nk, FILE *out) {
    enum { MOST_REPORTED = 5 };
    const struct key_table *t = one->table;
    bool *marked = host_allocate(nk, sizeof *marked), none = true, own = true;
    char text[200];
    for (int j = 0; j < nk; j++) {
        marked[j] = t->from[j] != j || t->times[j] != 1;
        none = none && (!marked[j] || t->from[j] == NONE);
        own = own && (!marked[j] || t->from[j] == NONE || t->from[j] == j);
    }
    const bool described = pattern_ranges(marked, nk, "key", "keys", text, sizeof text);
    if (none && described) {
        fprintf(out, "The weighted sum has no weight for %s", text);
        free(marked);
        return "keys-without-weight";
    }
    fputs(own ? "Keys count another number of times: " : "Weights are multiplied by the values of other keys. ", out);
    int reported = 0;
    for (int j = 0, end; j < nk; j = end) {
        for (end = j + 1; end < nk && marked[end] == marked[j] && fabsf(t->times[end] - t->times[j]) < 0.01f &&
                          (t->from[j] == NONE ? t->from[end] == NONE : t->from[end] == t->from[end - 1] + 1);)
            end++;
        if (!marked[j])
            continue;
        if (reported++ == MOST_REPORTED) {
            fputs(", and so on", out);
            break;
        }
        fputs(reported > 1 ? ", " : "", out);
        print_run(t, j, end, out);
    }
    free(marked);
    return own ? "keys-counted-wrong" : "weights-displaced";
}

static const char *print_fragment(const struct explanation *one, FILE *out) {
    static const char *const name[FRAGMENT_BITS] = {"bit 0 of the query", "bit 1 of the query", "bit 2 of the query",
                                                    "bit 3 of the query", "bit 0 of the key",   "bit 1 of the key",
                                                    "bit 2 of the key",   "bit 3 of the key"};
    if (one->map.kind == MAP_XOR) {
        fprintf(out, "In the index of a weight, %s is inverted", name[one->map.n]);
        return "fragment-bit-inverted";
    }
    fprintf(out, "In the index of a weight, %s and %s are exchanged%s", name[one->map.n], name[one->map.m],
            one->map.n == 3 && one->map.m == 7 ? ", as if registers 1 and 2 of the mma's A operand were swapped" : "");
    return "fragment-bits-exchanged";
}

const char *explanation_of_gather_print(const struct explanation *one, int nk, FILE *out) {
    char map[100];
    switch (one->gather) {
    case GATHER_ROWS:
        map_text(&one->map, map, sizeof map);
        fprintf(out, "Each wrong row has the weights of another row: query i has the weights of query %s", map);
        return "rows-of-other-rows";
    case GATHER_TRANSPOSED:
        fprintf(
            out,
            "The weights of each block of %d queries are stored query by query, and read as if they were stored key by "
            "key",
            one->n[0]);
        return "weights-transposed";
    case GATHER_FRAGMENT:
        return print_fragment(one, out);
    case GATHER_NOT_OWN:
        snprintf(map, sizeof map, one->n[0] < 0 ? "i - 1" : one->n[0] ? "i + 1" : "i");
        fprintf(out,
                "For query i key %s has no weight; the weights of the other keys are right up to one common factor",
                map);
        return "own-key-without-weight";
    case GATHER_SCORES:
        fputs("The values are multiplied by the scores themselves, not by their exponentials", out);
        return "weighted-by-scores";
    case GATHER_NEAR:
        fprintf(out,
                "Keys with a score of more than %.3g below the row max have weight 0; the weights of the other keys "
                "are right up to one common factor",
                one->formula[0]);
        return "small-weights-dropped";
    default:
        return print_table(one, nk, out);
    }
}
