#include "operations/diagnosis_columns.h"

#include "host/parallel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WHOLE_ROW = 1 << 16 }; // a tile of all keys

static int tile_of(const struct partition *p, int nk) {
    return p->kind == KEYS_SPLIT ? (nk + p->ways - 1) / p->ways : p->tile;
}

static int chain_of(const struct partition *p, int tile, int j) {
    switch (p->kind) {
    case KEYS_TILE:
    case KEYS_SPLIT:
        return j / tile;
    case KEYS_MODULO:
        return j % p->ways;
    case TILES_MODULO:
        return j / tile % p->ways;
    case QUAD_LANES:
        return j / tile * 4 + j % 8 / 2;
    case QUAD_PAIRS:
        return j / tile * 2 + j % 8 / 4;
    case QUAD_HALVES:
        return j / tile * 2 + j % 4 / 2;
    case TILE_MODULO:
        return j / tile * p->ways + j % p->ways;
    default:
        return 0;
    }
}

int partitions_of(int nk, struct partition *out) {
    static const int tiles[] = {16, 32, 64, 128, 8, 48, 80, 96, 112, 160, 176, 192, 256};
    enum { TILES = sizeof tiles / sizeof *tiles };
    int n = 0;
    out[n++] = (struct partition){KEYS_ALL, 1, 1, false};
    out[n++] = (struct partition){KEYS_ALL, 1, 1, true};
    for (int i = 0; i < TILES; i++)
        for (int backwards = 0; backwards < 2 && tiles[i] < nk; backwards++)
            out[n++] = (struct partition){KEYS_ALL, tiles[i], 1, backwards};
    for (int i = 0; i < TILES; i++)
        if (tiles[i] < nk)
            out[n++] = (struct partition){KEYS_TILE, tiles[i], 1, false};
    for (int ways = 2; ways <= 8; ways++)
        if (nk >= 8 * ways)
            out[n++] = (struct partition){KEYS_SPLIT, 1, ways, false};
    for (int ways = 2; ways <= 256 && ways < nk; ways *= 2)
        out[n++] = (struct partition){KEYS_MODULO, 1, ways, false};
    for (int tile = 4; tile <= 128; tile *= 2)
        for (int ways = 2; ways <= 8 && tile * ways < 2 * nk && tile < nk; ways *= 2)
            for (int backwards = 0; backwards < 2; backwards++)
                out[n++] = (struct partition){TILES_MODULO, tile, ways, backwards};
    for (enum partition_kind kind = QUAD_LANES; kind <= QUAD_HALVES; kind++) {
        out[n++] = (struct partition){kind, WHOLE_ROW, 1, false};
        for (int tile = 8; tile <= 128 && tile < nk; tile *= 2)
            out[n++] = (struct partition){kind, tile, 1, false};
    }
    for (int tile = 32; tile <= 64; tile *= 2)
        for (int ways = 2; ways <= 4; ways *= 2)
            out[n++] = (struct partition){TILE_MODULO, tile, ways, false};
    return n;
}

void partition_text(const struct partition *p, char *text, size_t size) {
    switch (p->kind) {
    case KEYS_TILE:
        snprintf(text, size, "tile of %d keys", p->tile);
        break;
    case KEYS_SPLIT:
        snprintf(text, size, "split of the keys (%d equal parts)", p->ways);
        break;
    case KEYS_MODULO:
        snprintf(text, size, "group of keys j, j + %d, ...", p->ways);
        break;
    case TILES_MODULO:
        snprintf(text, size, "group of every %d%s tile of %d keys", p->ways, p->ways == 2 ? "nd" : "th", p->tile);
        break;
    case QUAD_LANES:
    case QUAD_PAIRS:
    case QUAD_HALVES: {
        char tiles[40] = "";
        if (p->tile < WHOLE_ROW)
            snprintf(tiles, sizeof tiles, ", in tiles of %d keys", p->tile);
        snprintf(text, size, "%s that share a row (lane t holds keys 2t and 2t + 1 of every 8 keys%s)",
                 p->kind == QUAD_LANES   ? "of the four lanes"
                 : p->kind == QUAD_PAIRS ? "pair of lanes (0 and 1, 2 and 3) of the four"
                                         : "pair of lanes (0 and 2, 1 and 3) of the four",
                 tiles);
        break;
    }
    case TILE_MODULO:
        snprintf(text, size, "group of keys j, j + %d, ... of a tile of %d keys", p->ways, p->tile);
        break;
    default:
        if (p->tile == 1)
            snprintf(text, size, "key%s", p->backwards ? ", the last key first" : "");
        else
            snprintf(text, size, "tile of %d keys%s", p->tile, p->backwards ? ", the last tile first" : "");
    }
}

// The maxima and sums of the chains of a row.
struct chains {
    int count;
    double *now, *old, *last, *sum, *even, *half, *tile; // [count]; tile: of the tile that the chain lies in
    double row;                                          // the maximum of all
};

static void sum_up(const struct partition *p, int tile, const double *s, int nk, struct chains *c) {
    for (int i = 0; i < c->count; i++) {
        c->now[i] = c->last[i] = c->even[i] = c->half[i] = c->tile[i] = -INFINITY;
        c->sum[i] = 0;
    }
    c->row = -INFINITY;
    for (int j = 0; j < nk; j++) {
        const int i = chain_of(p, tile, j);
        c->row = fmax(c->row, s[j]);
        c->last[i] = fmax(c->last[i], s[j]);
        if (j % 2 == 0)
            c->even[i] = fmax(c->even[i], s[j]);
        if (2 * (j % tile) < tile)
            c->half[i] = fmax(c->half[i], s[j]);
    }
    for (int first = 0; first < nk; first += tile) {
        const int end = first + tile < nk ? first + tile : nk;
        double most = -INFINITY;
        for (int j = first; j < end; j++)
            most = fmax(most, s[j]);
        for (int j = first; j < end; j++)
            c->tile[chain_of(p, tile, j)] = most;
    }
    for (int j = 0; j < nk; j++)
        if (s[j] > -INFINITY)
            c->sum[chain_of(p, tile, j)] += exp(s[j] - c->last[chain_of(p, tile, j)]);
}

// until[j], before[j]: the running maximum of the chain of key j after its tile, and before it.
static void run(const struct partition *p, int tile, const double *s, int nk, struct chains *c, double *until,
                double *before) {
    const int tiles = (nk + tile - 1) / tile;
    for (int i = 0; i < tiles; i++) {
        const int t = p->backwards ? tiles - 1 - i : i, end = (t + 1) * tile < nk ? (t + 1) * tile : nk;
        for (int j = t * tile; j < end; j++)
            c->old[chain_of(p, tile, j)] = c->now[chain_of(p, tile, j)];
        for (int j = t * tile; j < end; j++) {
            const int chain = chain_of(p, tile, j);
            c->now[chain] = fmax(c->now[chain], s[j]);
        }
        for (int j = t * tile; j < end; j++) {
            until[j] = c->now[chain_of(p, tile, j)];
            before[j] = c->old[chain_of(p, tile, j)];
        }
    }
}

// The running maximum of the chain of key j after the next tile that has keys of it.
static double after(const struct partition *p, int tile, int nk, int j, const double *until) {
    const int step = p->backwards ? -1 : 1, tiles = (nk + tile - 1) / tile;
    for (int t = j / tile + step; t >= 0 && t < tiles; t += step)
        for (int i = t * tile; i < nk && i < (t + 1) * tile; i++)
            if (chain_of(p, tile, i) == chain_of(p, tile, j))
                return until[i];
    return until[j];
}

static double difference(double a, double b) {
    return isfinite(a) && isfinite(b) ? a - b : 0;
}

// What an accumulator of scores that is not cleared has of the tile before: its scores, or the weights that have
// replaced them.
static void carry(const struct partition *p, int tile, const double *s, int nk, double scale, const double *until,
                  double *const x[COLUMNS]) {
    const int step = p->backwards ? tile : -tile;
    for (int i = 0; i < nk; i++) {
        const int j = p->backwards ? nk - 1 - i : i, from = j + step;
        const bool has = p->kind == KEYS_ALL && from >= 0 && from < nk && s[from] > -INFINITY;
        x[COLUMN_CARRIED_SCORES][j] = has ? s[from] + x[COLUMN_CARRIED_SCORES][from] : 0;
        x[COLUMN_CARRIED_WEIGHTS][j] = has ? scale * exp(s[from] + x[COLUMN_CARRIED_WEIGHTS][from] - until[from]) : 0;
    }
}

void columns_fill(const struct partition *p, const double *s, int nk, double scale, double *const x[COLUMNS]) {
    enum { ARRAYS = 7 };
    const int count = nk + 512;
    double *room = host_allocate(2 * (int64_t)nk + (int64_t)ARRAYS * count, sizeof *room);
    double *until = room, *before = room + nk, *chain = before + nk;
    struct chains chains = {count,
                            chain,
                            chain + count,
                            chain + 2 * count,
                            chain + 3 * count,
                            chain + 4 * count,
                            chain + 5 * count,
                            chain + 6 * count,
                            0},
                  *c = &chains;
    const int tile = tile_of(p, nk);
    sum_up(p, tile, s, nk, c);
    run(p, tile, s, nk, c, until, before);
    carry(p, tile, s, nk, scale, until, x);
    for (int j = 0; j < nk; j++) {
        const int i = chain_of(p, tile, j);
        const bool masked = s[j] == -INFINITY;
        x[COLUMN_WEIGHT][j] = difference(s[j], until[j]);
        x[COLUMN_RESCALE][j] = difference(until[j], c->last[i]);
        x[COLUMN_MERGE][j] = difference(c->last[i], c->row);
        x[COLUMN_GROUP][j] = p->kind >= QUAD_LANES ? difference(c->last[i], c->tile[i]) : 0;
        x[COLUMN_SUM][j] = c->sum[i] > 0 ? log(c->sum[i]) : 0;
        x[COLUMN_LATE][j] = difference(before[j], until[j]);
        x[COLUMN_MISSED][j] = p->kind == KEYS_ALL ? difference(after(p, tile, nk, j, until), until[j]) : 0;
        x[COLUMN_EVEN][j] = difference(c->even[i], c->last[i]);
        x[COLUMN_FIRST_HALF][j] = p->kind == KEYS_TILE ? difference(c->half[i], c->last[i]) : 0;
        x[COLUMN_SCALE][j] = difference(s[j], c->row);
        x[COLUMN_ABSOLUTE][j] = fabs(s[j]) - s[j];
        x[COLUMN_CLAMPED][j] = fmax(s[j], 0) - s[j];
        for (int k = 0; k < COLUMNS && masked; k++)
            x[k][j] = 0;
    }
    free(room);
}
