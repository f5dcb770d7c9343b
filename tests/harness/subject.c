#include "subject.h"

#include "host/parallel.h"
#include "host/verdict.h"
#include "operations/attention_operation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FAILURES = 3 };

bool subject_fp32(void *context, const struct host_problem *problem, float *outputs) {
    struct subject *subject = context;
    int64_t rows = problem_output(problem, OUTPUT_O)->rows;
    int d = problem->which.attention.head_dim;
    for (int64_t row = 0; row < rows; row++) {
        float lse = fp32_attention_row(problem, subject->kernel, row, outputs + row * d);
        if (problem->outputs > OUTPUT_LSE)
            outputs[rows * d + row] = lse;
    }
    return true;
}

static struct prediction predict(const struct variant *variant, const struct host_problem *problem) {
    int64_t elements = problem_output_elements(problem);
    struct prediction p = {.value = host_allocate(elements, sizeof(double)),
                           .bound = host_allocate(elements, sizeof(double))};
    variant_predict(variant, problem, &p);
    return p;
}

// Rows that may be too small by a factor of their own are.
static void shrink(const struct host_tensor *o, const struct prediction *p) {
    for (int64_t row = p->shrunk_from; row < o->rows; row++)
        for (int64_t c = 0; c < o->columns; c++)
            p->value[row * o->columns + c] *= 0.2 + 0.6 * (double)(row % 7) / 7;
}

// What the prediction leaves open is right: the log-sum-exp of a kernel that is mistaken in o. One that knows short
// rows only is the whole row's here, as of a kernel whose tiles are large.
bool subject_variant(void *context, const struct host_problem *problem, float *outputs) {
    struct subject *subject = context;
    const struct host_tensor *o = problem_output(problem, OUTPUT_O);
    int64_t elements = problem_output_elements(problem), of_o = o->rows * o->columns;
    struct variant whole = *subject->variant;
    whole.known_keys = whole.known_columns = 0;
    struct prediction p = predict(&whole, problem), right = {0};
    shrink(o, &p);
    if (problem->outputs > OUTPUT_LSE)
        right = predict(NULL, problem);
    for (int64_t i = 0; i < elements; i++) {
        if (i < of_o)
            outputs[i] = dtype_round(o->dtype, (float)p.value[i]);
        else
            outputs[i] = (float)(isinf(p.bound[i]) ? right.value[i] : p.value[i]);
        if (subject->variant->unwritten && i < of_o && i % o->columns >= 32)
            memset(&outputs[i], 0xFF, sizeof outputs[i]);
    }
    free(p.value);
    free(p.bound);
    free(right.value);
    free(right.bound);
    return true;
}

static bool covers(void *context, const struct problem_case *which) {
    const struct subject *subject = context;
    const struct attention_shape *s = &which->attention;
    return (subject->causal || !s->causal) && (subject->groups || s->kv_heads == s->heads) &&
           (subject->strides || s->layout == LAYOUT_BHND);
}

struct diagnosed subject_diagnosed(struct subject *subject) {
    return (struct diagnosed){.operation = &attention_operation,
                              .optional = subject->lse,
                              .covers = covers,
                              .run = subject->run,
                              .context = subject};
}

const struct mistake *subject_mistake(struct subject *subject, const struct evidence *evidence, int count) {
    const struct diagnosed kernel = subject_diagnosed(subject);
    return diagnosis(&kernel, evidence, count);
}

const char *subject_diagnose(struct subject *subject, uint64_t seed, const struct problem_case *list, int length) {
    struct evidence evidence[MAX_CASES];
    int count = 0, failed = 0;
    for (int i = 0; i < length && failed < FAILURES; i++) {
        struct host_problem problem;
        if (!covers(subject, &list[i]))
            continue;
        attention_make(&list[i], seed + (uint64_t)i, true, &problem);
        problem.outputs -= !subject->lse;
        float *outputs = host_allocate(problem_output_elements(&problem), sizeof *outputs);
        bool right = subject->run(subject, &problem, outputs) && verdict_of_all(&problem, outputs, 1);
        failed += !right;
        evidence[count++] =
            (struct evidence){list[i], seed + (uint64_t)i, right ? OUTCOME_RIGHT : OUTCOME_WRONG, subject->lse};
        free(outputs);
        host_problem_free(&problem);
    }
    const struct mistake *mistake = subject_mistake(subject, evidence, count);
    return mistake ? mistake->code : "none";
}
