#include "host/inputs.h"

#include "host/parallel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum tensor { TENSOR_Q, TENSOR_K, TENSOR_V, TENSOR_MATRIX, STREAM_PLACE };
enum { KEPT_VALUES = 1 << 24 };

static const char *const names[INPUT_FAMILIES] = {
    [INPUTS_NORMAL] = "normal",
    [INPUTS_LARGE] = "large",
    [INPUTS_DOMINANT_FIRST] = "dominant-first",
    [INPUTS_DOMINANT_LAST] = "dominant-last",
    [INPUTS_DOMINANT_EDGE] = "dominant-edge",
    [INPUTS_RISING] = "rising",
    [INPUTS_CONSTANT_VALUE] = "constant-value",
    [INPUTS_NAN_KEY] = "nan-key",
    [INPUTS_NAN_VALUE] = "nan-value",
    [INPUTS_INF_KEY] = "inf-key",
    [INPUTS_INF_VALUE] = "inf-value",
    [INPUTS_OFFSET] = "offset",
    [INPUTS_TINY] = "tiny",
    [INPUTS_MASKED] = "masked",
};

const char *inputs_name(enum input_family family) {
    return names[family];
}

bool inputs_from_name(const char *name, enum input_family *family, struct message *error) {
    char list[300] = "";
    for (int i = 0; i < INPUT_FAMILIES; i++) {
        if (!strcmp(name, names[i])) {
            *family = (enum input_family)i;
            return true;
        }
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", names[i]);
    }
    return message_set(error, "INPUTS=%.60s is unknown: use one of %s", name, list);
}

// The finaliser of splitmix64: every bit of the input reaches every bit of the output.
static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

uint64_t inputs_random(uint64_t seed, uint64_t stream, uint64_t counter) {
    return mix(counter * 0x9E3779B97F4A7C15u + mix(seed + mix(stream + 1)));
}

// Fills a row with N(0,1), two values a draw (Box and Muller).
static void fill_normal(float *row, int64_t row_index, int length, uint64_t seed, enum tensor tensor) {
    int64_t pairs = (length + 1) / 2;
    for (int c = 0; c < length; c += 2) {
        uint64_t bits = inputs_random(seed, tensor, (uint64_t)(row_index * pairs + c / 2));
        float radius = sqrtf(-2.0f * logf((float)((bits >> 40) + 1) * 0x1p-24f));
        float angle = (float)(bits & 0xFFFFFF) * (float)(2 * M_PI * 0x1p-24);
        row[c] = radius * cosf(angle);
        if (c + 1 < length)
            row[c + 1] = radius * sinf(angle);
    }
}

static void scale_row(float *row, int length, float factor) {
    for (int c = 0; c < length; c++)
        row[c] *= factor;
}

// Places beside the edges of tiles of 16 to 128 keys.
static int edge_key(int64_t head, int nk) {
    static const int edge[] = {15, 16, 31, 32, 63, 64, 127, 128};
    int fitting = 0;
    while (fitting < (int)(sizeof edge / sizeof *edge) && edge[fitting] < nk)
        fitting++;
    return fitting ? edge[head % fitting] : nk - 1;
}

struct filling {
    enum input_family family;
    uint64_t seed;
    const struct attention_shape *shape;
    const struct softmax_shape *matrix;
    float *q, *k, *v, *out;
};

static void fill_q(int64_t begin, int64_t end, void *context) {
    const struct filling *f = context;
    int d = f->shape->head_dim;
    for (int64_t r = begin; r < end; r++) {
        float *q = f->q + r * d;
        fill_normal(q, r, d, f->seed, TENSOR_Q);
        switch (f->family) {
        case INPUTS_LARGE:
            scale_row(q, d, 100.0f);
            if (r % 2) // with element 0 of every key above 100, this takes 30000 or more off each scaled score
                q[0] = -300.0f * sqrtf((float)d);
            break;
        case INPUTS_TINY:
            scale_row(q, d, 1e-20f);
            break;
        case INPUTS_DOMINANT_FIRST:
        case INPUTS_DOMINANT_LAST:
        case INPUTS_DOMINANT_EDGE:
        case INPUTS_RISING:
            q[0] = sqrtf((float)d); // so that a key's element 0 is added to the scaled score as it is
            break;
        case INPUTS_OFFSET:
            q[0] = r % 2 ? -sqrtf((float)d) : sqrtf((float)d);
            break;
        default:
            break;
        }
    }
}

static void fill_k(int64_t begin, int64_t end, void *context) {
    const struct filling *f = context;
    int d = f->shape->head_dim, nk = f->shape->nk;
    for (int64_t r = begin; r < end; r++) {
        float *k = f->k + r * d;
        int64_t head = r / nk;
        int key = (int)(r % nk);
        fill_normal(k, r, d, f->seed, TENSOR_K);
        if (f->family == INPUTS_LARGE || f->family == INPUTS_TINY)
            scale_row(k, d, f->family == INPUTS_LARGE ? 100.0f : 1e-20f);
        if (f->family == INPUTS_LARGE)
            k[0] = 100.0f + fabsf(k[0]);
        else if (f->family == INPUTS_RISING)
            k[0] = 0.25f * (float)key;
        else if (f->family == INPUTS_OFFSET)
            k[0] += 1000.0f;
        else if ((f->family == INPUTS_DOMINANT_FIRST && key == 0) ||
                 (f->family == INPUTS_DOMINANT_LAST && key == nk - 1) ||
                 (f->family == INPUTS_DOMINANT_EDGE && key == edge_key(head, nk)))
            k[0] = 120.0f;
    }
}

static void fill_v(int64_t begin, int64_t end, void *context) {
    const struct filling *f = context;
    int d = f->shape->head_dim;
    for (int64_t r = begin; r < end; r++) {
        float *v = f->v + r * d;
        fill_normal(v, r, d, f->seed, TENSOR_V);
        if (f->family == INPUTS_TINY)
            scale_row(v, d, 1e-20f);
        for (int c = 0; c < d; c++) {
            if (f->family == INPUTS_CONSTANT_VALUE)
                v[c] = 1.0f + 0.25f * (float)(c % 7);
            else if (f->family == INPUTS_OFFSET)
                v[c] += 100.0f;
        }
    }
}

// Puts the NaN or the infinity of the families that have one into a row of k or v that the seed chooses.
static void fill_special(struct host_inputs *in, enum input_family family, uint64_t seed) {
    int d = in->shape.head_dim;
    int64_t row = (int64_t)(inputs_random(seed, STREAM_PLACE, 0) % (uint64_t)in->k_rows);
    int column = (int)(inputs_random(seed, STREAM_PLACE, 1) % (uint64_t)d);
    in->finite = false;
    if (family == INPUTS_NAN_KEY)
        for (int c = 0; c < d; c++)
            in->k[row * d + c] = NAN;
    else if (family == INPUTS_NAN_VALUE)
        in->v[row * d + column] = NAN;
    else if (family == INPUTS_INF_KEY)
        in->k[row * d + column] = INFINITY;
    else if (family == INPUTS_INF_VALUE)
        in->v[row * d + column] = INFINITY;
    else
        in->finite = true;
}

// All rows where they hold few enough values; else an odd number of them, so that heads of a power of two keys differ.
static int64_t rows_kept(int64_t rows, int row_length) {
    int64_t fitting = KEPT_VALUES / row_length;
    if (rows <= fitting)
        return rows;
    return fitting < 1 ? 1 : (fitting - 1) | 1;
}

struct host_inputs inputs_attention(const struct attention_shape *shape, enum input_family family, uint64_t seed) {
    struct host_inputs in = {.shape = *shape};
    int d = shape->head_dim;
    in.q_rows = rows_kept(shape_q_elements(shape) / d, d);
    in.k_rows = rows_kept(shape_k_elements(shape) / d, d);
    in.q = host_allocate(in.q_rows * d, sizeof *in.q);
    in.k = host_allocate(in.k_rows * d, sizeof *in.k);
    in.v = host_allocate(in.k_rows * d, sizeof *in.v);
    in.softmax_scale = 1.0f / sqrtf((float)d);
    struct filling filling = {.family = family, .seed = seed, .shape = shape, .q = in.q, .k = in.k, .v = in.v};
    int64_t chunk = 1 + 4096 / d;
    parallel_for(in.q_rows, chunk, fill_q, &filling);
    parallel_for(in.k_rows, chunk, fill_k, &filling);
    parallel_for(in.k_rows, chunk, fill_v, &filling);
    fill_special(&in, family, seed);
    return in;
}

void inputs_free(struct host_inputs *inputs) {
    free(inputs->q);
    free(inputs->k);
    free(inputs->v);
    memset(inputs, 0, sizeof *inputs);
}

static void fill_matrix(int64_t begin, int64_t end, void *context) {
    const struct filling *f = context;
    int columns = f->matrix->columns;
    for (int64_t r = begin; r < end; r++) {
        float *x = f->out + r * columns;
        int place = (int)(inputs_random(f->seed, STREAM_PLACE, (uint64_t)r) % (uint64_t)columns);
        fill_normal(x, r, columns, f->seed, TENSOR_MATRIX);
        if (f->family == INPUTS_LARGE)
            scale_row(x, columns, 1e4f);
        else if (f->family == INPUTS_TINY)
            scale_row(x, columns, 1e-20f);
        else if (f->family == INPUTS_DOMINANT_FIRST)
            x[0] = 120.0f;
        else if (f->family == INPUTS_DOMINANT_LAST)
            x[columns - 1] = 120.0f;
        else if (f->family == INPUTS_DOMINANT_EDGE)
            x[edge_key(r, columns)] = 120.0f;
        else if (f->family == INPUTS_NAN_KEY && r == 1 % f->matrix->rows)
            x[place] = NAN;
        else if (f->family == INPUTS_INF_KEY && r == 1 % f->matrix->rows)
            x[place] = INFINITY;
        for (int c = 0; c < columns; c++) {
            if (f->family == INPUTS_RISING)
                x[c] = 0.25f * (float)c;
            else if (f->family == INPUTS_OFFSET)
                x[c] += r % 2 ? -1e4f : 1e4f;
            else if (f->family == INPUTS_CONSTANT_VALUE)
                x[c] = (float)(r % 5) - 2.0f;
            else if (f->family == INPUTS_MASKED && c != place &&
                     (inputs_random(f->seed, STREAM_PLACE, (uint64_t)(f->matrix->rows + r * columns + c)) & 3) == 0)
                x[c] = -INFINITY;
        }
    }
}

float *inputs_matrix(const struct softmax_shape *shape, enum input_family family, uint64_t seed, int64_t *kept) {
    *kept = rows_kept(shape->rows, shape->columns);
    float *matrix = host_allocate(*kept * shape->columns, sizeof *matrix);
    struct filling filling = {.family = family, .seed = seed, .matrix = shape, .out = matrix};
    parallel_for(*kept, 1 + 4096 / shape->columns, fill_matrix, &filling);
    return matrix;
}
