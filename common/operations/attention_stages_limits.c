// Which keys each query sees under a mask, as its weights show where all scores are the same, and what a limit that is
// not its own would be.
#include "host/parallel.h"
#include "operations/attention_operation.h"
#include "operations/attention_stages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct limits {
    const struct stages *s;
    int64_t rows;
    int *seen; // [rows], keys from the first on
    int nq, nk, group;
};

static int right_limit(const struct limits *l, int64_t query) {
    return shape_visible_keys(&l->s->x.which.attention, (int)query);
}

// False where the weights of a row are not those of its first keys, all alike.
static bool count_seen(struct limits *l) {
    for (int64_t r = 0; r < l->rows; r++) {
        const double *weight = l->s->equal + r * l->nk;
        int seen = 0;
        while (seen < l->nk && weight[seen] > 0.5 / l->nk)
            seen++;
        for (int j = 0; j < l->nk; j++)
            if (l->s->x.lost[r] || fabs(weight[j] - (j < seen ? 1.0 / seen : 0)) > 4 * l->s->x.near / fmax(seen, 1))
                return false;
        l->seen[r] = seen;
    }
    return true;
}

// ---- Whose limit a row has
// -------------------------------------------------------------------------------------------

enum { OWN_ROW, REMAINDER, QUOTIENT, PACKED, TURNED, WITHOUT };

// The query whose limit a row would have by this rule.
static int64_t whose_limit(const struct limits *l, int64_t row, int rule, int by) {
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
static int64_t count_whose(const struct limits *l, int rule, int by) {
    int64_t fitting = 0;
    for (int64_t r = 0; r < l->rows; r++) {
        const int limit = limit_of(l, whose_limit(l, r, rule, by));
        if (l->seen[r] > limit)
            return 0;
        fitting += l->seen[r] == limit;
    }
    return fitting;
}

static bool fits_whose(const struct limits *l, int rule, int by) {
    return count_whose(l, rule, by) == l->rows;
}

static bool say_whose(const struct limits *l) {
    const struct stages *s = l->s;
    const int64_t by_remainder = l->group > 1 ? count_whose(l, REMAINDER, l->nq) : 0;
    const int64_t by_place = l->group > 1 ? count_whose(l, PACKED, 0) : 0;
    const bool is_remainder = by_remainder >= by_place;
    char remainder[40];
    snprintf(remainder, sizeof remainder, ") %% %d", l->nq);
    const int64_t most = is_remainder ? by_remainder : by_place;
    if (3 * most > l->rows) {
        stages_say(
            s,
            "query i of head h has the limit of query %s%d i + h %% %d%s: of its row among the %d that share keys%s"
            "; so in %lld of %lld rows%s",
            is_remainder ? "(" : "", l->group, l->group, is_remainder ? remainder : "", l->group * l->nq,
            is_remainder ? ", less the queries of whole heads" : "", (long long)most, (long long)l->rows,
            most < l->rows ? ", the others see fewer keys" : "");
        return true;
    }
    for (int by = 2; by <= 64; by++)
        if (fits_whose(l, QUOTIENT, by)) {
            stages_say(s, "query i has the limit of query i / %d", by);
            return true;
        }
    for (int by = 8; by <= 64; by *= 2)
        if (fits_whose(l, WITHOUT, by)) {
            stages_say(
                s,
                "query i has the limit of query i %% %d, in each %d: of those %d, each %d begin with the first one's",
                by, 4 * by, 4 * by, by);
            return true;
        }
    for (int by = 2; by <= 16; by *= 2)
        if (fits_whose(l, TURNED, by)) {
            stages_say(s,
                       "of each %d queries, number i has the limit of number %d (i %% %d) + i / %d: rows that lie one "
                       "after the other and rows in turn are mixed up",
                       4 * by, 4, by, by);
            return true;
        }
    return false;
}

// ---- Limits of blocks of queries ------------------------------------------------------------------------------------

enum { NO_MORE_THAN, NO_LESS_THAN, ALL_ALIKE };

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
        const int expected = how == ALL_ALIKE      ? common
                             : how == NO_MORE_THAN ? (common < own ? common : own)
                                                   : (common > own ? common : own);
        // The last tile of all has a mask of its own in most kernels.
        if (l->seen[r] == expected)
            continue;
        if (common != l->nk || l->seen[r] != own)
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

static bool say_blocks(const struct limits *l) {
    const struct stages *s = l->s;
    static const char *const does[] = {"sees more keys than the %s one is to see",
                                       "sees fewer keys than the %s one is to see",
                                       "sees another number of keys than the %s one is to see"};
    bool but_last;
    for (int tile = 1; tile <= 128; tile *= 2)
        for (int how = NO_MORE_THAN; how <= ALL_ALIKE; how++)
            for (int last = 0; last < 2; last++)
                for (int block = 2; block <= 256; block *= 2) {
                    if ((how == NO_MORE_THAN && last) || (how == NO_LESS_THAN && !last && tile == 1) ||
                        !fits_blocks(l, block, tile, last, how, &but_last))
                        continue;
                    const int largest = largest_tile(l, block, tile, last, how);
                    char to[100] = "", of[40] = "no query", what[100];
                    snprintf(what, sizeof what, does[how], last ? "last" : "first");
                    if (largest > 1)
                        snprintf(to, sizeof to,
                                 tile == largest ? ", rounded up to a multiple of %d"
                                                 : ", rounded up to a multiple of %d to %d",
                                 tile, largest);
                    if (block < l->nq)
                        snprintf(of, sizeof of, "of each %d queries none", block);
                    stages_say(s, "%s %s%s%s", of, what, to, but_last ? ", but where that would be all keys" : "");
                    return true;
                }
    for (int tile = 2; tile <= 128; tile *= 2) {
        bool up = true, down = true;
        for (int64_t r = 0; r < l->rows; r++) {
            const int own = right_limit(l, r % l->nq), end = (own + tile - 1) / tile * tile;
            up = up && l->seen[r] == (end < l->nk ? end : l->nk);
            down = down && l->seen[r] == own / tile * tile;
        }
        if (up || down) {
            stages_say(s, "each query sees keys up to %s of the %d in which its last one is",
                       up ? "the end" : "the beginning", tile);
            return true;
        }
    }
    return false;
}

// Whether keys end where they would if there were as many queries as keys: with the last of a block of queries, up to
// the end of a tile.
static bool say_own_number(const struct limits *l) {
    for (int tile = 1; tile <= 128; tile *= 2)
        for (int block = 1; block <= 256; block *= 2) {
            bool fits = true;
            for (int64_t r = 0; r < l->rows && fits; r++) {
                const int own = right_limit(l, r % l->nq);
                const int end = ((int)(r % l->nq) / block * block + block + tile - 1) / tile * tile;
                fits = l->seen[r] == (end < own ? end : own);
            }
            if (!fits)
                continue;
            char to[60] = "";
            if (tile > 1)
                snprintf(to, sizeof to, ", rounded up to a multiple of %d", tile);
            stages_say(l->s,
                       "query i sees no more keys than i / %d * %d + %d%s: as if there were as many keys as queries",
                       block, block, block, to);
            return true;
        }
    return false;
}

// The limit that all rows with too few keys have, where that is one: keys from there on are seen by nobody, or by none
// of these. And the same of those with too many.
static void say_shared_end(const struct limits *l, bool fewer) {
    int end = -1;
    int64_t rows = 0;
    for (int64_t r = 0; r < l->rows; r++) {
        const int own = right_limit(l, r % l->nq);
        if (fewer ? l->seen[r] >= own : l->seen[r] <= own)
            continue;
        if (rows++ && l->seen[r] != end)
            return;
        end = l->seen[r];
    }
    if (rows > 1)
        stages_say(l->s, "each of the %lld rows that see too %s keys sees %d", (long long)rows, fewer ? "few" : "many",
                   end);
}

// A few queries of the first head, and what they see.
static void say_examples(const struct limits *l) {
    char text[200];
    int length = 0, told = 0;
    for (int i = 0; i < l->nq && told < 5; i++)
        if (l->seen[i] != right_limit(l, i)) {
            length += snprintf(text + length, sizeof text - (size_t)length, "%squery %d %d, not %d", told ? ", " : "",
                               i, l->seen[i], right_limit(l, i));
            told++;
        }
    if (told > 1)
        stages_say(l->s, "in head 0: %s", text);
}

static void say_counts(const struct limits *l, int64_t few, int64_t many) {
    int64_t first = 0;
    while (l->seen[first] == right_limit(l, first % l->nq))
        first++;
    char text[100];
    int length = snprintf(text, sizeof text, "%lld of %lld rows see too %s", (long long)(few ? few : many),
                          (long long)l->rows, few ? "few" : "many");
    if (few && many)
        snprintf(text + length, sizeof text - (size_t)length, ", %lld too many", (long long)many);
    stages_say(l->s, "lets query %d see %d of %d keys, not %d; %s", (int)(first % l->nq), l->seen[first], l->nk,
               right_limit(l, first % l->nq), text);
}

// By how many keys every row is off; 0: not all by the same.
static int common_difference(const struct limits *l) {
    int difference = 0;
    for (int64_t r = 0; r < l->rows; r++) {
        const int own = right_limit(l, r % l->nq), off = l->seen[r] - own;
        if (!off && (own == l->nk || own == 0))
            continue; // nothing more to see, or to lose
        if (!off || (difference && off != difference))
            return 0;
        difference = off;
    }
    return difference;
}

// Whether there are words for the rule.
static bool say_rule(const struct limits *l) {
    const int difference = common_difference(l);
    bool all = true;
    for (int64_t r = 0; r < l->rows; r++)
        all = all && l->seen[r] == l->nk;
    if (difference)
        stages_say(l->s, "%d too %s in each of them", abs(difference), difference < 0 ? "few" : "many");
    else if (all)
        stages_say(l->s, "every query sees all keys");
    return difference || all || say_whose(l) || say_blocks(l) || say_own_number(l);
}

// Whether rows see other keys than they should, other than those that should see none.
static bool find_limits(const struct stages *s, struct limits *l, int64_t *few, int64_t *many) {
    const struct attention_shape *shape = &s->x.which.attention;
    *l = (struct limits){s,         s->x.rows, host_allocate(s->x.rows, sizeof *l->seen),
                         shape->nq, shape->nk, shape->heads / shape->kv_heads};
    bool blind = true;
    const bool known = count_seen(l);
    *few = *many = 0;
    for (int64_t r = 0; r < l->rows && known; r++) {
        const int own = right_limit(l, r % l->nq);
        *few += l->seen[r] < own;
        *many += l->seen[r] > own;
        blind = blind && (l->seen[r] == own || own == 0);
    }
    return known && *few + *many > 0 && !blind;
}

// The same of a case with more rows and keys, where the one that was asked shows too little for a rule.
static bool say_of_larger(const struct stages *s) {
    enum { SEED = 4711 };
    const struct diagnosed *kernel = s->x.kernel;
    const int d = s->x.which.attention.head_dim;
    struct problem_case which = {.attention = {1, 1, 1, 130, 300, d, .layout = LAYOUT_BHND}, .dtype = s->x.which.dtype};
    struct stages larger = {.out = s->out};
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
        stages_say(s, "of %s SEED=%d it", text, SEED);
        say_counts(&l, few, many);
        if (!say_rule(&l))
            say_examples(&l);
    }
    free(l.seen);
    free(larger.equal);
    free(q);
    attention_observed_free(&larger.x);
    return wrong;
}

bool stages_say_limits(const struct stages *s) {
    enum { TOO_FEW_ROWS = 4 };
    struct limits l;
    int64_t few, many;
    if (!s->x.which.attention.causal || !s->equal)
        return false;
    const bool wrong = find_limits(s, &l, &few, &many);
    if (wrong) {
        say_counts(&l, few, many);
        const bool known = (few + many < TOO_FEW_ROWS && say_of_larger(s)) || say_rule(&l);
        if (!known && few)
            say_shared_end(&l, true);
        if (!known && many)
            say_shared_end(&l, false);
        if (!known) {
            say_examples(&l);
            say_of_larger(s);
        }
    }
    free(l.seen);
    return wrong;
}
