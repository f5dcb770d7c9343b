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
        shape->matrix = (struct matrix_shape){first[0], (int)first[1]};
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
    shape->matrix = (struct matrix_shape){(int64_t)rows, shape->attention.nk};
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

bool layout_parse(const char *text, struct attention_shape *shape, struct message *error) {
    const char *at = text;
    if (!strcmp(text, "apart")) {
        shape->layout = LAYOUT_PAGES;
        shape->stride[0] = 0;
        shape->stride[1] = 1;
        return true;
    }
    if (!strncmp(text, "pages", 5)) {
        long long keys;
        at += 5;
        bool read = read_number(&at, &keys) && keys <= INT_MAX, apart = read && !strcmp(at, "-apart");
        if (!read || (*at && !apart))
            return message_set(error, "LAYOUT=%.60s cannot be read: pages16 are pages of 16 keys", text);
        shape->layout = LAYOUT_PAGES;
        shape->stride[0] = keys;
        shape->stride[1] = apart;
        return true;
    }
    shape->layout = !strcmp(text, "bnhd")    ? LAYOUT_BNHD
                    : !strcmp(text, "bhnd")  ? LAYOUT_BHND
                    : !strcmp(text, "mixed") ? LAYOUT_MIXED
                                             : LAYOUT_STRIDES;
    for (int i = 0; i < 3 && shape->layout == LAYOUT_STRIDES; i++) {
        long long stride;
        if (!read_number(&at, &stride) || stride > INT64_C(1) << 40 || *at != (i < 2 ? ',' : 0))
            return message_set(error,
                               "LAYOUT=%.60s is unknown: use bhnd, bnhd, mixed, pages16, or three strides in elements, "
                               "BATCH,HEAD,ROW",
                               text);
        shape->stride[i] = stride;
        at++;
    }
    return true;
}

void layout_text(const struct attention_shape *shape, char text[LAYOUT_TEXT]) {
    *text = 0;
    if (shape->layout == LAYOUT_BNHD || shape->layout == LAYOUT_MIXED)
        snprintf(text, LAYOUT_TEXT, shape->layout == LAYOUT_BNHD ? "bnhd" : "mixed");
    else if (shape->layout == LAYOUT_PAGES && !shape->stride[0])
        snprintf(text, LAYOUT_TEXT, "apart");
    else if (shape->layout == LAYOUT_PAGES)
        snprintf(text, LAYOUT_TEXT, "pages%lld%s", (long long)shape->stride[0], shape->stride[1] ? "-apart" : "");
    else if (shape->layout == LAYOUT_STRIDES)
        snprintf(text, LAYOUT_TEXT, "%lld,%lld,%lld", (long long)shape->stride[0], (long long)shape->stride[1],
                 (long long)shape->stride[2]);
}

void shape_strides(const struct attention_shape *shape, int heads, int n, int64_t stride[3]) {
    int64_t d = shape->head_dim;
    bool bnhd = shape->layout == LAYOUT_BNHD;
    const int64_t named[3] = {d * n * heads, bnhd ? d : d * n, bnhd ? d * heads : d};
    memcpy(stride, shape->layout == LAYOUT_STRIDES ? shape->stride : named, sizeof named);
}

// From the first to the last element of a tensor.
static const int64_t most_elements = INT64_C(1) << 48;

// Elements are apart where each stride passes all that the smaller ones reach.
static bool apart(const struct attention_shape *shape, const char *tensors, int heads, int n, struct message *error) {
    static const char *const names[] = {"batch", "head", "row"};
    const int64_t size[3] = {shape->batch, heads, n};
    int64_t reach = shape->head_dim;
    bool done[3] = {false};
    for (int step = 0; step < 3; step++) {
        int least = -1;
        for (int i = 0; i < 3; i++)
            if (!done[i] && (least < 0 || shape->stride[i] < shape->stride[least]))
                least = i;
        done[least] = true;
        if (size[least] == 1)
            continue;
        if (shape->stride[least] < reach)
            return message_set(error,
                               "LAYOUT=%lld,%lld,%lld: elements of %s overlap: from one %s to the next are %lld "
                               "elements, and %lld are needed",
                               (long long)shape->stride[0], (long long)shape->stride[1], (long long)shape->stride[2],
                               tensors, names[least], (long long)shape->stride[least], (long long)reach);
        // Steps of 2^31 times strides of 2^40 are more than 64 bits count.
        if (size[least] - 1 > (most_elements - reach) / shape->stride[least])
            return message_set(error, "LAYOUT=%lld,%lld,%lld is too large for %s: no device has the memory for it",
                               (long long)shape->stride[0], (long long)shape->stride[1], (long long)shape->stride[2],
                               tensors);
        reach += (size[least] - 1) * shape->stride[least];
    }
    return true;
}

bool shape_strides_disjoint(const struct attention_shape *shape, struct message *error) {
    return shape->layout != LAYOUT_STRIDES || (apart(shape, "q and o", shape->heads, shape->nq, error) &&
                                               apart(shape, "k and v", shape->kv_heads, shape->nk, error));
}

int64_t shape_q_elements(const struct attention_shape *shape) {
    return (int64_t)shape->batch * shape->heads * shape->nq * shape->head_dim;
}

int64_t shape_k_elements(const struct attention_shape *shape) {
    return (int64_t)shape->batch * shape->kv_heads * shape->nk * shape->head_dim;
}

int64_t shape_first_key(const struct attention_shape *shape, int64_t row) {
    int64_t head = row / shape->nq % shape->heads, batch = row / shape->nq / shape->heads;
    return (batch * shape->kv_heads + head / (shape->heads / shape->kv_heads)) * shape->nk;
}

int shape_attended_keys(const struct attention_shape *shape, int row) {
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

double shape_bytes(const struct attention_shape *shape, size_t element_bytes) {
    return (double)element_bytes * (2.0 * (double)shape_q_elements(shape) + 2.0 * (double)shape_k_elements(shape));
}
