#include "host/diagnosis_mistakes.h"

#include "host/parallel.h"
#include "host/verdict.h"

#include <stdlib.h>

// Multiply-adds of a case that is small enough to be computed once for each suspect, and of all that is known to be
// right.
enum { SMALL_CASE = 1 << 20, SMALL_CASES = 1 << 23, PROBE_SEED = 4711 };

// Cases that tell mistakes apart: several heads and batches, long rows of keys, wide rows, more queries than a block
// has. The last one has so many heads that a kernel that deals out tiles has no blocks to spare: each gets several.
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
    {{1, 264, 264, 1, 128, 36, false, LAYOUT_BHND}, INPUTS_RISING},
};

static const struct mistake *mistake_of(int suspect) {
    return attention_suspects[suspect].mistake;
}

static void predict(int suspect, const void *problem, struct prediction *prediction) {
    variant_predict(suspect == NO_MISTAKE ? NULL : &attention_suspects[suspect].variant, problem, prediction);
}

static bool knows_nan(int suspect) {
    return attention_suspects[suspect].variant.hidden_multiplied;
}

static struct suspects all_suspects(void) {
    return (struct suspects){
        .count = attention_suspect_count, .mistake = mistake_of, .predict = predict, .knows_nan = knows_nan};
}

static double work(const struct attention_shape *s) {
    return (double)s->batch * s->heads * s->nq * s->nk * s->head_dim;
}

static bool is_plain(const struct attention_shape *s) {
    return s->layout == LAYOUT_BHND && s->kv_heads == s->heads;
}

static bool is_usable(const struct attention_shape *s) {
    return is_plain(s) && work(s) <= SMALL_CASE;
}

static int at_most(int value, int limit) {
    return value < limit ? value : limit;
}

// The same inputs in a shape that is small enough: fewer heads, then fewer queries and keys in the same proportion.
static struct attention_case reduced(struct attention_case c) {
    struct attention_shape *s = &c.shape;
    s->batch = at_most(s->batch, 2);
    s->heads = s->kv_heads = at_most(s->heads, 2);
    while (work(s) > SMALL_CASE) {
        s->nq = (s->nq + 1) / 2;
        s->nk = (s->nk + 1) / 2;
    }
    return c;
}

// As the check judges it.
static bool is_right(const struct host_inputs *inputs, const float *o) {
    int64_t rows = shape_q_elements(&inputs->shape) / inputs->shape.head_dim;
    struct row_sample sample = sample_rows(rows, inputs->shape.nq, 1, PROBE_SEED);
    struct reference reference = reference_attention(inputs, &sample);
    struct verdict verdict;
    verdict_begin(&verdict, inputs, &sample, &reference);
    verdict_rows(&verdict, 0, rows, o);
    bool right = verdict_end(&verdict);
    verdict_free(&verdict);
    reference_free(&reference);
    sample_free(&sample);
    return right;
}

// Runs the kernel on a case and lets the suspects hear its output. A probe, and a case in a smaller shape, may be
// right. Where all that is left would read outside the tensors, the kernel is spared the case.
static void hear_output(struct suspects *suspects, const struct attention_case *c, uint64_t seed, bool is_probe,
                        attention_run *run, void *context) {
    struct host_inputs inputs = inputs_attention(&c->shape, c->family, seed);
    int64_t elements = shape_q_elements(&c->shape);
    float *o = host_allocate(elements, sizeof *o);
    if (!(is_probe && suspects_silent(suspects, &inputs, elements)) && run(context, &inputs, o))
        suspects_hear(suspects, &inputs, elements, inputs.finite, is_probe && is_right(&inputs, o) ? NULL : o);
    free(o);
    inputs_free(&inputs);
}

static void hear_right(struct suspects *suspects, const struct attention_case *c, uint64_t seed) {
    struct host_inputs inputs = inputs_attention(&c->shape, c->family, seed);
    suspects_hear(suspects, &inputs, shape_q_elements(&c->shape), inputs.finite, NULL);
    inputs_free(&inputs);
}

// Whether the mistake fits what the kernel gives for a probe, with any of its parameters: a kernel may choose its tile
// by the shape.
static bool is_confirmed(const struct mistake *mistake, const struct attention_case *c, attention_run *run,
                         void *context) {
    struct suspects suspects = all_suspects();
    for (int i = 0; i < suspects.count; i++) {
        suspects.dropped[i] = mistake_of(i) != mistake;
        suspects.explained[i] = mistake_of(i) == mistake;
    }
    hear_output(&suspects, c, PROBE_SEED, true, run, context);
    const struct mistake *only;
    return suspects_left(&suspects, &only) == 1;
}

// The one mistake that is left. One that is alone after a few wrong cases has to be right about the small probes
// without a mask, too. The others only tell apart what is left: the mask may have a mistake of its own, which waits
// until this one is mended.
static const struct mistake *probe(struct suspects *suspects, bool causal, attention_run *run, void *context) {
    const struct mistake *only;
    int left = suspects_left(suspects, &only);
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
        const struct attention_shape *s = &probes[i].shape;
        if ((s->causal && !causal) || ((s->causal || !is_usable(s)) && left == 1))
            continue;
        if (left == 1 && !is_confirmed(only, &probes[i], run, context))
            return NULL;
        if (left != 1)
            hear_output(suspects, &probes[i], PROBE_SEED, true, run, context);
        left = suspects_left(suspects, &only);
    }
    return left == 1 ? only : NULL;
}

const struct mistake *diagnosis_attention(const struct attention_evidence *evidence, int count, bool causal,
                                          attention_run *run, void *context) {
    struct suspects suspects = all_suspects();
    double spent = 0;
    for (int i = 0; i < count; i++) {
        const struct attention_case *c = &evidence[i].which;
        if (evidence[i].outcome != DIAGNOSIS_WRONG || !is_plain(&c->shape))
            continue;
        bool usable = is_usable(&c->shape);
        struct attention_case heard = usable ? *c : reduced(*c);
        hear_output(&suspects, &heard, evidence[i].seed, !usable, run, context);
    }
    for (int i = 0; i < count; i++) {
        const struct attention_shape *s = &evidence[i].which.shape;
        if (evidence[i].outcome == DIAGNOSIS_RIGHT && is_usable(s) && spent + work(s) <= SMALL_CASES) {
            spent += work(s);
            hear_right(&suspects, &evidence[i].which, evidence[i].seed);
        }
    }
    return probe(&suspects, causal, run, context);
}
