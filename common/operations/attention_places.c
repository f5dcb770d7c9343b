#include "operations/attention_head.h"
#include "operations/attention_operation.h"

#include <math.h>

int padded_columns(const struct attention_shape *s) {
    return (s->head_dim + 63) / 64 * 64;
}

// From row *r and column *c to where the kernel finds that element. A step of PLACE_STEPS_HALVED stays in the slice.
static void find_place(const struct variant *v, const struct attention_shape *s, enum place_kind place, int *r,
                       int *c) {
    int row = *r, column = *c, keys = tile_keys(v, s);
    switch (place) {
    case PLACE_TRANSPOSED:
        *r = row / 8 * 8 + column % 8;
        *c = column / 8 * 8 + row % 8;
        break;
    case PLACE_QUARTERS:
        if ((row ^ column) & 8) {
            *r = row ^ 8;
            *c = column ^ 8;
        }
        break;
    case PLACE_ROWS_SWAPPED:
        *r = row ^ 8;
        break;
    case PLACE_PAIRS:
        *r = row ^ 1;
        break;
    case PLACE_SWIZZLED:
        *c = column ^ row % 8 * 8;
        break;
    case PLACE_STEPS_HALVED:
        *c = column - column % 64 / 16 * 8;
        break;
    case PLACE_FIRST_TILE:
        *r = row % keys;
        break;
    case PLACE_TILE_BEFORE:
        *r = row < keys ? row : row - keys;
        break;
    default:
        break;
    }
}

// Beyond the matrix a kernel finds zeros.
static void move(struct head *h, const struct source *from, enum tensor_kind own, int n) {
    const struct attention_shape *s = &h->in->which.attention;
    struct source plain = *from;
    plain.place = PLACE_OWN;
    for (int r = 0; r < n; r++)
        for (int c = 0; c < padded_columns(s); c++) {
            int row = r, column = c;
            find_place(h->variant, s, from->place, &row, &column);
            float *to = &h->moved[own - TENSOR_OF_Q][(int64_t)r * padded_columns(s) + c];
            *to = 0;
            if (row < n && column < s->head_dim) {
                struct row found = find_row(h, &plain, own, n, row);
                h->stray |= found.stray;
                *to = found.at[column * found.step];
            }
        }
}

void move_elements(struct head *h) {
    const struct variant *v = h->variant;
    const struct attention_shape *s = &h->in->which.attention;
    if (v->q.place)
        move(h, &v->q, TENSOR_OF_Q, s->nq);
    if (v->k.place)
        move(h, &v->k, TENSOR_OF_K, s->nk);
    if (v->v.place)
        move(h, &v->v, TENSOR_OF_V, s->nk);
}

double moved_weight(const struct head *h, int i, int j) {
    const struct attention_shape *s = &h->in->which.attention;
    find_place(h->variant, s, h->variant->weight_place, &i, &j);
    if (j >= s->nk)
        return 0;
    if (i >= s->nq) // a row of zeros, which sees every key
        return 1;
    const double *score = h->score + (int64_t)i * s->nk;
    return score[j] == -INFINITY ? 0 : exp_in_fp32(score[j] - maximum_of(score, 0, s->nk, 1));
}
