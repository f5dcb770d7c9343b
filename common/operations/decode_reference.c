// Decoding in double precision: each head of each request is attention over the keys that the table gives it.
#include "host/parallel.h"
#include "host/tolerance.h"
#include "operations/attention_operation.h"
#include "operations/attention_reference.h"
#include "operations/decode_operation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The rows of the sample that one head of a request has.
struct unit {
    int request, head;
    int64_t first, count;
    double walk, sum_walk, sum_drift;
};

struct job {
    const struct host_problem *in;
    const struct row_sample *sample;
    enum decode_mistake mistake;
    struct decode_rows *out;
    struct unit *unit;
};

static int length_of(const struct job *job, int request) {
    const struct decode_pages pages = decode_pages_of(&job->in->which);
    const float *lens = job->in->tensor[DECODE_LENS].values;
    double length = lens[job->mistake == DECODE_LENGTH_OF_FIRST ? 0 : request];
    if (length < 0 || length > (double)pages.size * pages.per_request)
        return -1;
    return (int)length - (job->mistake == DECODE_LAST_KEY_MISSING && length > 0);
}

// Row `key` of the head in the cache; -1: its page is none.
static int64_t row_of(const struct job *job, int request, int kv_head, int key) {
    const struct decode_pages pages = decode_pages_of(&job->in->which);
    int64_t index = (int64_t)request * pages.per_request + key / pages.size, page = request;
    int table = decode_table(&job->in->which);
    if (table >= 0)
        page = job->mistake == DECODE_PAGES_IN_ORDER ? index : (int64_t)job->in->tensor[table].values[index];
    return page < 0 || page >= pages.count
               ? -1
               : (page * job->in->which.attention.kv_heads + kv_head) * pages.size + key % pages.size;
}

// The keys or values of a head, as numbers. False: a page is none.
static bool gather(const struct job *job, int tensor, int request, int kv_head, int keys, float *to) {
    const struct host_tensor *from = &job->in->tensor[tensor];
    int scale = decode_scale(&job->in->which), d = from->columns;
    float factor =
        scale < 0 ? 1 : job->in->tensor[scale].values[(tensor == DECODE_V) * job->in->tensor[scale].columns + kv_head];
    for (int key = 0; key < keys; key++) {
        int64_t row = row_of(job, request, kv_head, key);
        if (row < 0)
            return false;
        for (int c = 0; c < d; c++)
            to[(int64_t)key * d + c] = factor * host_row(from, row)[c];
    }
    return true;
}

static void store(const struct job *job, const struct unit *unit, const struct attention_reference *r) {
    struct decode_rows *out = job->out;
    int d = job->in->which.attention.head_dim;
    enum attention_dtype dtype = decode_dtype(&job->in->which);
    double scale = job->in->softmax_scale;
    for (int64_t i = 0; i < unit->count; i++) {
        int64_t row = unit->first + i;
        out->lse[row] = r->lse[i];
        out->lse_bound[row] = tolerance_lse(dtype, r->lse[i], r->score_scale[i], scale, d) + r->summation[i].worst;
        for (int c = 0; c < d; c++) {
            double value = r->o[i * d + c], a = r->a[i * d + c];
            out->value[row * d + c] = value;
            out->bound[row * d + c] = tolerance_attention(dtype, value, a, r->score_scale[i], scale, d) +
                                      tolerance_sums(&r->summation[i], value, a);
            out->size[row * d + c] = attention_size(r, i, c);
        }
    }
}

static void store_nan(const struct job *job, const struct unit *unit) {
    int d = job->in->which.attention.head_dim;
    for (int64_t i = unit->first; i < unit->first + unit->count; i++) {
        job->out->lse[i] = NAN;
        for (int c = 0; c < d; c++)
            job->out->value[i * d + c] = job->out->size[i * d + c] = NAN;
    }
}

static void compute_unit(const struct job *job, struct unit *unit) {
    const struct attention_shape *s = &job->in->which.attention;
    int keys = length_of(job, unit->request), d = s->head_dim, nq = s->nq;
    int kv_head =
        job->mistake == DECODE_GROUPS_INTERLEAVED ? unit->head % s->kv_heads : unit->head / (s->heads / s->kv_heads);
    int64_t first_row = ((int64_t)unit->request * s->heads + unit->head) * nq;
    float *k = host_allocate((int64_t)(keys > 0 ? keys : 0) * d, sizeof *k);
    float *v = host_allocate((int64_t)(keys > 0 ? keys : 0) * d, sizeof *v);
    float *q = host_allocate((int64_t)nq * d, sizeof *q);
    int64_t *rows = host_allocate(unit->count, sizeof *rows);
    struct host_problem head = {.softmax_scale = job->in->softmax_scale,
                                .which.attention = {1, 1, 1, nq, keys, d, .causal = s->causal}};
    for (int i = 0; i < nq; i++)
        memcpy(q + (int64_t)i * d, host_row(&job->in->tensor[DECODE_Q], first_row + i), (size_t)d * sizeof *q);
    for (int64_t i = 0; i < unit->count; i++)
        rows[i] = job->sample->row[unit->first + i] - first_row;
    if (keys < 0 || !gather(job, DECODE_K, unit->request, kv_head, keys, k) ||
        !gather(job, DECODE_V, unit->request, kv_head, keys, v)) {
        store_nan(job, unit);
    } else {
        struct row_sample sample = {unit->count, rows};
        head.tensor[Q] = (struct host_tensor){.columns = d, .values = q, .kept = nq};
        head.tensor[K] = (struct host_tensor){.columns = d, .values = k, .kept = keys};
        head.tensor[V] = (struct host_tensor){.columns = d, .values = v, .kept = keys};
        struct attention_reference r = attention_refer(&head, &sample);
        unit->walk = r.walk, unit->sum_walk = r.sum_walk, unit->sum_drift = r.sum_drift;
        store(job, unit, &r);
        attention_reference_free(&r);
    }
    free(k);
    free(v);
    free(q);
    free(rows);
}

static void compute_units(int64_t begin, int64_t end, void *context) {
    const struct job *job = context;
    for (int64_t i = begin; i < end; i++)
        compute_unit(job, &job->unit[i]);
}

struct decode_rows decode_compute(const struct host_problem *problem, const struct row_sample *sample,
                                  enum decode_mistake mistake) {
    const struct attention_shape *s = &problem->which.attention;
    int64_t elements = sample->count * s->head_dim, units = 0;
    struct decode_rows out = {.value = host_zeros(elements, sizeof(double)),
                              .bound = host_zeros(elements, sizeof(double)),
                              .size = host_zeros(elements, sizeof(double)),
                              .lse = host_zeros(sample->count, sizeof(double)),
                              .lse_bound = host_zeros(sample->count, sizeof(double))};
    struct job job = {problem, sample, mistake, &out, host_zeros(sample->count, sizeof(struct unit))};
    for (int64_t i = 0; i < sample->count; i++) {
        int64_t head = sample->row[i] / s->nq;
        bool next = !i || head != sample->row[i - 1] / s->nq;
        if (next)
            job.unit[units++] =
                (struct unit){.request = (int)(head / s->heads), .head = (int)(head % s->heads), .first = i};
        job.unit[units - 1].count++;
    }
    parallel_for(units, 1, compute_units, &job);
    for (int64_t i = 0; i < units; i++) {
        int keys = length_of(&job, job.unit[i].request);
        out.keys = keys > out.keys ? keys : out.keys;
        out.walk = fmax(out.walk, job.unit[i].walk);
        out.sum_walk = fmax(out.sum_walk, job.unit[i].sum_walk);
        out.sum_drift = fmax(out.sum_drift, job.unit[i].sum_drift);
    }
    free(job.unit);
    return out;
}

void decode_rows_free(struct decode_rows *rows) {
    free(rows->value);
    free(rows->bound);
    free(rows->size);
    free(rows->lse);
    free(rows->lse_bound);
}
