// Which keys each query sees under a mask, as its weights show where all scores are the same, and what a limit that is
// not its own would be.
#include "host/parallel.h"
#include "operations/attention_explain_weights.h"
#include "operations/attention_operation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct limits {
    const struct explainer *s;
    int64_t rows;
    int *attended; // [rows], keys from the first on
    int nq, nk, group;
};

static int right_limit(const struct limits *l, int64_t query) {
    return shape_attended_keys(&l->s->x.which.attention, (int)query);
}

// False where the weights of a row are not those of its first keys, all alike.
static bool count_attended(struct limits *l) {
    for (int64_t r = 0; r < l->rows; r++) {
        const double *weight = l->s->equal + r * l->nk;
        int attended = 0;
        while (attended < l->nk && weight[attended] > 0.5 / l->nk)
            attended++;
        for (int j = 0; j < l->nk; j++)
            if (l->s->x.missing[r] ||
                fabs(weight[j] - (j < attended ? 1.0 / attended : 0)) > 4 * l->s->x.tolerance / fmax(attended, 1))
                return false;
        l->attended[r] = attended;
    }
    return true;
}

// ---- Whose limit a row has
// -------------------------------------------------------------------------------------------

enum { OWN_ROW, REMAINDER, QUOTIENT, PACKED, TURNED, WITHOUT };

// The query whose limit a row would have by this rule.
static int64_t query_of_limit(const struct limits *l, int64_t row, int rule, int by) {
    const int64_t query = row % l->nq, head = row / l->nq;
    switch (rule) {
    case REMAINDER:
        return (query * l->group + head % l->group) % by;
    case QUOTIENT:
        return query / by;
    case PACKED:
        return query * l->group + head % l->group;
    case TURNED: // rows of 4 by of them, blocked for interleaved or the other way round
        return query / (4 * by) * (4 * by) + query % (4 * by) / by + query % by * 4;
    case WITHOUT: // without what their number has between this power of two and four times it
        return query / (4 * by) * (4 * by) + query % by;
    default:
        return query;
    }
}

// A limit beyond those of the case's own queries is that which a later query would have.
static int limit_of(const struct limits *l, int64_t query) {
    const int64_t limit = query + 1 + l->nk - l->nq;
    return limit < 0 ? 0 : limit > l->nk ? l->nk : (int)limit;
}

// How many rows have that limit; 0 where others have a larger one.
static int64_t count_rule(const struct limits *l, int rule, int by) {
    int64_t fitting = 0;
    for (int64_t r = 0; r < l->rows; r++) {
        const int limit = limit_of(l, query_of_limit(l, r, rule, by));
        if (l->attended[r] > limit)
            return 0;
        fitting += l->attended[r] == limit;
    }
    return fitting;
}

static bool fits_rule(const struct limits *l, int rule, int by) {
    return count_rule(l, rule, by) == l->rows;
}

static bool report_rule_of_queries(const struct limits *l) {
    const struct explainer *s = l->s;
    const int64_t by_remainder = l->group > 1 ? count_rule(l, REMAINDER, l->nq) : 0;
    const int64_t by_packed_row = l->group > 1 ? count_rule(l, PACKED, 0) : 0;
    const bool is_remainder = by_remainder >= by_packed_row;
    char remainder[40];
    snprintf(remainder, sizeof remainder, ") %% %d", l->nq);
    const int64_t most = is_remainder ? by_remainder : by_packed_row;
    if (3 * most > l->rows) {
        explain_line(s, "limit-of-packed-row",
                     "Causal limit: query i of head h has the limit of query %s%d i + h %% %d%s, which is the index of "
                     "the row among the %d rows that share keys%s. This holds in %lld of %lld rows%s",
                     is_remainder ? "(" : "", l->group, l->group, is_remainder ? remainder : "", l->group * l->nq,
                     is_remainder ? ", minus the queries of whole heads" : "", (long long)most, (long long)l->rows,
                     most < l->rows ? "; the other rows attend to fewer keys" : "");
        return true;
    }
    for (int by = 2; by <= 64; by++)
        if (fits_rule(l, QUOTIENT, by)) {
            explain_line(s, "limit-of-quotient", "Causal limit: query i has the limit of query i / %d", by);
            return true;
        }
    for (int by = 8; by <= 64; by *= 2)
        if (fits_rule(l, WITHOUT, by)) {
            explain_line(s, "limit-of-remainder",
                         "Causal limit: within each block of %d queries, query i has the limit of query i %% %d: every "
                         "%d of the %d queries start again with the first limit",
                         4 * by, by, by, 4 * by);
            return true;
        }
    for (int by = 2; by <= 16; by *= 2)
        if (fits_rule(l, TURNED, by)) {
            explain_line(s, "limit-of-interleaved-row",
                         "Causal limit: within each %d queries, query i has the limit of query %d (i %% %d) + i / %d: "
                         "consecutive and interleaved row orders are mixed up",
                         4 * by, 4, by, by);
            return true;
        }
    return false;
}

// ---- Limits of blocks of queries ------------------------------------------------------------------------------------

enum { AT_MOST, AT_LEAST, EXACTLY };

// What a block of queries would have in common: the right limit of its first or last query, up to the end of a tile.
static int common_limit(const struct limits *l, int64_t query, int block, int tile, bool last) {
    const int64_t first = query / block * block, end = first + block - 1 < l->nq ? first + block - 1 : l->nq - 1;
    const int limit = (right_limit(l, last ? end : first) + tile - 1) / tile * tile;
    return limit < l->nk ? limit : l->nk;
}

// *but_last: rows whose limit would be the end of all keys have their own.
static bool fits_blocks(const struct limits *l, int block, int tile, bool last, int how, bool *but_last) {
    *but_last = false;
    for (int64_t r = 0; r < l->rows; r++) {
        const int own = right_limit(l, r % l->nq), common = common_limit(l, r % l->nq, block, tile, last);
        const int expected = how == EXACTLY   ? common
                             : how == AT_MOST ? (common < own ? common : own)
                                              : (common > own ? common : own);
        // The last tile of all has a mask of its own in most kernels.
        if (l->attended[r] == expected)
            continue;
        if (common != l->nk || l->attended[r] != own)
            return false;
        *but_last = true;
    }
    return true;
}

// The largest tile with which this explains every row, too.
static int largest_tile(const struct limits *l, int block, int tile, bool last, int how) {
    int largest = tile;
    bool but_last;
    for (int other = 2 * tile; other <= 128; other *= 2)
        if (fits_blocks(l, block, other, last, how, &but_last))
            largest = other;
    return largest;
}

static bool report_blocks(const struct limits *l) {
    const struct explainer *s = l->s;
    static const char *const does[] = {
        "no query attends to more keys than the causal limit of the %s query",
        "no query attends to fewer keys than the causal limit of the %s query",
        "every query attends to as many keys as the causal limit of the %s query allows"};
    static const char *const codes[][2] = {{"limit-at-most-of-first", "limit-at-most-of-last"},
                                           {"limit-at-least-of-first", "limit-at-least-of-last"},
                                           {"limit-of-first", "limit-of-last"}};
    bool but_last;
    for (int tile = 1; tile <= 128; tile *= 2)
        for (int how = AT_MOST; how <= EXACTLY; how++)
            for (int last = 0; last < 2; last++)
                for (int block = 2; block <= 256; block *= 2) {
                    if ((how == AT_MOST && last) || (how == AT_LEAST && !last && tile == 1) ||
                        !fits_blocks(l, block, tile, last, how, &but_last))
                        continue;
                    const int largest = largest_tile(l, block, tile, last, how);
                    char to[100] = "", of[40] = "", what[100];
                    snprintf(what, sizeof what, does[how], last ? "last" : "first");
                    if (largest > 1)
                        snprintf(to, sizeof to,
                                 tile == largest ? ", rounded up to a multiple of %d"
                                                 : ", rounded up to a multiple of %d to %d",
                                 tile, largest);
                    if (block < l->nq)
                        snprintf(of, sizeof of, "in each block of %d queries, ", block);
                    explain_line(s, codes[how][last], "Wrong causal limit: %s%s%s%s. Each row needs its own limit", of,
                                 what, to, but_last ? " (except if the limit would be all keys)" : "");
                    return true;
                }
    for (int tile = 2; tile <= 128; tile *= 2) {
        bool up = true, down = true;
        for (int64_t r = 0; r < l->rows; r++) {
            const int own = right_limit(l, r % l->nq), end = (own + tile - 1) / tile * tile;
            up = up && l->attended[r] == (end < l->nk ? end : l->nk);
            down = down && l->attended[r] == own / tile * tile;
        }
        if (up || down) {
            explain_line(s, up ? "limit-at-tile-end" : "limit-at-tile-start",
                         "Causal limit: each query attends to all keys up to %s of the tile of %d keys that contains "
                         "the query's limit",
                         up ? "the end" : "the beginning", tile);
            return true;
        }
    }
    return false;
}

// Whether keys end where they would if there were as many queries as keys: with the last of a block of queries, up to
// the end of a tile.
static bool report_as_if_square(const struct limits *l) {
    for (int tile = 1; tile <= 128; tile *= 2)
        for (int block = 1; block <= 256; block *= 2) {
            bool fits = true;
            for (int64_t r = 0; r < l->rows && fits; r++) {
                const int own = right_limit(l, r % l->nq);
                const int end = ((int)(r % l->nq) / block * block + block + tile - 1) / tile * tile;
                fits = l->attended[r] == (end < own ? end : own);
            }
            if (!fits)
                continue;
            char to[60] = "";
            if (tile > 1)
                snprintf(to, sizeof to, ", rounded up to a multiple of %d", tile);
            explain_line(
                l->s, "limit-as-if-nk-were-nq",
                "Causal limit: query i attends to no more keys than i / %d * %d + %d%s, as if nk were equal to nq",
                block, block, block, to);
            return true;
        }
    return false;
}

// The limit that all rows with too few keys have, where that is one: no row attends to keys from there on, or none
// of these. And the same of those with too many.
static void report_shared_end(const struct limits *l, bool fewer) {
    int end = -1;
    int64_t rows = 0;
    for (int64_t r = 0; r < l->rows; r++) {
        const int own = right_limit(l, r % l->nq);
        if (fewer ? l->attended[r] >= own : l->attended[r] <= own)
            continue;
        if (rows++ && l->attended[r] != end)
            return;
        end = l->attended[r];
    }
    if (rows > 1)
        explain_line(l->s, "limit-shared", "All %lld rows that attend to too %s keys attend to %d keys",
                     (long long)rows, fewer ? "few" : "many", end);
}

// A few queries of the first head, and what they see.
static void report_examples(const struct limits *l) {
    char text[200];
    int length = 0, reported = 0;
    for (int i = 0; i < l->nq && reported < 5; i++)
        if (l->attended[i] != right_limit(l, i)) {
            length += snprintf(text + length, sizeof text - (size_t)length, "%squery %d: %d instead of %d keys",
                               reported ? ", " : "", i, l->attended[i], right_limit(l, i));
            reported++;
        }
    if (reported > 1)
        explain_line(l->s, "limit-examples", "Number of attended keys in head 0: %s", text);
}

static void report_counts(const struct limits *l, int64_t few, int64_t many) {
    int64_t first = 0;
    while (l->attended[first] == right_limit(l, first % l->nq))
        first++;
    char text[100];
    int length = snprintf(text, sizeof text, "%lld of %lld rows attend to too %s keys", (long long)(few ? few : many),
                          (long long)l->rows, few ? "few" : "many");
    if (few && many)
        snprintf(text + length, sizeof text - (size_t)length, ", and %lld rows attend to too many keys",
                 (long long)many);
    explain_line(l->s, "limit-wrong", "Query %d attends to %d of %d keys instead of %d keys; %s", (int)(first % l->nq),
                 l->attended[first], l->nk, right_limit(l, first % l->nq), text);
}

// By how many keys every row is off; 0: not all by the same.
static int common_difference(const struct limits *l) {
    int difference = 0;
    for (int64_t r = 0; r < l->rows; r++) {
        const int own = right_limit(l, r % l->nq), off = l->attended[r] - own;
        if (!off && (own == l->nk || own == 0))
            continue; // nothing more to see, or to lose
        if (!off || (difference && off != difference))
            return 0;
        difference = off;
    }
    return difference;
}

// Whether there are words for the rule.
static bool report_rule(const struct limits *l) {
    const int difference = common_difference(l);
    bool all = true;
    for (int64_t r = 0; r < l->rows; r++)
        all = all && l->attended[r] == l->nk;
    if (difference)
        explain_line(l->s, "limit-off-by", "Each wrong row attends to %d key%s too %s", abs(difference),
                     abs(difference) == 1 ? "" : "s", difference < 0 ? "few" : "many");
    else if (all)
        explain_line(l->s, "limit-missing", "Every query attends to all keys: the causal mask is missing");
    return difference || all || report_rule_of_queries(l) || report_blocks(l) || report_as_if_square(l);
}

// Whether rows see other keys than they should, other than those that should see none.
static bool find_limits(const struct explainer *s, struct limits *l, int64_t *few, int64_t *many) {
    const struct attention_shape *shape = &s->x.which.attention;
    *l = (struct limits){s,         s->x.rows, host_allocate(s->x.rows, sizeof *l->attended),
                         shape->nq, shape->nk, shape->heads / shape->kv_heads};
    bool blind = true;
    const bool known = count_attended(l);
    *few = *many = 0;
    for (int64_t r = 0; r < l->rows && known; r++) {
        const int own = right_limit(l, r % l->nq);
        *few += l->attended[r] < own;
        *many += l->attended[r] > own;
        blind = blind && (l->attended[r] == own || own == 0);
    }
    return known && *few + *many > 0 && !blind;
}

// The same of a case with more rows and keys, where the one that was asked shows too little for a rule.
static bool report_of_larger(const struct explainer *s) {
    enum { SEED = 4711 };
    const struct diagnosed *kernel = s->x.kernel;
    const int d = s->x.which.attention.head_dim;
    struct problem_case which = {.attention = {1, 1, 1, 130, 300, d, .layout = LAYOUT_BHND}, .dtype = s->x.which.dtype};
    struct explainer larger = {.out = s->out};
    which.attention.causal = true;
    if (!attention_observe(kernel, &which, SEED, &larger.x))
        return false;
    float *q = host_zeros(larger.x.rows * d, sizeof *q);
    larger.equal = host_allocate(larger.x.rows * which.attention.nk, sizeof *larger.equal);
    struct limits l = {0};
    int64_t few, many;
    const bool wrong = observed_weights(&larger.x, q, larger.equal) && find_limits(&larger, &l, &few, &many);
    if (wrong) {
        char text[160];
        case_text(kernel->operation, &which, text, sizeof text);
        explain_line(s, "larger-case", "In the larger case %s SEED=%d:", text, SEED);
        report_counts(&l, few, many);
        if (!report_rule(&l))
            report_examples(&l);
    }
    free(l.attended);
    free(larger.equal);
    free(q);
    attention_observed_free(&larger.x);
    return wrong;
}

bool explain_limits(const struct explainer *s) {
    enum { TOO_FEW_ROWS = 4 };
    struct limits l;
    int64_t few, many;
    if (!s->x.which.attention.causal || !s->equal)
        return false;
    const bool wrong = find_limits(s, &l, &few, &many);
    if (wrong) {
        report_counts(&l, few, many);
        const bool known = (few + many < TOO_FEW_ROWS && report_of_larger(s)) || report_rule(&l);
        if (!known && few)
            report_shared_end(&l, true);
        if (!known && many)
            report_shared_end(&l, false);
        if (!known) {
            report_examples(&l);
            report_of_larger(s);
        }
    }
    free(l.attended);
    return wrong;
}
