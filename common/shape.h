// The shape of a problem, as text and as numbers.
#ifndef SHAPE_H
#define SHAPE_H

#include "message.h"

#include <stdint.h>

enum { MAX_HEAD_DIM = 512 };

// The row layout of a tensor.
enum layout {
    LAYOUT_BHND,    // [batch][heads][n][head_dim], what every lesson takes
    LAYOUT_BNHD,    // [batch][n][heads][head_dim], for lessons that take strides
    LAYOUT_MIXED,   // q and v as the first, k and o as the second: no tensor lies as the one before it
    LAYOUT_PADDED,  // as the first, but for the tensor whose number is stride[0]: its batches lie further apart, where
                    // stride[1] is 1 or 2 its heads, too, and where it is 2 its rows; no text names it
    LAYOUT_STRIDES, // as the three distances say, for the same
    LAYOUT_PAGES,   // decode: keys and values in pages of stride[0] keys, [page][kv_heads][key][head_dim], that a table
                    // assigns to requests; 0: a page for each request, and no table. Where stride[1] is 1, pages lie so
                    // far apart that offsets of 32 bits overflow
};

struct attention_shape {
    int batch, heads, kv_heads, nq, nk, head_dim;
    bool causal;
    enum layout layout;
    int64_t stride[3]; // of LAYOUT_PAGES: above; of LAYOUT_STRIDES: from a batch, a head, a row to the next, in
                       // elements; the same for q, k, v and o
};

struct matrix_shape {
    int64_t rows;
    int columns;
};

// What SHAPE= gives: B,H,N,D or ROWS,COLUMNS. N may be NQ:NK, and H may be HEADS:KV_HEADS.
struct shape_argument {
    bool is_matrix;
    struct attention_shape attention; // causal and layout are left 0
    struct matrix_shape matrix;       // of B,H,N,D: the rows of its scores, B*H*NQ rows of NK columns
};

bool shape_parse(const char *text, struct shape_argument *shape, struct message *error);

enum { SHAPE_TEXT = 64 };

// Writes the shape in the form that shape_parse() reads.
void shape_text(const struct attention_shape *shape, char text[SHAPE_TEXT]);

// Reads LAYOUT=: bhnd, bnhd, mixed, pages16 (of any size, and pages16-apart), apart, or three strides in elements,
// BATCH,HEAD,ROW. It sets layout and stride alone.
bool layout_parse(const char *text, struct attention_shape *shape, struct message *error);

// "", "bnhd", "mixed", "pages16", "pages16-apart", "apart" or "262144,64,1024"
enum { LAYOUT_TEXT = 72 };
void layout_text(const struct attention_shape *shape, char text[LAYOUT_TEXT]);

// The distances in elements between batches, heads and rows of a tensor of so many heads of n rows; not of
// LAYOUT_MIXED and LAYOUT_PADDED, which tell tensors apart.
void shape_strides(const struct attention_shape *shape, int heads, int n, int64_t stride[3]);

// False and one line if two elements of q, or of k, would have the same address, or if the tensor is too large for any
// device. Strides that interleave the rows of two heads are also refused, even if no two rows overlap.
bool shape_strides_disjoint(const struct attention_shape *shape, struct message *error);

// Elements of q (and o), and of k (and v).
int64_t shape_q_elements(const struct attention_shape *shape);
int64_t shape_k_elements(const struct attention_shape *shape);

// Row of q, of all batches and heads: the first row of k and v of its head.
int64_t shape_first_key(const struct attention_shape *shape, int64_t row);

// The number of keys that query `row` attends to.
int shape_attended_keys(const struct attention_shape *shape, int row);

// Floating-point operations of Q K^T and P V, without masked pairs.
double shape_flops(const struct attention_shape *shape);

// The lower bound of memory traffic: q, k and v read once, o written once.
double shape_bytes(const struct attention_shape *shape, size_t element_bytes);

#endif
