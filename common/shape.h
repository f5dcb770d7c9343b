// The shape of a problem, as people write it and as the harness counts with it.
#ifndef SHAPE_H
#define SHAPE_H

#include "message.h"

#include <stdint.h>

enum { MAX_HEAD_DIM = 512 };

enum layout {
    LAYOUT_BHND, // [batch][heads][n][head_dim], what every lesson takes
    LAYOUT_BNHD, // [batch][n][heads][head_dim], for lessons that take strides
};

struct attention_shape {
    int batch, heads, kv_heads, nq, nk, head_dim;
    bool causal;
    enum layout layout;
};

struct softmax_shape {
    int64_t rows;
    int columns;
};

// What SHAPE= gives: B,H,N,D or ROWS,COLUMNS. N may be NQ:NK, and H may be HEADS:KV_HEADS.
struct shape_argument {
    bool is_matrix;
    struct attention_shape attention; // causal and layout are left 0
    struct softmax_shape softmax;     // of B,H,N,D: the rows of its scores, B*H*NQ rows of NK columns
};

bool shape_parse(const char *text, struct shape_argument *shape, struct message *error);

enum { SHAPE_TEXT = 64 };

// Writes the shape as shape_parse() reads it.
void shape_text(const struct attention_shape *shape, char text[SHAPE_TEXT]);

// Elements of q (and o), and of k (and v).
int64_t shape_q_elements(const struct attention_shape *shape);
int64_t shape_k_elements(const struct attention_shape *shape);

// How many keys query row sees.
int shape_visible_keys(const struct attention_shape *shape, int row);

// Floating-point operations of the two products, masked pairs left out.
double shape_flops(const struct attention_shape *shape);

// The bytes that must move at least: q, k and v read once, o written once, fp32.
double shape_bytes(const struct attention_shape *shape);

#endif
