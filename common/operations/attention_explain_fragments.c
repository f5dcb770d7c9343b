// Weights that have changed places within tiles of 16 queries and 16 keys, which is what one mma.sync takes: a lane's
// registers hold two queries and four keys of it, so that swapped registers swap bits of their numbers (PTX ISA,
// "Matrix Fragments for mma.m16n8k16").
#include "operations/attention_explain_weights.h"

#include <math.h>

enum { SIDE = 16, BITS = 4, POSITIONS = 2 * BITS, LEAST_COMPARED = 64 };

// A place is 16 times the key plus the query, both modulo 16: two of its bits trade places, or one is the other way
// round where both are the same.
struct move {
    int a, b;
};

static int permuted(const struct move *move, int position) {
    const int a = position >> move->a & 1, b = position >> move->b & 1;
    if (move->a == move->b)
        return position ^ 1 << move->a;
    return a == b ? position : position ^ (1 << move->a | 1 << move->b);
}

// Whether within the tile the weights of row r come, in proportion, from where the move says: one factor for each row
// that they come from, since each has a maximum of its own. told: how many weights show it, which would be others if
// they were their own.
static bool tile_fits(const struct explainer *s, int64_t r, int key, const struct move *move, int *reported) {
    const struct attention_shape *shape = &s->x.which.attention;
    const int query = (int)(r % shape->nq);
    double factor[SIDE];
    for (int i = 0; i < SIDE; i++)
        factor[i] = NAN;
    for (int j = key; j < key + SIDE && j < shape->nk; j++) {
        const int from = permuted(move, j % SIDE * SIDE + query % SIDE);
        const int64_t other = r - query % SIDE + from % SIDE;
        const int from_key = key + from / SIDE;
        // What a tile has past the last query or key is not known.
        if (other / shape->nq != r / shape->nq || from_key >= shape->nk || s->x.missing[other])
            continue;
        const double right = right_of(s, other)[from_key];
        if (!(right > s->x.largest[other] / 1024)) {
            if (!observed_matches(&s->x, r, got_of(s, r)[j], 0) && isnan(factor[from % SIDE]))
                continue;
        } else if (isnan(factor[from % SIDE])) {
            factor[from % SIDE] = got_of(s, r)[j] / right;
            continue;
        }
        const double own = right_of(s, r)[j];
        *reported += fabs(own - right) > fmax(own, right) / 8;
        if (!observed_matches(&s->x, r, got_of(s, r)[j], factor[from % SIDE] * right))
            return false;
    }
    return true;
}

static bool all_fit(const struct explainer *s, const struct move *move) {
    int reported = 0;
    for (int64_t r = 0; r < s->x.rows; r++)
        for (int key = 0; key < s->x.which.attention.nk && !s->x.missing[r]; key += SIDE)
            if (!tile_fits(s, r, key, move, &reported))
                return false;
    return reported >= LEAST_COMPARED;
}

static void report_exchange(const struct explainer *s, const struct move *move) {
    int position = 0;
    while (permuted(move, position) == position)
        position++;
    const int from = permuted(move, position);
    explain_line(s, "fragment-permuted",
                 "Weights are permuted within a tile of %d queries and %d keys: query %d key %d has, up to a factor, "
                 "the weight of query %d key %d",
                 SIDE, SIDE, position % SIDE, position / SIDE, from % SIDE, from / SIDE);
    const char *name[POSITIONS] = {"bit 0 of the query", "bit 1 of the query", "bit 2 of the query",
                                   "bit 3 of the query", "bit 0 of the key",   "bit 1 of the key",
                                   "bit 2 of the key",   "bit 3 of the key"};
    if (move->a == move->b)
        explain_line(s, "fragment-bit-inverted", "In the index of a weight, %s is inverted", name[move->a]);
    else
        explain_line(s, "fragment-bits-exchanged", "In the index of a weight, %s and %s are exchanged%s", name[move->a],
                     name[move->b],
                     move->a == 3 && move->b == 7 ? ", as if registers 1 and 2 of the mma's A operand were swapped"
                                                  : "");
}

bool explain_fragments(const struct explainer *s) {
    if (s->x.which.attention.nk < SIDE || s->x.which.attention.nq < 2)
        return false;
    for (int a = 0; a < POSITIONS; a++)
        for (int b = a; b < POSITIONS; b++) {
            const struct move move = {a, b};
            if (!all_fit(s, &move))
                continue;
            report_exchange(s, &move);
            return true;
        }
    return false;
}
