#include "host/inputs.h"
#include "host/parallel.h"
#include "operations/attention_operation.h"
#include "operations/decode_operation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// SPARE_PAGES: pages of no request. APART: elements from a page to the next where they are far apart.
enum { STREAM_LENGTH = 20, STREAM_PAGE, STREAM_GARBAGE, STREAM_SCALE, STREAM_KEYS, STREAM_VALUES, SPARE_PAGES = 2 };
static const int64_t apart = INT64_C(1) << 30;

int decode_table(const struct problem_case *which) {
    return decode_is_paged(which) ? DECODE_FIXED_INPUTS : -1;
}

int decode_scale(const struct problem_case *which) {
    return which->dtype == ATTENTION_E4M3 ? DECODE_FIXED_INPUTS + decode_is_paged(which) : -1;
}

enum attention_dtype decode_dtype(const struct problem_case *which) {
    return which->dtype == ATTENTION_E4M3 ? ATTENTION_BF16 : which->dtype;
}

struct decode_pages decode_pages_of(const struct problem_case *which) {
    const struct attention_shape *s = &which->attention;
    struct decode_pages pages = {s->nk, 1, s->batch, 0};
    if (decode_is_paged(which)) {
        pages.size = (int)s->stride[0];
        pages.per_request = (s->nk - 1) / pages.size + 1;
        pages.count = (int64_t)s->batch * pages.per_request + SPARE_PAGES;
    }
    pages.stride = (int64_t)s->kv_heads * pages.size * s->head_dim;
    if (s->layout == LAYOUT_PAGES && s->stride[1])
        pages.stride = pages.stride > apart ? pages.stride : apart;
    return pages;
}

// The length of request b, 0 to nk.
static int64_t length_of(const struct problem_case *which, int b, uint64_t seed) {
    int batch = which->attention.batch;
    int64_t room = which->attention.nk;
    const struct decode_pages pages = decode_pages_of(which);
    uint64_t draw = inputs_random(seed, STREAM_LENGTH, (uint64_t)b);
    switch (which->family) {
    case INPUTS_NORMAL:
        return room;
    case INPUTS_HALVING:
        return room >> b % 8;
    case INPUTS_ONE_LONG:
        return b == batch / 2 ? room : 1 + (int64_t)(draw % (uint64_t)(1 + room / 64));
    case INPUTS_BAD_LENGTH:
        if (b % 3 == 1)
            return b % 2 ? -1 - b : (int64_t)pages.size * pages.per_request + 1;
        break;
    case INPUTS_RAGGED:
        if (b % 5 == 3)
            return b % 2 ? 0 : 1;
        break;
    default:
        if (b == 0)
            return room;
    }
    return (int64_t)(draw % (uint64_t)(room + 1));
}

// Of a bench the lengths have to be known before there are inputs, so such families have the same ones with each seed.
static float *make_lengths(const struct problem_case *which, uint64_t seed) {
    int batch = which->attention.batch;
    float *lens = host_allocate(batch, sizeof *lens);
    for (int b = 0; b < batch; b++)
        lens[b] = (float)length_of(which, b, which->family == INPUTS_RAGGED ? 0 : seed);
    return lens;
}

double decode_keys_of_all(const struct problem_case *which) {
    float *lens = make_lengths(which, 0);
    double keys = 0;
    for (int b = 0; b < which->attention.batch; b++)
        keys += lens[b] > 0 ? lens[b] : 0;
    free(lens);
    return keys;
}

// Pages in an order that the seed draws; where no key needs one, a number that no page has.
static float *make_table(const struct problem_case *which, const struct decode_pages *pages, const float *lens,
                         uint64_t seed) {
    int batch = which->attention.batch;
    int64_t *order = host_allocate(pages->count, sizeof *order);
    float *table = host_allocate((int64_t)batch * pages->per_request, sizeof *table);
    for (int64_t i = 0; i < pages->count; i++) {
        int64_t j = (int64_t)(inputs_random(seed, STREAM_PAGE, (uint64_t)i) % (uint64_t)(i + 1));
        order[i] = order[j];
        order[j] = i;
    }
    for (int b = 0; b < batch; b++)
        for (int i = 0; i < pages->per_request; i++) {
            int64_t at = (int64_t)b * pages->per_request + i, used = ((int64_t)lens[b] + pages->size - 1) / pages->size;
            table[at] = (float)(i < used ? order[at] : at % 2 ? -1 : pages->count + at);
            if (which->family == INPUTS_BAD_PAGE && b % 3 == 1 && i == used / 2 && i < used)
                table[at] = b % 2 ? (float)pages->count : -1.0f;
        }
    free(order);
    return table;
}

struct filling {
    float *to;
    int columns;
    uint64_t seed, stream;
};

static void fill_normal(int64_t begin, int64_t end, void *context) {
    const struct filling *f = context;
    for (int64_t r = begin; r < end; r++)
        inputs_normal_row(f->to + r * f->columns, r, f->columns, f->seed, f->stream);
}

// The rows of k or v as they lie in the pages, NaN where no request has a key. from: [batch][kv_heads][nk][head_dim]. A
// cache too large to be kept as a whole repeats itself instead.
static float *place(const struct problem_case *which, const struct decode_pages *pages, const struct host_tensor *from,
                    const float *lens, const float *table, int64_t rows, int64_t kept, uint64_t seed, uint64_t stream) {
    const struct attention_shape *s = &which->attention;
    int d = s->head_dim;
    float *to = host_allocate(kept * d, sizeof *to);
    if (kept < rows) {
        struct filling filling = {to, d, seed, stream};
        parallel_for(kept, 1 + 4096 / d, fill_normal, &filling);
        return to;
    }
    for (int64_t i = 0; i < kept * d; i++)
        to[i] = NAN;
    for (int b = 0; b < s->batch; b++)
        for (int head = 0; head < s->kv_heads; head++)
            for (int64_t key = 0; key < (int64_t)lens[b] && key < s->nk; key++) {
                int64_t page = table ? (int64_t)table[(int64_t)b * pages->per_request + key / pages->size] : b;
                int64_t row = ((int64_t)b * s->kv_heads + head) * s->nk + key;
                if (page >= 0 && page < pages->count)
                    memcpy(to + ((page * s->kv_heads + head) * pages->size + key % pages->size) * d,
                           host_row(from, row), (size_t)d * sizeof *to);
            }
    return to;
}

// An infinity or a NaN of the inputs lies somewhere in nk: the requests of such families are whole.
static bool needs_whole(enum input_family family) {
    return family == INPUTS_NAN_KEY || family == INPUTS_NAN_VALUE || family == INPUTS_INF_KEY ||
           family == INPUTS_INF_VALUE;
}

void decode_make(const struct problem_case *which, uint64_t seed, bool with_inputs, struct host_problem *problem) {
    const struct attention_shape *s = &which->attention;
    struct decode_pages pages = decode_pages_of(which);
    struct problem_case logical = *which;
    struct host_problem attention;
    logical.attention.layout = LAYOUT_BHND;
    logical.dtype = decode_dtype(which);
    logical.family = which->family > INPUTS_MASKED ? INPUTS_NORMAL : which->family;
    attention_make(&logical, seed, with_inputs, &attention);

    int64_t rows = pages.count * s->kv_heads * pages.size, kept = with_inputs ? inputs_kept(rows, s->head_dim) : 0;
    float *lens = NULL, *table = NULL, *k = NULL, *v = NULL;
    if (with_inputs) {
        struct problem_case lengths = *which;
        lengths.family = needs_whole(which->family) ? INPUTS_NORMAL : which->family;
        lens = make_lengths(&lengths, seed);
        table = decode_is_paged(which) ? make_table(which, &pages, lens, seed) : NULL;
        k = place(which, &pages, &attention.tensor[K], lens, table, rows, kept, seed, STREAM_KEYS);
        v = place(which, &pages, &attention.tensor[V], lens, table, rows, kept, seed, STREAM_VALUES);
    }
    *problem = (struct host_problem){
        .operation = &decode_operation, .which = *which, .softmax_scale = attention.softmax_scale};
    bool finite = attention.finite && which->family != INPUTS_BAD_LENGTH && which->family != INPUTS_BAD_PAGE;
    struct host_tensor *q = &attention.tensor[Q];
    struct row_layout layout = {.heads = s->kv_heads, .n = pages.size};
    layout.stride[2] = s->head_dim;
    layout.stride[1] = (int64_t)pages.size * s->head_dim;
    layout.stride[0] = pages.stride;
    problem_add_input(problem, "q", logical.dtype, q->rows, s->head_dim, q->values, q->kept);
    q->values = NULL;
    problem_add_input(problem, "k", which->dtype, rows, s->head_dim, k, kept)->layout = layout;
    problem_add_input(problem, "v", which->dtype, rows, s->head_dim, v, kept)->layout = layout;
    problem_add_input(problem, "lens", ATTENTION_INT32, s->batch, 1, lens, lens ? s->batch : 0);
    if (decode_is_paged(which))
        problem_add_input(problem, "block_table", ATTENTION_INT32, s->batch, pages.per_request, table,
                          table ? s->batch : 0);
    if (decode_scale(which) >= 0) {
        float *scale = host_allocate(2 * s->kv_heads, sizeof *scale);
        for (int i = 0; i < 2 * s->kv_heads && with_inputs; i++)
            scale[i] = (float)(32 + inputs_random(seed, STREAM_SCALE, (uint64_t)i) % 96) / 64; // exact times an e4m3
        problem_add_input(problem, "kv_scale", ATTENTION_FP32, 2, s->kv_heads, scale, with_inputs ? 2 : 0);
    }
    problem_add_output(problem, "o", logical.dtype, q->rows, s->head_dim);
    problem_add_output(problem, "lse", ATTENTION_FP32, q->rows, 1)->optional = true;
    problem->finite = finite;
    host_problem_free(&attention);
}
