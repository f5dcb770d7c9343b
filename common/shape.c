#include "shape.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] = "SHAPE is B,H,N,D, each 1 or more (N may be NQ:NK)";

// Reads a decimal number of 1 or more and steps past it.
static bool read_number(const char **at, long long *number) {
    char *end;
    if (!isdigit((unsigned char)**at))
        return false;
    errno = 0;
    *number = strtoll(*at, &end, 10);
    *at = end;
    return errno == 0 && *number >= 1;
}

// One comma-separated field: a number, or first:second. second is 0 where there is none.
static bool read_field(const char **at, long long *first, long long *second) {
    *second = 0;
    if (!read_number(at, first))
        return false;
    if (**at != ':')
        return true;
    ++*at;
    return read_number(at, second);
}

bool shape_parse(const char *text, struct shape_argument *shape, struct message *error) {
    enum { FIELDS = 4 };
    long long first[FIELDS], second[FIELDS];
    const char *at = text;
    int fields = 0;
    for (;; at++) {
        if (fields == FIELDS || !read_field(&at, &first[fields], &second[fields]))
            return message_set(error, "SHAPE=%.60s cannot be read: %s", text, usage);
        fields++;
        if (*at != ',')
            break;
    }
    if (*at || (fields != 2 && fields != 4))
        return message_set(error, "SHAPE=%.60s cannot be read: %s", text, usage);

    memset(shape, 0, sizeof *shape);
    if (fields == 2) {
        if (second[0] || second[1] || first[1] > INT_MAX || first[0] > INT64_MAX / 4 / first[1])
            return message_set(error, "SHAPE=%.60s cannot be used: ROWS,COLUMNS are two numbers, COLUMNS up to %d",
                               text, INT_MAX);
        shape->is_matrix = true;
        shape->softmax = (struct softmax_shape){first[0], (int)first[1]};
        return true;
    }
    if (second[0] || second[3])
        return message_set(error, "SHAPE=%.60s cannot be read: %s", text, usage);
    for (int i = 0; i < FIELDS; i++)
        if (first[i] > INT_MAX || second[i] > INT_MAX)
            return message_set(error, "SHAPE=%.60s is too large: each number is at most %d", text, INT_MAX);
    long long kv_heads = second[1] ? second[1] : first[1];
    if (first[1] % kv_heads)
        return message_set(error, "SHAPE=%.60s cannot be used: %lld heads cannot share %lld key heads evenly", text,
                           first[1], kv_heads);
    if (first[3] > MAX_HEAD_DIM)
        return message_set(error, "SHAPE=%.60s cannot be used: the head dimension D is at most %d", text, MAX_HEAD_DIM);
    shape->attention = (struct attention_shape){.batch = (int)first[0],
                                                .heads = (int)first[1],
                                                .kv_heads = (int)kv_heads,
                                                .nq = (int)first[2],
                                                .nk = (int)(second[2] ? second[2] : first[2]),
                                                .head_dim = (int)first[3]};
    // Past this no counter of elements, bytes or rows can overflow 64 bits.
    double rows = (double)first[0] * (double)first[1] * (double)shape->attention.nq;
    double keys = (double)first[0] * (double)first[1] * (double)shape->attention.nk;
    if (rows * 4 * MAX_HEAD_DIM > 0x1p62 || keys * 4 * MAX_HEAD_DIM > 0x1p62 || rows * shape->attention.nk > 0x1p60)
        return message_set(error, "SHAPE=%.60s is too large: no device has the memory for it", text);
    shape->softmax = (struct softmax_shape){(int64_t)rows, shape->attention.nk};
    return true;
}

void shape_text(const struct attention_shape *shape, char text[SHAPE_TEXT]) {
    char heads[24], n[24];
    if (shape->kv_heads == shape->heads)
        snprintf(heads, sizeof heads, "%d", shape->heads);
    else
        snprintf(heads, sizeof heads, "%d:%d", shape->heads, shape->kv_heads);
    if (shape->nq == shape->nk)
        snprintf(n, sizeof n, "%d", shape->nq);
    else
        snprintf(n, sizeof n, "%d:%d", shape->nq, shape->nk);
    snprintf(text, SHAPE_TEXT, "%d,%s,%s,%d", shape->batch, heads, n, shape->head_dim);
}

int64_t shape_q_elements(const struct attention_shape *shape) {
    return (int64_t)shape->batch * shape->heads * shape->nq * shape->head_dim;
}

int64_t shape_k_elements(const struct attention_shape *shape) {
    return (int64_t)shape->batch * shape->kv_heads * shape->nk * shape->head_dim;
}

int shape_visible_keys(const struct attention_shape *shape, int row) {
    if (!shape->causal)
        return shape->nk;
    int64_t visible = (int64_t)row + shape->nk - shape->nq + 1;
    return visible < 0 ? 0 : (int)visible;
}

double shape_flops(const struct attention_shape *shape) {
    double pairs = (double)shape->nq * shape->nk;
    if (shape->causal) {
        // The last row sees nk keys, each row before it one less, down to none.
        double rows = shape->nq < shape->nk ? shape->nq : shape->nk;
        pairs = rows * shape->nk - rows * (rows - 1) / 2;
    }
    return 4.0 * shape->batch * shape->heads * pairs * shape->head_dim;
}

double shape_bytes(const struct attention_shape *shape) {
    return 4.0 * (2.0 * (double)shape_q_elements(shape) + 2.0 * (double)shape_k_elements(shape));
}
