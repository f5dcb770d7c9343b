#include "operations/backward_operation.h"
#include "operations/case_list.h"

static const int ragged[] = {1, 31, 33, 63, 64, 65, 127, 129, 191, 193};
static const int head_dims[] = {1, 6, 8, 31, 32, 40, 64, 70, 72, 96, 104, 128, 136, 192, 200, 256};
// nk - nq, by which the diagonal lies differently in a tile.
static const int residues[] = {0, 1, 7, 16, 31, 33, 63};
static const float scales[] = {0.3f, 1, -0.5f, 0};
static const enum input_family hostile[] = {
    INPUTS_LARGE,          INPUTS_DOMINANT_FIRST, INPUTS_DOMINANT_LAST, INPUTS_DOMINANT_EDGE, INPUTS_RISING,
    INPUTS_CONSTANT_VALUE, INPUTS_OFFSET,         INPUTS_TINY,          INPUTS_CROWD,         INPUTS_LOW,
    INPUTS_STEEP,          INPUTS_LATE,           INPUTS_EQUAL};

static void add_hostile(struct list *list, int batch, int heads, int nq, int nk, int head_dim) {
    for (int i = 0; i < COUNT(hostile); i++)
        add(list, batch, heads, nq, nk, head_dim)->family = hostile[i];
    add_causal(list, batch, heads, nk / 2, nk / 2, head_dim)->family = INPUTS_LARGE;
}

// Layouts and head groups that only some lessons take.
static void add_general(struct list *list, int n) {
    add(list, 2, 3, n, n + 3, 40)->attention.layout = LAYOUT_BNHD;
    add_causal(list, 1, 2, n, n, 64)->attention.layout = LAYOUT_BNHD;
    add(list, 1, 4, n, n, 32)->attention.kv_heads = 1;
    add(list, 2, 8, n, n, 64)->attention.kv_heads = 2;
    add_causal(list, 1, 6, 70, n + 70, 64)->attention.kv_heads = 2;
    add(list, 2, 3, n, 3 * n, 40)->attention.layout = LAYOUT_MIXED;
    struct problem_case *c = add(list, 2, 6, n, 150, 40);
    c->attention.kv_heads = 2;
    c->attention.layout = LAYOUT_MIXED;
    // All at once, and queries that see nothing.
    c = add_causal(list, 2, 8, n + 4, n, 64);
    c->attention.kv_heads = 4;
    c->attention.layout = LAYOUT_BNHD;
    // q, k and v as one tensor [batch][n][3][heads][head_dim].
    c = add(list, 2, 2, n, n, 64);
    c->attention.layout = LAYOUT_STRIDES;
    c->attention.stride[2] = 3 * 2 * 64;
    c->attention.stride[1] = 64;
    c->attention.stride[0] = n * c->attention.stride[2];
}

static void build_simulator(struct list *list) {
    add(list, 1, 1, 1, 1, 64);
    add(list, 1, 1, 33, 33, 32);
    add(list, 1, 1, 64, 64, 64);
    add(list, 1, 1, 65, 65, 64);
    add(list, 2, 3, 17, 33, 40);
    add(list, 1, 1, 129, 3, 64);
    add(list, 1, 1, 3, 193, 32);
    for (int i = 0; i < COUNT(head_dims); i++)
        add(list, 1, 2, 21, 37, head_dims[i]);
    for (int i = 0; i < COUNT(scales); i++)
        scale_by(add(list, 1, 1, 37, 66, head_dims[2 + 4 * i]), scales[i]);
    add_causal(list, 1, 1, 1, 1, 32);
    add_causal(list, 1, 1, 33, 33, 64);
    scale_by(add_causal(list, 1, 2, 65, 65, 32), -0.5f);
    add_causal(list, 1, 1, 10, 72, 64);
    add_causal(list, 1, 1, 70, 10, 64);
    add_causal(list, 1, 1, 150, 10, 128);
    add_causal(list, 2, 2, 5, 129, 72);
    add_causal(list, 1, 1, 192, 202, 64);
    for (int i = 0; i < COUNT(residues); i++)
        add_causal(list, 1, 1, 66 + i, 66 + i + residues[i], i % 2 ? 64 : 128);
    add_hostile(list, 1, 2, 9, 70, 64);
    add_general(list, 19);
    add(list, 1, 1, 127, 127, 128);
    add(list, 1, 1, 129, 129, 64);
    add_causal(list, 1, 1, 257, 257, 64);
    add_causal(list, 1, 1, 200, 200, 128);
    add(list, 1, 1, 321, 130, 128);
    add(list, 1, 2, 130, 400, 64);
    // More work tiles than a GPU has SMs.
    add_causal(list, 1, 140, 66, 70, 40);
    add(list, 1, 1, 512, 512, 64);
}

static void build_gpu(struct list *list) {
    for (int i = 0; i < COUNT(ragged); i++) {
        add(list, 1, 2, ragged[i], ragged[i], 64);
        add(list, 2, 1, ragged[i], ragged[COUNT(ragged) - 1 - i], 128);
        add_causal(list, 1, 2, ragged[i], ragged[i], 64);
        add_causal(list, 2, 1, ragged[i], ragged[COUNT(ragged) - 1 - i], i % 2 ? 128 : 72);
    }
    for (int i = 0; i < COUNT(head_dims); i++) {
        add(list, 2, 3, 65, 129, head_dims[i]);
        scale_by(add_causal(list, 1, 1, 257, 300, head_dims[i]), scales[i % COUNT(scales)]);
    }
    add_hostile(list, 2, 8, 129, 193, 64);
    add_hostile(list, 1, 3, 70, 1000, 96);
    add_general(list, 193);
    for (int r = 0; r < 64; r++)
        add_causal(list, 1, 1, 67 + r % 3, 67 + r % 3 + r, r % 2 ? 64 : 128);
    add(list, 1, 16, 4096, 4096, 128);
    add_causal(list, 1, 4, 4096, 4096, 64);
    add(list, 4, 16, 1024, 1024, 64);
    add(list, 1, 1, 8192, 8192, 64);
    add_causal(list, 1, 280, 66, 66, 64);
    struct problem_case *c = add(list, 2, 6, 65, 1000, 128);
    c->attention.kv_heads = 2;
    c->attention.layout = LAYOUT_MIXED;
    // More than 2^31 elements in q and o.
    add(list, 33, 32, 4096, 8, 512);
    add(list, 65, 64, 4096, 8, 128);
}

static void build_quick(struct list *list) {
    add(list, 1, 1, 33, 65, 64);
    add(list, 2, 2, 5, 37, 39);
    add(list, 1, 1, 70, 129, 128);
    add_causal(list, 1, 2, 10, 35, 64);
    add_causal(list, 1, 1, 140, 70, 64);
    add(list, 1, 2, 5, 70, 64)->family = INPUTS_LARGE;
    add(list, 1, 4, 40, 70, 64)->attention.kv_heads = 2;
}

int backward_cases(enum matrix_kind kind, struct problem_case cases[MAX_CASES]) {
    struct list list = {cases, 0};
    (kind == MATRIX_GPU ? build_gpu : kind == MATRIX_SIMULATOR ? build_simulator : build_quick)(&list);
    return list.count;
}
