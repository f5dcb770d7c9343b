// The list in which an operation with the shape of attention collects its cases.
#ifndef OPERATIONS_CASE_LIST_H
#define OPERATIONS_CASE_LIST_H

#include "host/matrix.h"

#include <assert.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

struct list {
    struct problem_case *cases;
    int count;
};

static inline struct problem_case *add(struct list *list, int batch, int heads, int nq, int nk, int head_dim) {
    assert(list->count < MAX_CASES);
    struct problem_case *c = &list->cases[list->count++];
    *c = (struct problem_case){.attention = {batch, heads, heads, nq, nk, head_dim, .layout = LAYOUT_BHND}};
    return c;
}

static inline struct problem_case *add_causal(struct list *list, int batch, int heads, int nq, int nk, int head_dim) {
    struct problem_case *c = add(list, batch, heads, nq, nk, head_dim);
    c->attention.causal = true;
    return c;
}

// A scale that is not 1 / sqrt(head_dim), for cases that are there for their shape.
static inline void scale_by(struct problem_case *c, float scale) {
    c->has_scale = true;
    c->scale = scale;
}

#endif
