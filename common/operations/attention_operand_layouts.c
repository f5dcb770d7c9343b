#include "operations/attention_head.h"
#include "operations/attention_operation.h"

#include <math.h>

int padded_columns(const struct attention_shape *s) {
    return (s->head_dim + 63) / 64 * 64;
}

// From row *r and column *c to where the kernel finds that element. A step of OPERAND_STEPS_HALVED stays in the slice.
static void find_operand(const struct variant *v, const struct attention_shape *s, enum operand_layout operand, int *r,
                         int *c) {
    int row = *r, column = *c, keys = tile_keys(v, s);
    switch (operand) {
    case OPERAND_TRANSPOSED:
        *r = row / 8 * 8 + column % 8;
        *c = column / 8 * 8 + row % 8;
        break;
    case OPERAND_MATRICES_SWAPPED:
        if ((row ^ column) & 8) {
            *r = row ^ 8;
            *c = column ^ 8;
        }
        break;
    case OPERAND_ROWS_SWAPPED:
        *r = row ^ 8;
        break;
    case OPERAND_PAIRS_SWAPPED:
        *r = row ^ 1;
        break;
    case OPERAND_SWIZZLED:
        *c = column ^ row % 8 * 8;
        break;
    case OPERAND_STEPS_HALVED:
        *c = column - column % 64 / 16 * 8;
        break;
    case OPERAND_FIRST_TILE:
        *r = row % keys;
        break;
    case OPERAND_PREVIOUS_TILE:
        *r = row < keys ? row : row - keys;
        break;
    case OPERAND_LAST_TILE:
        *r = (s->nk - 1) / keys * keys + row % keys;
        break;
    case OPERAND_NEXT_TILE:
        *r = row / keys == (s->nk - 1) / keys ? row : row + keys;
        break;
    default:
        break;
    }
}

// Out of bounds a kernel reads zeros.
static void move(struct head *h, const struct source *from, enum tensor_kind own, int n) {
    const struct attention_shape *s = &h->in->which.attention;
    struct source plain = *from;
    plain.operand = OPERAND_RIGHT;
    for (int r = 0; r < n; r++)
        for (int c = 0; c < padded_columns(s); c++) {
            int row = r, column = c;
            find_operand(h->variant, s, from->operand, &row, &column);
            float *to = &h->permuted[own - TENSOR_OF_Q][(int64_t)r * padded_columns(s) + c];
            *to = 0;
            if (row < n && column < s->head_dim) {
                struct row found = find_row(h, &plain, own, n, row);
                h->out_of_bounds |= found.out_of_bounds;
                *to = found.at[column * found.step];
            }
        }
}

void permute_elements(struct head *h) {
    const struct variant *v = h->variant;
    const struct attention_shape *s = &h->in->which.attention;
    if (v->q.operand)
        move(h, &v->q, TENSOR_OF_Q, s->nq);
    if (v->k.operand)
        move(h, &v->k, TENSOR_OF_K, s->nk);
    if (v->v.operand)
        move(h, &v->v, TENSOR_OF_V, s->nk);
}

double permuted_weight(const struct head *h, int i, int j) {
    const struct attention_shape *s = &h->in->which.attention;
    find_operand(h->variant, s, h->variant->weight_operand, &i, &j);
    if (j >= s->nk)
        return 0;
    if (i >= s->nq) // a row of zeros, which sees every key
        return 1;
    const double *score = h->score + (int64_t)i * s->nk;
    return score[j] == -INFINITY ? 0 : exp_in_fp32(score[j] - maximum_of(score, 0, s->nk, 1));
}
