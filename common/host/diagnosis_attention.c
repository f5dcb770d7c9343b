#include "host/diagnosis_mistakes.h"

#include "host/parallel.h"

#include <stdlib.h>

// Multiply-adds of a case that is small enough to be computed once for each suspect, and of all that is known to be
// right.
enum { SMALL_CASE = 1 << 20, SMALL_CASES = 1 << 23, PROBE_SEED = 4711 };

// Cases that tell mistakes apart: several heads and batches, long rows of keys, wide rows, more queries than a block
// has.
static const struct attention_case probes[] = {
    {{2, 2, 2, 5, 37, 39, false, LAYOUT_BHND}, INPUTS_NORMAL},
    {{1, 2, 2, 3, 300, 64, false, LAYOUT_BHND}, INPUTS_NORMAL},
    {{1, 1, 1, 70, 40, 32, false, LAYOUT_BHND}, INPUTS_NORMAL},
    {{1, 1, 1, 2, 20, 160, false, LAYOUT_BHND}, INPUTS_NORMAL},
    {{1, 1, 1, 4, 70, 64, false, LAYOUT_BHND}, INPUTS_OFFSET},
    {{1, 1, 1, 4, 133, 64, false, LAYOUT_BHND}, INPUTS_RISING},
    {{1, 2, 2, 40, 40, 64, true, LAYOUT_BHND}, INPUTS_NORMAL},
    {{1, 1, 1, 6, 40, 32, true, LAYOUT_BHND}, INPUTS_NORMAL},
    {{1, 1, 1, 12, 7, 32, true, LAYOUT_BHND}, INPUTS_NORMAL},
};

static const struct mistake *mistake_of(int suspect) {
    return attention_suspects[suspect].mistake;
}

static void predict(int suspect, const void *problem, struct prediction *prediction) {
    static const struct variant right = {0};
    variant_predict(suspect == NO_MISTAKE ? &right : &attention_suspects[suspect].variant, problem, prediction);
}

static bool knows_nan(int suspect) {
    return attention_suspects[suspect].variant.hidden_multiplied;
}

static double work(const struct attention_shape *s) {
    return (double)s->batch * s->heads * s->nq * s->nk * s->head_dim;
}

static bool is_usable(const struct attention_shape *s) {
    return s->layout == LAYOUT_BHND && s->kv_heads == s->heads && work(s) <= SMALL_CASE;
}

// Runs the kernel on a case and lets the suspects hear its output. A probe may be right, too.
static void hear_output(struct suspects *suspects, const struct attention_case *c, uint64_t seed, bool is_probe,
                        attention_run *run, void *context) {
    struct host_inputs inputs = inputs_attention(&c->shape, c->family, seed);
    int64_t elements = shape_q_elements(&c->shape);
    float *o = host_allocate(elements, sizeof *o);
    if (run(context, &inputs, o))
        suspects_hear(suspects, &inputs, elements, inputs.finite,
                      is_probe && suspects_right(suspects, &inputs, elements, o) ? NULL : o);
    free(o);
    inputs_free(&inputs);
}

static void hear_right(struct suspects *suspects, const struct attention_case *c, uint64_t seed) {
    struct host_inputs inputs = inputs_attention(&c->shape, c->family, seed);
    suspects_hear(suspects, &inputs, shape_q_elements(&c->shape), inputs.finite, NULL);
    inputs_free(&inputs);
}

// Probes are run until one suspect is left. One on which all agree would tell nothing.
static int probe(struct suspects *suspects, bool causal, attention_run *run, void *context,
                 const struct mistake **only) {
    int left = suspects_left(suspects, only);
    for (size_t i = 0; i < sizeof probes / sizeof *probes && left != 1; i++) {
        if (probes[i].shape.causal && !causal)
            continue;
        struct host_inputs inputs = inputs_attention(&probes[i].shape, probes[i].family, PROBE_SEED);
        bool telling = suspects_differ(suspects, &inputs, shape_q_elements(&probes[i].shape));
        inputs_free(&inputs);
        if (telling)
            hear_output(suspects, &probes[i], PROBE_SEED, true, run, context);
        left = suspects_left(suspects, only);
    }
    return left;
}

const struct mistake *diagnosis_attention(const struct attention_evidence *evidence, int count, bool causal,
                                          attention_run *run, void *context) {
    struct suspects suspects = {
        .count = attention_suspect_count, .mistake = mistake_of, .predict = predict, .knows_nan = knows_nan};
    const struct mistake *only;
    double spent = 0;
    for (int i = 0; i < count; i++)
        if (evidence[i].outcome == DIAGNOSIS_WRONG && is_usable(&evidence[i].which.shape))
            hear_output(&suspects, &evidence[i].which, evidence[i].seed, false, run, context);
    for (int i = 0; i < count; i++) {
        const struct attention_shape *s = &evidence[i].which.shape;
        if (evidence[i].outcome == DIAGNOSIS_RIGHT && is_usable(s) && spent + work(s) <= SMALL_CASES) {
            spent += work(s);
            hear_right(&suspects, &evidence[i].which, evidence[i].seed);
        }
    }
    return probe(&suspects, causal, run, context, &only) == 1 ? only : NULL;
}
