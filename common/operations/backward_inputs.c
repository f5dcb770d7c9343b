#include "operations/backward_operation.h"

#include "host/inputs.h"
#include "host/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STREAM_D_O = 7, STREAM_O };

// Multiply-adds of a forward pass that the host computes, for each of its threads: about five seconds.
static const double most_forward = 4e9;

// As many of any type are a multiple of the 16 bytes that tensor maps want.
enum { ALIGNED_ELEMENTS = 8 };

struct filling {
    const struct host_problem *forward; // its q, k and v are there
    uint64_t seed;
    bool estimate; // instead of a forward pass
    float *o, *lse, *d_o;
    int64_t o_kept;
};

// o and lse of a row, in double precision. p: [nk]
static void forward_row(const struct filling *f, int64_t row, double *p) {
    const struct attention_shape *s = &f->forward->which.attention;
    const float *q = host_row(&f->forward->tensor[Q], row);
    int d = s->head_dim, keys = shape_attended_keys(s, (int)(row % s->nq));
    int64_t first_key = shape_first_key(s, row);
    double maximum = -INFINITY, sum = 0, *o = p + s->nk;
    for (int j = 0; j < keys; j++) {
        const float *k = host_row(&f->forward->tensor[K], first_key + j);
        double dot = 0;
        for (int c = 0; c < d; c++)
            dot += (double)q[c] * k[c];
        p[j] = f->forward->softmax_scale * dot;
        maximum = fmax(maximum, p[j]);
    }
    memset(o, 0, (size_t)d * sizeof *o);
    for (int j = 0; j < keys; j++) {
        const float *v = host_row(&f->forward->tensor[V], first_key + j);
        double weight = exp(p[j] - maximum);
        sum += weight;
        for (int c = 0; c < d; c++)
            o[c] += weight * v[c];
    }
    for (int c = 0; c < d; c++)
        f->o[row * d + c] = keys ? (float)(o[c] / sum) : 0;
    f->lse[row] = keys ? (float)(maximum + log(sum)) : -INFINITY;
}

// The sum of exp(s) over keys that are N(0,1) is on average their number times exp(scale^2 |q|^2 / 2).
static void estimate_lse(const struct filling *f, int64_t row) {
    const struct attention_shape *s = &f->forward->which.attention;
    const float *q = host_row(&f->forward->tensor[Q], row);
    int keys = shape_attended_keys(s, (int)(row % s->nq));
    double squares = 0, scale = f->forward->softmax_scale;
    for (int c = 0; c < s->head_dim; c++)
        squares += (double)q[c] * q[c];
    f->lse[row] = keys ? (float)(log(keys) + scale * scale * squares / 2) : -INFINITY;
}

static void fill_rows(int64_t begin, int64_t end, void *context) {
    const struct filling *f = context;
    const struct attention_shape *s = &f->forward->which.attention;
    int d = s->head_dim;
    double *scratch = host_allocate(s->nk + d, sizeof *scratch);
    for (int64_t r = begin; r < end; r++) {
        if (f->estimate)
            estimate_lse(f, r);
        else
            forward_row(f, r, scratch);
        if (r >= f->o_kept)
            continue;
        inputs_normal_row(f->d_o + r * d, r, d, f->seed, STREAM_D_O);
        if (f->estimate)
            inputs_normal_row(f->o + r * d, r, d, f->seed, STREAM_O);
        for (int c = 0; c < d && f->estimate; c++)
            f->o[r * d + c] /= sqrtf((float)s->nk);
    }
    free(scratch);
}

// The layout of a gradient. Of LAYOUT_MIXED no tensor lies as the one whose gradient it is.
static struct row_layout gradient_layout(const struct attention_shape *shape, const struct host_tensor *of, int index) {
    struct row_layout layout = of->layout;
    struct attention_shape own = *shape;
    if (shape->layout != LAYOUT_MIXED)
        return layout;
    own.layout = layout.stride[2] == shape->head_dim ? LAYOUT_BNHD : LAYOUT_BHND;
    shape_strides(&own, layout.heads, layout.n, layout.stride);
    layout.stride[0] += (O + 2 + index) * ALIGNED_ELEMENTS;
    return layout;
}

static float *take(struct host_tensor *tensor) {
    float *values = tensor->values;
    tensor->values = NULL;
    return values;
}

void backward_make(const struct problem_case *which, uint64_t seed, bool with_inputs, struct host_problem *problem) {
    const struct attention_shape *s = &which->attention;
    struct host_problem forward;
    attention_make(which, seed, with_inputs, &forward);
    struct host_tensor *q = &forward.tensor[Q], *k = &forward.tensor[K], *v = &forward.tensor[V];
    int d = s->head_dim;
    int64_t lse_kept = with_inputs ? inputs_kept(q->rows, 1) : 0;
    double work = 2.0 * (double)q->rows * s->nk * d;
    bool repeats = q->kept < q->rows || k->kept < k->rows;
    struct filling filling = {.forward = &forward,
                              .seed = seed,
                              .estimate = repeats || work > most_forward * parallel_threads(),
                              .o = host_allocate(q->kept * d, sizeof(float)),
                              .lse = host_allocate(lse_kept, sizeof(float)),
                              .d_o = host_allocate(q->kept * d, sizeof(float)),
                              .o_kept = q->kept};
    parallel_for(lse_kept, 4, fill_rows, &filling);
    *problem = (struct host_problem){
        .operation = &backward_operation, .which = *which, .softmax_scale = forward.softmax_scale};
    for (int i = Q; i <= V; i++) {
        struct host_tensor *from = &forward.tensor[i];
        problem_add_input(problem, from->name, which->dtype, from->rows, d, take(from), from->kept)->layout =
            from->layout;
    }
    problem_add_input(problem, "o", which->dtype, q->rows, d, filling.o, q->kept)->layout = forward.tensor[O].layout;
    problem_add_input(problem, "lse", ATTENTION_FP32, q->rows, 1, filling.lse, lse_kept);
    problem_add_input(problem, "d_o", which->dtype, q->rows, d, filling.d_o, q->kept)->layout =
        gradient_layout(s, &forward.tensor[O], 0);
    problem_add_output(problem, "dq", which->dtype, q->rows, d)->layout = gradient_layout(s, q, 1);
    problem_add_output(problem, "dk", which->dtype, k->rows, d)->layout = gradient_layout(s, k, 2);
    problem_add_output(problem, "dv", which->dtype, v->rows, d)->layout = gradient_layout(s, v, 3);
    problem->finite = true; // an lse of -inf is that of a query that sees no key
    host_problem_free(&forward);
}
