// Weights that have changed places within tiles of 16 queries and 16 keys, which is what one mma.sync takes: a lane's
// registers hold two queries and four keys of it, so that swapped registers swap bits of their numbers (PTX ISA,
// "Matrix Fragments for mma.m16n8k16").
#include "operations/attention_stages.h"

#include <math.h>

enum { SIDE = 16, BITS = 4, PLACES = 2 * BITS, LEAST_TOLD = 64 };

// A place is 16 times the key plus the query, both modulo 16: two of its bits trade places, or one is the other way
// round where both are the same.
struct move {
    int a, b;
};

static int moved(const struct move *move, int place) {
    const int a = place >> move->a & 1, b = place >> move->b & 1;
    if (move->a == move->b)
        return place ^ 1 << move->a;
    return a == b ? place : place ^ (1 << move->a | 1 << move->b);
}

// Whether within the tile the weights of row r come, in proportion, from where the move says: one factor for each row
// that they come from, since each has a maximum of its own. told: how many weights show it, which would be others if
// they were their own.
static bool tile_fits(const struct stages *s, int64_t r, int key, const struct move *move, int *told) {
    const struct attention_shape *shape = &s->x.which.attention;
    const int query = (int)(r % shape->nq);
    double factor[SIDE];
    for (int i = 0; i < SIDE; i++)
        factor[i] = NAN;
    for (int j = key; j < key + SIDE && j < shape->nk; j++) {
        const int from = moved(move, j % SIDE * SIDE + query % SIDE);
        const int64_t other = r - query % SIDE + from % SIDE;
        const int from_key = key + from / SIDE;
        // What a tile has past the last query or key is not known.
        if (other / shape->nq != r / shape->nq || from_key >= shape->nk || s->x.lost[other])
            continue;
        const double right = right_of(s, other)[from_key];
        if (!(right > s->x.largest[other] / 1024)) {
            if (!observed_near(&s->x, r, got_of(s, r)[j], 0) && isnan(factor[from % SIDE]))
                continue;
        } else if (isnan(factor[from % SIDE])) {
            factor[from % SIDE] = got_of(s, r)[j] / right;
            continue;
        }
        const double own = right_of(s, r)[j];
        *told += fabs(own - right) > fmax(own, right) / 8;
        if (!observed_near(&s->x, r, got_of(s, r)[j], factor[from % SIDE] * right))
            return false;
    }
    return true;
}

static bool all_fit(const struct stages *s, const struct move *move) {
    int told = 0;
    for (int64_t r = 0; r < s->x.rows; r++)
        for (int key = 0; key < s->x.which.attention.nk && !s->x.lost[r]; key += SIDE)
            if (!tile_fits(s, r, key, move, &told))
                return false;
    return told >= LEAST_TOLD;
}

static void say_move(const struct stages *s, const struct move *move) {
    int place = 0;
    while (moved(move, place) == place)
        place++;
    const int from = moved(move, place);
    stages_say(s,
               "gives weights that belong elsewhere in their tile of %d queries and %d keys: query %d key %d has, by "
               "some factor, that of query %d key %d",
               SIDE, SIDE, place % SIDE, place / SIDE, from % SIDE, from / SIDE);
    const char *name[PLACES] = {"bit 0 of the query", "bit 1 of the query", "bit 2 of the query", "bit 3 of the query",
                                "bit 0 of the key",   "bit 1 of the key",   "bit 2 of the key",   "bit 3 of the key"};
    if (move->a == move->b)
        stages_say(s, "%s is the other way round", name[move->a]);
    else
        stages_say(s, "%s and %s trade places%s", name[move->a], name[move->b],
                   move->a == 3 && move->b == 7
                       ? ", as they do where registers 1 and 2 of an mma's left operand are swapped"
                       : "");
}

bool stages_say_fragments(const struct stages *s) {
    if (s->x.which.attention.nk < SIDE || s->x.which.attention.nq < 2)
        return false;
    for (int a = 0; a < PLACES; a++)
        for (int b = a; b < PLACES; b++) {
            const struct move move = {a, b};
            if (!all_fit(s, &move))
                continue;
            say_move(s, &move);
            return true;
        }
    return false;
}
