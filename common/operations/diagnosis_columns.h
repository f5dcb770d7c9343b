// The columns of the linear model of wrong weights:
//
//     log(observed / right)[row][key] = c[row] + sum over k of a[k] X[k][row][key]
//
// X[k] is a difference of maxima, or the logarithm of a sum, under a partition of the keys into chains. A chain has a
// running maximum, which is raised tile by tile.
#ifndef OPERATIONS_DIAGNOSIS_COLUMNS_H
#define OPERATIONS_DIAGNOSIS_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

// Which keys share a chain.
enum partition_kind {
    KEYS_ALL,     // all keys of the row
    KEYS_TILE,    // those of a tile
    KEYS_MODULO,  // key % ways, as threads or lanes take keys in turn
    TILES_MODULO, // tile % ways, as warps take tiles in turn
    KEYS_SPLIT,   // a contiguous part of the row, of `ways` equal parts
    QUAD_LANES,   // within a tile key % 8 / 2, the lane of a quad that holds the key in the accumulator of an mma
    QUAD_PAIRS,   // within a tile key % 8 / 4, two neighbouring lanes of the quad
    QUAD_HALVES,  // within a tile key % 4 / 2, every second lane of the quad
    TILE_MODULO,  // within a tile key % ways
    PARTITION_KINDS
};

struct partition {
    enum partition_kind kind;
    int tile;       // keys between two updates of the maximum
    int ways;       // of those kinds that have it
    bool backwards; // the last tile comes first
};

// The simplest first. Returns how many of them tell keys of a row of nk apart.
enum { MOST_PARTITIONS = 160 };
int partitions_of(int nk, struct partition *partitions /* [MOST_PARTITIONS] */);

// "tile of 32 keys", "group of keys j, j + 32, ...": one chain, as a sentence calls it.
void partition_text(const struct partition *partition, char *text, size_t size);

enum column_name {
#define COLUMN(name, meaning) COLUMN_##name,
#include "operations/diagnosis_columns.def"
#undef COLUMN
    COLUMNS
};

// Fills the columns of a row of scaled scores, -infinity where a key is masked; a masked key's are 0. scale: the factor
// between a dot product and its score.
void columns_fill(const struct partition *partition, const double *score /* [nk] */, int nk, double scale,
                  double *const column[COLUMNS] /* [nk] each */);

#endif
