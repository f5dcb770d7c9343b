#include "host/verdict.h"

#include "host/parallel.h"
#include "host/tolerance.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void verdict_begin(struct verdict *v, const struct host_inputs *inputs, const struct row_sample *sample,
                   const struct reference *reference) {
    int d = inputs->shape.head_dim;
    memset(v, 0, sizeof *v);
    v->inputs = inputs;
    v->sample = sample;
    v->reference = reference;
    v->wrong_at = host_allocate(sample->count * d, 1);
    v->row_error = host_allocate(sample->count, sizeof *v->row_error);
    v->row_signal = host_allocate(sample->count, sizeof *v->row_signal);
    memset(v->wrong_at, 0, (size_t)(sample->count * d));
    memset(v->row_error, 0, (size_t)sample->count * sizeof *v->row_error);
    memset(v->row_signal, 0, (size_t)sample->count * sizeof *v->row_signal);
    v->first_row = v->rms_row = -1;
}

static void remember_first(struct verdict *v, int64_t row, int column, bool sampled, double expected, float got,
                           double bound) {
    if (v->first_row >= 0)
        return;
    v->first_row = row;
    v->first_column = column;
    v->first_sampled = sampled;
    v->first_expected = expected;
    v->first_got = got;
    v->first_bound = bound;
}

// True where every value is a number: no infinity, no NaN, and so no poison. Billions of values pass through here.
static bool all_numbers(const float *o, int count) {
    bool numbers = true;
    for (int c = 0; c < count; c++)
        numbers &= fabsf(o[c]) <= FLT_MAX;
    return numbers;
}

// A row that the reference does not cover: it was written, and it is no NaN where the inputs have none.
static void check_plain_row(struct verdict *v, int64_t row, const float *o) {
    if (all_numbers(o, v->inputs->shape.head_dim))
        return;
    for (int c = 0; c < v->inputs->shape.head_dim; c++) {
        bool poison = is_poison(o[c]), stray = !poison && v->inputs->finite && !isfinite(o[c]);
        v->unwritten += poison;
        v->nan += stray;
        if (poison || stray)
            remember_first(v, row, c, false, NAN, o[c], 0);
    }
}

static void check_sampled_row(struct verdict *v, int64_t row, const float *o) {
    const struct reference *ref = v->reference;
    int d = ref->head_dim;
    int64_t index = v->next++;
    double error = 0, signal = 0;
    for (int c = 0; c < d; c++) {
        double expected = ref->o[index * d + c], a = ref->a[index * d + c];
        double bound = tolerance_attention(expected, a, ref->score_scale[index], v->inputs->softmax_scale,
                                           v->inputs->shape.head_dim);
        bool poison = is_poison(o[c]);
        v->compared++;
        v->unwritten += poison;
        v->nan += !poison && isnan(o[c]) && !isnan(expected);
        if (poison || !tolerance_holds(o[c], expected, bound)) {
            v->wrong++;
            v->wrong_at[index * d + c] = 1;
            remember_first(v, row, c, true, expected, o[c], bound);
        }
        if (isfinite(expected) && !isinf(a)) {
            // Where the terms cancel, the reference is smaller than what a rounding error is measured by.
            double size = fmax(fabs(expected), a * ref->weight_norm[index]);
            double difference = o[c] - expected;
            error += difference * difference;
            signal += size * size;
        }
    }
    v->row_error[index] = error;
    v->row_signal[index] = signal;
}

void verdict_rows(struct verdict *v, int64_t first_row, int64_t rows, const float *o) {
    int d = v->inputs->shape.head_dim;
    v->elements += rows * d;
    for (int64_t r = 0; r < rows; r++) {
        bool sampled = v->next < v->sample->count && v->sample->row[v->next] == first_row + r;
        (sampled ? check_sampled_row : check_plain_row)(v, first_row + r, o + r * d);
    }
}

void verdict_lse(struct verdict *v, const float *lse) {
    for (int64_t i = 0; i < v->sample->count; i++) {
        double expected = v->reference->lse[i];
        float got = lse[v->sample->row[i]];
        if (is_poison(got) || !tolerance_holds(got, expected, tolerance_lse(expected))) {
            if (!v->wrong_lse++) {
                v->lse_expected = expected;
                v->lse_got = got;
            }
        }
    }
}

// Gates the RMS error of a group of rows. NaN fails.
static void gate(struct verdict *v, double error, double signal, double limit, int64_t row) {
    double rms = signal > 0 ? sqrt(error / signal) : 0; // no signal: every bound is the absolute one
    if (rms <= limit || v->rms_failed)
        return;
    v->rms_failed = true;
    v->rms_row = row;
    v->rms_failed_at = rms;
    v->rms_limit = limit;
}

// The limit for so many rows, walk being how far a partial sum of any score strays from 0.
static double limit_of(const struct verdict *v, double walk, int64_t rows) {
    const struct attention_shape *shape = &v->inputs->shape;
    return tolerance_rms(walk, v->inputs->softmax_scale, shape->head_dim, shape->nk, rows);
}

bool verdict_end(struct verdict *v) {
    int64_t nq = v->inputs->shape.nq, head_rows = 0;
    double error = 0, signal = 0, head_error = 0, head_signal = 0, walk = 0;
    for (int64_t i = 0; i < v->sample->count; i++)
        walk = fmax(walk, v->reference->score_walk[i]);
    for (int64_t i = 0; i < v->sample->count; i++) {
        error += v->row_error[i];
        signal += v->row_signal[i];
        head_error += v->row_error[i];
        head_signal += v->row_signal[i];
        head_rows++;
        bool last = i + 1 == v->sample->count || v->sample->row[i + 1] / nq != v->sample->row[i] / nq;
        gate(v, v->row_error[i], v->row_signal[i], tolerance_row_factor * limit_of(v, walk, INT64_MAX),
             v->sample->row[i]);
        if (last) {
            gate(v, head_error, head_signal, limit_of(v, walk, head_rows), -1);
            head_error = head_signal = 0;
            head_rows = 0;
        }
    }
    v->relative_rms = signal > 0 ? sqrt(error / signal) : 0;
    gate(v, error, signal, limit_of(v, walk, v->sample->count), -1);
    return v->next == v->sample->count && !v->wrong && !v->unwritten && !v->nan && !v->rms_failed && !v->wrong_lse;
}

static void explain_first(const struct verdict *v, FILE *out) {
    const struct attention_shape *shape = &v->inputs->shape;
    int64_t head = v->first_row / shape->nq;
    fprintf(out, "  first: o[%lld][%lld][%lld][%d] (batch, head, query, element)", (long long)(head / shape->heads),
            (long long)(head % shape->heads), (long long)(v->first_row % shape->nq), v->first_column);
    if (is_poison(v->first_got))
        fprintf(out, " was not written");
    else if (isnan(v->first_got))
        fprintf(out, " is NaN");
    else
        fprintf(out, " is %.8g", v->first_got);
    if (v->first_sampled && isfinite(v->first_expected))
        fprintf(out, ", expected %.8g (tolerance %.1e)", v->first_expected, v->first_bound);
    else if (v->first_sampled)
        fprintf(out, ", expected %s", isnan(v->first_expected) ? "NaN" : v->first_expected > 0 ? "inf" : "-inf");
    fputc('\n', out);
}

// The smallest power of two that makes at most limit tiles of n.
static int tile_size(int n, int limit) {
    int tile = 1;
    while ((n - 1) / tile + 1 > limit)
        tile *= 2;
    return tile;
}

// A map of the head that holds the first wrong element: '.' right, '#' wrong, ' ' not in the sample.
static void explain_map(const struct verdict *v, FILE *out) {
    enum { LINES = 16, CHARACTERS = 32 };
    const struct attention_shape *shape = &v->inputs->shape;
    int d = shape->head_dim, row_tile = tile_size(shape->nq, LINES), column_tile = tile_size(d, CHARACTERS);
    char map[LINES][CHARACTERS + 1];
    int lines = (shape->nq - 1) / row_tile + 1, characters = (d - 1) / column_tile + 1;
    int64_t head = v->first_row / shape->nq, wrong_heads = 0, last_head = -1;
    memset(map, ' ', sizeof map);
    for (int64_t i = 0; i < v->sample->count; i++) {
        int64_t row = v->sample->row[i];
        const uint8_t *wrong = v->wrong_at + i * d;
        if (row / shape->nq != last_head && memchr(wrong, 1, (size_t)d)) {
            last_head = row / shape->nq;
            wrong_heads++;
        }
        if (row / shape->nq != head)
            continue;
        for (int c = 0; c < d; c++) {
            char *tile = &map[row % shape->nq / row_tile][c / column_tile];
            *tile = wrong[c] || *tile == '#' ? '#' : '.';
        }
    }
    int64_t heads = (int64_t)shape->batch * shape->heads;
    if (heads > 1)
        fprintf(out, "  heads with wrong elements: %lld of %lld\n", (long long)wrong_heads, (long long)heads);
    fprintf(out, "  output of batch %lld head %lld: a line is %d quer%s, a character %d element%s, # wrong, . right\n",
            (long long)(head / shape->heads), (long long)(head % shape->heads), row_tile, row_tile > 1 ? "ies" : "y",
            column_tile, column_tile > 1 ? "s" : "");
    for (int l = 0; l < lines; l++) {
        map[l][characters] = 0;
        fprintf(out, "  %7d |%s|\n", l * row_tile, map[l]);
    }
}

void verdict_explain(const struct verdict *v, FILE *out) {
    if (v->wrong)
        fprintf(out, "  %lld of %lld elements wrong%s\n", (long long)v->wrong, (long long)v->compared,
                v->compared < v->elements ? " (a sample of the rows)" : "");
    if (v->unwritten)
        fprintf(out, "  %lld of %lld elements were never written: they still hold the poison\n",
                (long long)v->unwritten, (long long)v->elements);
    if (v->nan)
        fprintf(out, "  %lld elements are NaN or infinite where the reference is a number\n", (long long)v->nan);
    if (v->first_row >= 0) {
        explain_first(v, out);
        if (v->wrong)
            explain_map(v, out);
    }
    if (v->rms_failed && !v->wrong) {
        fprintf(out, "  every element is within its own bound, but the relative RMS error is %.1e", v->rms_failed_at);
        if (v->rms_row >= 0)
            fprintf(out, " in query %lld of head %lld", (long long)(v->rms_row % v->inputs->shape.nq),
                    (long long)(v->rms_row / v->inputs->shape.nq));
        fprintf(out, ", the limit %.1e: too large for fp32 arithmetic\n", v->rms_limit);
    }
    if (v->wrong_lse)
        fprintf(out, "  %lld log-sum-exp values wrong, the first is %.8g, expected %.8g\n", (long long)v->wrong_lse,
                v->lse_got, v->lse_expected);
}

void verdict_free(struct verdict *v) {
    free(v->wrong_at);
    free(v->row_error);
    free(v->row_signal);
    memset(v, 0, sizeof *v);
}
