// The mistakes of a backward pass that have a name. Each is a variant of the reference.
#include "host/parallel.h"
#include "operations/backward_operation.h"
#include "operations/backward_reference.h"
#include "operations/diagnosis_models.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Multiply-adds of a problem of which every model is computed.
enum { SMALL_CASE = 1 << 21 };
static const double widening = 4.0;

static const struct {
    struct mistake mistake;
    struct backward_variant variant;
} models[] = {
#define MISTAKE(code, title, reasoning, ...) {{code, {title, reasoning}}, __VA_ARGS__},
#include "operations/backward_mistakes.def"
#undef MISTAKE
};

// Rows of the table with the same code are one mistake.
static const struct mistake *mistake_of(int model) {
    int first = 0;
    while (strcmp(models[first].mistake.code, models[model].mistake.code) != 0)
        first++;
    return &models[first].mistake;
}

struct job {
    struct backward_reference *reference;
    const struct backward_variant *variant;
    int output;
    struct prediction prediction; // of this output
};

static void predict_rows(int64_t begin, int64_t end, void *context) {
    const struct job *job = context;
    int d = job->reference->problem->which.attention.head_dim;
    double *size = host_allocate(d, sizeof *size);
    for (int64_t r = begin; r < end; r++) {
        struct gradient_row row = {
            .value = job->prediction.value + r * d, .bound = job->prediction.bound + r * d, .size = size};
        backward_row(job->reference, job->variant, job->output, r, &row);
        for (int c = 0; c < d; c++) {
            row.bound[c] *= widening;
            if (!isfinite(row.value[c]))
                row.value[c] = NAN;
        }
    }
    free(size);
}

static void predict(int model, const struct host_problem *problem, struct prediction *p) {
    static const struct backward_variant right = {0};
    struct backward_reference reference = backward_begin(problem);
    int64_t at = 0;
    for (int output = 0; output < problem->outputs; output++) {
        const struct host_tensor *tensor = problem_output(problem, output);
        struct job job = {.reference = &reference,
                          .variant = model == RIGHT_MODEL ? &right : &models[model].variant,
                          .output = output,
                          .prediction = {.value = p->value + at, .bound = p->bound + at}};
        parallel_for(tensor->rows, 4, predict_rows, &job);
        at += tensor->rows * tensor->columns;
    }
    backward_reference_free(&reference);
}

static double work(const struct problem_case *which) {
    const struct attention_shape *s = &which->attention;
    return (double)s->batch * s->heads * s->nq * s->nk * s->head_dim;
}

static bool is_usable(const struct problem_case *which) {
    return work(which) <= SMALL_CASE;
}

void backward_explain(const struct diagnosed *kernel, const struct evidence *evidence, int count, FILE *out) {
    // Several tiles of queries and of keys, a scale of its own, a group, a diagonal.
    static const struct problem_case probes[] = {
        {.attention = {1, 1, 1, 70, 150, 40, .layout = LAYOUT_BHND}},
        {.attention = {1, 2, 2, 40, 70, 64, .layout = LAYOUT_BHND}, .has_scale = true, .scale = 0.3f},
        {.attention = {1, 1, 1, 150, 150, 64, .causal = true, .layout = LAYOUT_BHND}},
        {.attention = {1, 4, 2, 40, 70, 40, .layout = LAYOUT_BHND}},
    };
    static const struct mistake_models all = {.count = sizeof models / sizeof *models,
                                              .mistake = mistake_of,
                                              .predict = predict,
                                              .usable = is_usable,
                                              .probe = probes,
                                              .probes = sizeof probes / sizeof *probes};
    diagnosis_by_models(kernel, evidence, count, &all, out);
}
