#include "operations/attention_operation.h"
#include "operations/case_list.h"

#include <math.h>

static const int ragged[] = {1, 31, 33, 63, 64, 65, 127, 129, 191, 193, 1000};
static const int head_dims[] = {1, 6, 8, 31, 32, 40, 64, 70, 72, 80, 96, 128, 192, 256, 300, 512};
// Both ends of what a kernel may round a head_dim to: multiples of 4, 16 and 32, and the next power of two.
static const int between[] = {16, 33, 48, 65, 104, 129, 136, 160, 248, 257, 384, 511};
// nk - nq, by which the diagonal lies differently in a tile of 16, 32 or 64.
static const int residues[] = {0, 1, 2, 5, 8, 15, 16, 17, 24, 31, 32, 33, 40, 47, 48, 56, 63};
static const int slow_head_dims[] = {40, 64, 128};
static const float scales[] = {0.3f, 1, -4, 0};
static const enum input_family hostile[] = {
    INPUTS_LARGE,          INPUTS_DOMINANT_FIRST, INPUTS_DOMINANT_LAST, INPUTS_DOMINANT_EDGE, INPUTS_RISING,
    INPUTS_CONSTANT_VALUE, INPUTS_NAN_KEY,        INPUTS_NAN_VALUE,     INPUTS_INF_KEY,       INPUTS_INF_VALUE,
    INPUTS_OFFSET,         INPUTS_TINY,           INPUTS_CROWD,         INPUTS_LOW,           INPUTS_STEEP,
    INPUTS_EQUAL,          INPUTS_EQUAL_BUT_ONE};
static const enum input_family hostile_causal[] = {INPUTS_LARGE, INPUTS_RISING};

static void add_hostile(struct list *list, int batch, int heads, int nq, int nk, int head_dim) {
    for (int i = 0; i < COUNT(hostile); i++)
        add(list, batch, heads, nq, nk, head_dim)->family = hostile[i];
    // Square, so that the first queries see few keys: what is hidden from them must not show through.
    for (int i = 0; i < COUNT(hostile_causal); i++)
        add_causal(list, batch, heads, nk / 2, nk / 2, head_dim)->family = hostile_causal[i];
}

// Scores that grow by some 6 every 64 keys, from either end: a maximum that is raised too late has weights over fp16's
// range, and none that is over that of a later one. factor: of what the family adds to a score.
static void add_slow(struct list *list, int head_dim, enum input_family family, float factor) {
    struct problem_case *c = add(list, 1, 1, 5, 300, head_dim);
    c->family = family;
    scale_by(c, factor / sqrtf((float)head_dim));
}

// Layouts and head groups that only some lessons take.
static void add_general(struct list *list, int n) {
    add(list, 2, 3, n, n + 3, 40)->attention.layout = LAYOUT_BNHD;
    struct problem_case *c = add(list, 1, 2, n, n, 64);
    c->attention.layout = LAYOUT_BNHD;
    c->attention.causal = true;
    add(list, 1, 4, n, n, 32)->attention.kv_heads = 1;
    add(list, 2, 8, n, n, 64)->attention.kv_heads = 2;
    add(list, 1, 8, 5, n + 2, 64)->attention.kv_heads = 4;
    add(list, 1, 16, 3, n, 40)->attention.kv_heads = 8;
    // Keys in shorter rows than the queries, and more of them than a tile has.
    c = add(list, 1, 4, 5, 9 * n, 64);
    c->attention.kv_heads = 2;
    c->attention.layout = LAYOUT_BNHD;
    // All at once, and rows that see nothing.
    c = add(list, 2, 8, n + 4, n, 64);
    c->attention.kv_heads = 4;
    c->attention.layout = LAYOUT_BNHD;
    c->attention.causal = true;
    // q, k and v as one tensor [batch][n][3][heads][head_dim]: rows with the other two between them.
    c = add(list, 2, 2, n, n, 64);
    c->attention.layout = LAYOUT_STRIDES;
    c->attention.stride[2] = 3 * 2 * 64;
    c->attention.stride[1] = 64;
    c->attention.stride[0] = n * c->attention.stride[2];
    // Rows of 64 elements that begin at multiples of 4 of them and of no more: wide loads would be misaligned.
    c = add(list, 2, 2, n, n, 64);
    c->attention.layout = LAYOUT_STRIDES;
    c->attention.stride[2] = 68;
    c->attention.stride[1] = n * c->attention.stride[2];
    c->attention.stride[0] = 2 * c->attention.stride[1];
}

// What two properties do to each other: a head_dim between the usual ones, where the diagonal lies in a tile, how many
// heads.
static void add_between(struct list *list, int nq, int step) {
    for (int i = 0; i < COUNT(between); i++)
        add(list, 1, 1 + i % 2, nq + i % 4, nq + i % 4 + residues[5 * i % COUNT(residues)], between[i]);
    for (int r = 0; r < 64; r += step) {
        int residue = step == 1 ? r : residues[COUNT(residues) - 1 - r / step % COUNT(residues)];
        add_causal(list, 1, 1, nq + r % 3, nq + r % 3 + residue, between[r % COUNT(between)] & ~7);
    }
}

static void build_simulator(struct list *list) {
    // Small ones first, so that a mistake is found at once; few queries where the keys are many.
    add(list, 1, 1, 1, 1, 64);
    add(list, 1, 1, 31, 31, 32);
    add(list, 1, 1, 33, 33, 32);
    add(list, 1, 1, 63, 63, 64);
    add(list, 1, 1, 64, 64, 64);
    add(list, 1, 1, 65, 65, 64);
    // A tensor that is whole float4s, in rows that are not.
    add(list, 1, 1, 64, 64, 31);
    add(list, 2, 3, 17, 33, 40);
    add(list, 3, 1, 9, 20, 64);
    add(list, 1, 1, 129, 3, 64);
    add(list, 1, 1, 193, 1, 32);
    for (int i = 0; i < COUNT(head_dims); i++)
        add(list, 1, 2, 5, 37, head_dims[i]);
    for (int i = 0; i < COUNT(head_dims); i += 3)
        scale_by(add(list, 1, 1, 37, 66, head_dims[i]), scales[i / 3 % COUNT(scales)]);
    // Scores that lie far apart, in every type: a weight that may be larger than 1 must not be too large for 16 bits.
    scale_by(add(list, 1, 1, 37, 200, 64), 4);
    add_causal(list, 1, 1, 1, 1, 32);
    add_causal(list, 1, 1, 33, 33, 64);
    scale_by(add_causal(list, 1, 2, 65, 65, 32), -4);
    // A tile's last key hidden from the first of its rows, and that alone.
    add_causal(list, 1, 1, 10, 72, 64);
    add_causal(list, 1, 1, 70, 10, 64);
    add_causal(list, 2, 2, 5, 129, 72);
    // The diagonal enters a tile between the rows of one group of 64, and between those of the last one of 192.
    add_causal(list, 1, 1, 64, 144, 64);
    add_causal(list, 1, 1, 192, 202, 64);
    add_causal(list, 1, 1, 1, 65, 128);
    add_causal(list, 1, 1, 67, 66, 300);
    add_hostile(list, 1, 2, 9, 70, 64);
    add_general(list, 19);
    // Rows of each tensor lie otherwise than those of another, over several tiles of keys.
    struct problem_case *c = add(list, 2, 6, 5, 150, 40);
    c->attention.kv_heads = 2;
    c->attention.layout = LAYOUT_MIXED;
    // The same for kernels that do not share heads.
    add(list, 2, 3, 19, 40, 64)->attention.layout = LAYOUT_MIXED;
    add_between(list, 3, 4);
    add(list, 1, 1, 127, 127, 128);
    add(list, 1, 1, 129, 129, 64);
    add(list, 1, 1, 33, 191, 64);
    add(list, 1, 1, 35, 193, 80);
    add(list, 1, 1, 5, 1000, 64);
    // A block's next item has the same head of another batch, and all its keys in one tile.
    add(list, 4, 1, 70, 16, 32);
    add_causal(list, 1, 1, 129, 129, 64);
    add_causal(list, 1, 1, 34, 191, 128);
    // More tiles of 32 keys than a warp has lanes.
    add(list, 1, 1, 3, 1100, 64);
    add(list, 1, 1, 2, 1100, 64)->family = INPUTS_RISING;
    for (int i = 0; i < COUNT(slow_head_dims); i++) {
        add_slow(list, slow_head_dims[i], INPUTS_RISING, 0.39f);
        add_slow(list, slow_head_dims[i], INPUTS_FALLING, 0.26f);
    }
    // Long ones in one direction, at odd lengths: more queries than a block has threads, more keys than there is room
    // for scores in 48 KB.
    add(list, 1, 1, 1061, 5, 16);
    add_causal(list, 1, 1, 1030, 7, 32);
    add(list, 1, 1, 2, 577, 128);
    add(list, 1, 2, 1, 2051, 40)->family = INPUTS_CROWD;
    add(list, 1, 1, 2, 4133, 32)->family = INPUTS_EQUAL_BUT_ONE;
    add(list, 1, 1, 1, 12301, 8);
    // One query in each of many heads, whose scores are large: what is left of the head before shows.
    add(list, 3, 45, 1, 65, 40)->family = INPUTS_LARGE;
    // Enough heads to fill a GPU: a kernel that chooses its tile by that takes a larger one, and its blocks go from one
    // tile to the next. Of 128 queries and 64 keys there are two tiles, then three, for each head, so that blocks which
    // are given two of them end in the middle; and in the first two, some queries see no key.
    add_causal(list, 1, 60, 140, 130, 40);
    // More heads than twice a GPU's multiprocessors: blocks that stay take three of them.
    add_causal(list, 1, 270, 2, 70, 8);
    // For a kernel that starts with the last keys, the maximum grows from far below 0 to less far.
    add(list, 1, 2, 3, 283, 64)->family = INPUTS_FALLING;
    // And for a kernel that starts with the first keys: from so far below 0 that exp(-maximum) is infinite.
    add(list, 1, 2, 3, 283, 64)->family = INPUTS_LATE;
    add(list, 1, 3, 16, 640, 64)->family = INPUTS_TWINS;
    // Keys that all queries see, by more than a tile of any size.
    add_causal(list, 1, 1, 5, 300, 64);
    add_causal(list, 1, 1, 20, 530, 128);
    // Rows so far apart that an offset of 32 bits overflows: signed, from batch to batch, and of any kind, from head to
    // head. The simulator has memory for the rows alone.
    c = add(list, 2, 2, 5, 9, 32);
    c->attention.layout = LAYOUT_STRIDES;
    c->attention.stride[2] = 32;
    c->attention.stride[1] = 9 * 32;
    c->attention.stride[0] = 2200000000;
    c = add(list, 2, 3, 9, 5, 64);
    c->attention.layout = LAYOUT_STRIDES;
    c->attention.stride[2] = 64;
    c->attention.stride[0] = 9 * 64;
    c->attention.stride[1] = 4400000000;
    // The maximum grows by much from one tile of 64 keys to the next, and by little to the last.
    add(list, 1, 60, 3, 283, 64)->family = INPUTS_RISING;
    // More heads, and more rows, than a grid may have in two of its directions. With one key all rows of a head would
    // be the same. Last, since of what is run in part the diagnosis sees least.
    add(list, 257, 257, 1, 2, 8);
    add(list, 1, 1, 65600, 2, 8);
}

static void build_gpu(struct list *list) {
    for (int i = 0; i < COUNT(ragged); i++) {
        add(list, 1, 2, ragged[i], ragged[i], 64);
        add(list, 2, 1, ragged[i], ragged[COUNT(ragged) - 1 - i], 128);
    }
    for (int i = 0; i < COUNT(head_dims); i++) {
        add(list, 2, 3, 65, 129, head_dims[i]);
        scale_by(add(list, 1, 1, 257, 100, head_dims[i]), scales[i % COUNT(scales)]);
    }
    scale_by(add(list, 1, 4, 130, 1000, 64), 4);
    add(list, 3, 5, 17, 1000, 40);
    add(list, 1, 1, 1, 4096, 64);
    add(list, 1, 1, 4096, 1, 64);
    for (int i = 0; i < COUNT(ragged); i++) {
        add_causal(list, 1, 2, ragged[i], ragged[i], 64);
        add_causal(list, 2, 1, ragged[i], ragged[COUNT(ragged) - 1 - i], i % 2 ? 128 : 72);
    }
    add_hostile(list, 2, 8, 129, 193, 64);
    add_hostile(list, 1, 3, 70, 1000, 96);
    add_general(list, 193);
    // Large: the reference takes a sample of the rows.
    add(list, 1, 16, 4096, 4096, 128);
    add_causal(list, 1, 4, 4096, 4096, 64);
    add(list, 4, 16, 1024, 1024, 64);
    add(list, 1, 1, 8192, 8192, 64);
    // Many tiles of keys for each thread of a query, and maxima that still grow in late tiles.
    add(list, 1, 16, 2048, 2011, 64)->family = INPUTS_RISING;
    add(list, 1, 16, 2048, 2048, 128)->family = INPUTS_LARGE;
    add_causal(list, 1, 60, 140, 130, 40);
    add_between(list, 67, 1);
    add(list, 1, 1, 3, 2051, 40)->family = INPUTS_CROWD;
    add(list, 1, 4, 70, 4133, 128)->family = INPUTS_EQUAL_BUT_ONE;
    add(list, 1, 1, 9, 12301, 64);
    add(list, 8, 64, 1, 577, 128);
    add(list, 1, 4, 67, 1031, 64)->family = INPUTS_FALLING;
    add(list, 1, 4, 67, 1031, 64)->family = INPUTS_LATE;
    add(list, 1, 3, 64, 640, 64)->family = INPUTS_TWINS;
    add(list, 1, 3, 64, 640, 128)->family = INPUTS_TWINS;
    add(list, 1, 3, 64, 1930, 40)->family = INPUTS_TWINS;
    // More heads than SMs, of whose queries the first 64 see one tile of keys less than the last: blocks
    // that stay pass by a tile in their second item.
    add_causal(list, 1, 280, 66, 66, 64);
    struct problem_case *c = add(list, 2, 6, 65, 1000, 128);
    c->attention.kv_heads = 2;
    c->attention.layout = LAYOUT_MIXED;
    add(list, 2, 300, 65, 130, 64)->family = INPUTS_LARGE;
    // More heads, and more rows, than a grid may have in two of its directions.
    add(list, 257, 257, 1, 3, 8);
    add(list, 1, 1, 70000, 3, 8);
    // More than 2^31 elements: an offset of 32 bits overflows. In scores kept in a workspace, in k and v, in q and o.
    add(list, 1, 32, 8200, 8200, 32);
    add(list, 33, 32, 1, 4096, 512);
    add(list, 33, 32, 4096, 8, 512);
}

static void build_quick(struct list *list) {
    add(list, 1, 1, 33, 65, 64);
    add(list, 2, 2, 5, 37, 39);
    add(list, 1, 1, 3, 129, 128);
    add_causal(list, 1, 2, 10, 35, 64);
    add_causal(list, 1, 1, 20, 10, 32);
    add(list, 1, 2, 5, 70, 64)->family = INPUTS_LARGE;
    add(list, 1, 1, 5, 70, 64)->family = INPUTS_RISING;
    // More tiles of keys than a pipeline has stages, and more work tiles than a GPU has SMs.
    add(list, 1, 1, 3, 520, 64);
    add(list, 1, 1, 3, 520, 128);
    add(list, 1, 140, 1, 9, 64);
}

int attention_cases(enum matrix_kind kind, struct problem_case cases[MAX_CASES]) {
    struct list list = {cases, 0};
    (kind == MATRIX_GPU ? build_gpu : kind == MATRIX_SIMULATOR ? build_simulator : build_quick)(&list);
    return list.count;
}
