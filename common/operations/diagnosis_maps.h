// Index maps: from where, instead of its own place, a kernel takes a row, a key or a column.
#ifndef OPERATIONS_DIAGNOSIS_MAPS_H
#define OPERATIONS_DIAGNOSIS_MAPS_H

#include <stdbool.h>
#include <stddef.h>

enum map_kind {
    MAP_SHIFT,    // i + n, and by m what becomes of places outside
    MAP_XOR,      // i ^ n
    MAP_MODULO,   // i % n, and nothing from m on unless that is 0
    MAP_FIRST,    // i / n * n, the first of each n
    MAP_LAST,     // the last of each n
    MAP_PREVIOUS, // i - n, and i for the first n
    MAP_NEXT,     // i + n, and i for the last ones
    MAP_QUOTIENT, // i / n
    MAP_BITS,     // bits n and m exchanged
    MAP_END,      // i % n of the last tile of n
    MAP_REVERSE,  // the other way round
    MAP_CLEAR,    // i & ~n
    MAP_ROTATE,   // the next one of each n, after the last one the first
    MAP_HALF,     // within m places steps of n begin n / 2 apart
    MAP_KINDS
};

enum shift_end { SHIFT_LOSES, SHIFT_STOPS, SHIFT_WRAPS };

struct index_map {
    enum map_kind kind;
    int n, m;
};

// The maps that are worth trying for `count` places, the likeliest first. Returns how many.
enum { MOST_MAPS = 256 };
int maps_of(int count, struct index_map *maps /* [MOST_MAPS] */);

// Where place i is taken from; -1: from outside.
int map_of(const struct index_map *map, int i, int count);

// Whether no two places are taken from one.
bool map_is_permutation(const struct index_map *map);

// "i - 16 (the previous tile; the first 16 have their own)": the place that i is taken from.
void map_text(const struct index_map *map, char *text, size_t size);

// Bits that say which map it is.
double map_cost(const struct index_map *map);

#endif
