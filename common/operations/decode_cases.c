#include "operations/decode_operation.h"

#include <assert.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

// Lengths around the tiles of 16 to 128 keys that a kernel may have.
static const int lengths[] = {1, 2, 15, 16, 17, 63, 64, 65, 127, 128, 129, 200, 257};
static const enum input_family hostile[] = {
    INPUTS_LARGE,     INPUTS_DOMINANT_FIRST, INPUTS_DOMINANT_LAST, INPUTS_DOMINANT_EDGE,
    INPUTS_RISING,    INPUTS_NAN_KEY,        INPUTS_NAN_VALUE,     INPUTS_INF_KEY,
    INPUTS_INF_VALUE, INPUTS_OFFSET,         INPUTS_CROWD,         INPUTS_LOW,
    INPUTS_STEEP,     INPUTS_FALLING,        INPUTS_EQUAL_BUT_ONE, INPUTS_LATE,
    INPUTS_TWINS,     INPUTS_TINY,           INPUTS_CONSTANT_VALUE};
static const int page_sizes[] = {16, 32, 48, 64, 80, 128};

struct list {
    struct problem_case *cases;
    int count;
};

static struct problem_case *add(struct list *list, int batch, int heads, int kv_heads, int nq, int nk, int head_dim,
                                enum input_family family) {
    assert(list->count < MAX_CASES);
    struct problem_case *c = &list->cases[list->count++];
    *c = (struct problem_case){.attention = {batch, heads, kv_heads, nq, nk, head_dim}, .family = family};
    return c;
}

static void paged(struct problem_case *c, int page_size) {
    c->attention.layout = LAYOUT_PAGES;
    c->attention.stride[0] = page_size;
}

static struct problem_case *causal(struct problem_case *c) {
    c->attention.causal = true;
    return c;
}

// factor: how many times as long the longer cases are on a GPU.
static void build(struct list *list, int factor) {
    for (int i = 0; i < COUNT(lengths); i++)
        add(list, 1, 4, 1 + i % 2, 1, lengths[i], i % 3 ? 64 : 128, INPUTS_NORMAL);
    // Groups: as many heads as a tile has rows, more, and none.
    add(list, 2, 8, 1, 1, 90, 128, INPUTS_RAGGED);
    add(list, 2, 3, 3, 1, 70, 64, INPUTS_RAGGED);
    add(list, 1, 10, 2, 3, 130, 64, INPUTS_NORMAL);
    add(list, 1, 24, 2, 1, 100, 64, INPUTS_NORMAL);
    add(list, 1, 16, 2, 4, 75, 128, INPUTS_NORMAL);
    add(list, 1, 8, 1, 16, 140, 64, INPUTS_NORMAL);
    add(list, 2, 2, 1, 5, 60, 48, INPUTS_RAGGED);
    add(list, 1, 2, 2, 1, 40, 16, INPUTS_NORMAL);
    add(list, 1, 2, 1, 2, 70, 112, INPUTS_NORMAL);
    causal(add(list, 1, 4, 1, 5, 70, 64, INPUTS_NORMAL));
    causal(add(list, 6, 8, 2, 16, 80, 64, INPUTS_RAGGED)); // also fewer keys than queries
    causal(add(list, 3, 2, 1, 2, 66, 128, INPUTS_LARGE));
    // Batches: ragged, all ends of it, more requests than a warp has lanes, more shares than one in a request.
    add(list, 9, 4, 2, 1, 300, 64, INPUTS_RAGGED);
    add(list, 40, 2, 1, 1, 70, 64, INPUTS_RAGGED);
    add(list, 70, 2, 2, 1, 33, 16, INPUTS_HALVING);
    // More work than blocks, of more tiles than a pipeline has stages.
    add(list, 20, 16, 16, 1, 256, 80, INPUTS_NORMAL);
    add(list, 30, 10, 10, 1, 300, 16, INPUTS_RAGGED);
    add(list, 5, 8, 2, 2, 700 * factor, 64, INPUTS_ONE_LONG);
    add(list, 1, 4, 1, 1, 9000 * factor, 64, INPUTS_NORMAL);
    add(list, 2, 8, 8, 1, 2100 * factor, 128, INPUTS_HALVING);
    add(list, 3, 2, 2, 1, 6000 * factor, 16, INPUTS_RISING);
    add(list, 3, 2, 2, 1, 6000 * factor, 16, INPUTS_FALLING);
    add(list, 2, 4, 2, 3, 1500 * factor, 64, INPUTS_LOW);
    for (int i = 0; i < COUNT(hostile); i++)
        add(list, 2, 4, 2, 1 + i % 3, 200, 64, hostile[i]);
    add(list, 8, 4, 2, 2, 150, 64, INPUTS_BAD_LENGTH);
    const float scales[] = {0.3f, 1, -4, 0};
    for (int i = 0; i < COUNT(scales); i++) {
        struct problem_case *c = add(list, 1, 4, 2, 1, 90 + i, 64, INPUTS_NORMAL);
        c->has_scale = true;
        c->scale = scales[i];
    }
    for (int i = 0; i < COUNT(page_sizes); i++) {
        paged(add(list, 3, 4, 2, 1 + i, 330, i % 2 ? 64 : 128, INPUTS_RAGGED), page_sizes[i]);
        paged(add(list, 2, 2, 2, 1, page_sizes[i], 64, INPUTS_NORMAL), page_sizes[i]);
    }
    paged(add(list, 2, 8, 2, 1, 3000 * factor, 128, INPUTS_HALVING), 16);
    paged(add(list, 70, 1, 1, 1, 1200, 16, INPUTS_NORMAL), 16); // shares of more pages than a warp has lanes
    paged(add(list, 4, 8, 1, 1, 1100 * factor, 64, INPUTS_ONE_LONG), 64);
    paged(causal(add(list, 3, 8, 2, 4, 150, 64, INPUTS_RAGGED)), 16);
    paged(add(list, 3, 4, 2, 1, 200, 64, INPUTS_LARGE), 32);
    paged(add(list, 2, 4, 2, 1, 200, 64, INPUTS_NAN_VALUE), 16);
    paged(add(list, 8, 4, 2, 2, 150, 64, INPUTS_BAD_LENGTH), 16);
    paged(add(list, 8, 4, 2, 2, 150, 64, INPUTS_BAD_PAGE), 16);
    paged(add(list, 5, 2, 1, 1, 700, 128, INPUTS_BAD_PAGE), 64);
}

static void build_quick(struct list *list) {
    add(list, 1, 4, 2, 1, 65, 64, INPUTS_NORMAL);
    add(list, 9, 8, 2, 1, 150, 64, INPUTS_RAGGED);
    add(list, 2, 4, 1, 3, 2100, 128, INPUTS_HALVING);
    add(list, 1, 8, 2, 6, 90, 64, INPUTS_LARGE);
    causal(add(list, 6, 4, 2, 4, 40, 64, INPUTS_RAGGED));
    add(list, 1, 2, 1, 1, 9000, 16, INPUTS_RISING);
    add(list, 4, 4, 2, 1, 70, 64, INPUTS_BAD_LENGTH);
    paged(add(list, 4, 4, 2, 2, 330, 64, INPUTS_RAGGED), 16);
    paged(add(list, 2, 4, 2, 1, 1300, 128, INPUTS_NORMAL), 64);
    paged(add(list, 4, 4, 2, 1, 90, 64, INPUTS_BAD_PAGE), 16);
}

int decode_cases(enum matrix_kind kind, struct problem_case cases[MAX_CASES]) {
    struct list list = {cases, 0};
    if (kind == MATRIX_QUICK) {
        build_quick(&list);
        return list.count;
    }
    build(&list, kind == MATRIX_GPU ? 4 : 1);
    if (kind == MATRIX_GPU) {
        add(&list, 64, 32, 8, 1, 8192, 128, INPUTS_RAGGED);
        paged(add(&list, 32, 64, 8, 1, 4096, 128, INPUTS_ONE_LONG), 16);
        // More than 2^31 elements of keys: an offset of 32 bits overflows.
        add(&list, 40, 8, 8, 1, 65536, 128, INPUTS_HALVING);
        paged(add(&list, 40, 8, 8, 1, 65536, 128, INPUTS_HALVING), 64);
        return list.count;
    }
    // The same: the simulator has memory for the rows alone, where pages lie far apart.
    struct problem_case *c = add(&list, 2, 2, 1, 1, 100, 64, INPUTS_RAGGED);
    paged(c, 16);
    c->attention.stride[1] = 1;
    c = add(&list, 3, 2, 1, 1, 70, 64, INPUTS_NORMAL);
    paged(c, 0);
    c->attention.stride[1] = 1;
    return list.count;
}
