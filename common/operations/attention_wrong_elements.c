// Which columns of a wrong output are wrong, where others are not; and with a NaN or an infinity among the inputs,
// which rows, and where it lies.
#include "host/parallel.h"
#include "host/verdict.h"
#include "operations/attention_conditions.h"
#include "operations/attention_operation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 4711, OTHER_SEED, NONE = -1 };

struct wrong_elements {
    struct attention_shape shape;
    bool *row, *column; // [rows], [head_dim]: it has a wrong element
    int64_t rows;
    bool not_finite;     // wrong elements that are no numbers and should be
    bool finite_instead; // the other way round
};

static void mark(struct wrong_elements *w, const struct verdict *v, const struct row_sample *sample, const float *o) {
    const int d = w->shape.head_dim;
    for (int64_t i = 0; i < sample->count; i++)
        for (int c = 0; c < d; c++) {
            if (!v->wrong_at[i * d + c])
                continue;
            const bool finite = isfinite(o[sample->row[i] * d + c]);
            w->row[sample->row[i]] = w->column[c] = true;
            w->not_finite |= !finite;
            w->finite_instead |= finite;
        }
}

static bool find(const struct diagnosed *kernel, const struct host_problem *problem, struct wrong_elements *w) {
    struct row_sample sample = sample_rows(w->rows, w->shape.nq, 1, SEED);
    void *reference = attention_operation.refer(problem, &sample);
    float *outputs = host_allocate(problem_output_elements(problem), sizeof *outputs);
    struct verdict verdict;
    verdict_begin(&verdict, problem, &sample, reference, OUTPUT_O);
    bool ran = kernel->run(kernel->context, problem, outputs);
    if (ran) {
        verdict_rows(&verdict, 0, w->rows, outputs);
        ran = !verdict_end(&verdict);
        mark(w, &verdict, &sample, outputs);
    }
    verdict_free(&verdict);
    attention_operation.release(reference);
    sample_free(&sample);
    free(outputs);
    return ran;
}

static void report_columns(const struct wrong_elements *w, FILE *out) {
    const int d = w->shape.head_dim;
    char text[200];
    int wrong = 0;
    for (int c = 0; c < d; c++)
        wrong += w->column[c];
    if (wrong && wrong < d && pattern_ranges(w->column, d, "column", "columns", text, sizeof text))
        fprintf(out, "  Output %s are wrong; the other columns are right [wrong-columns]\n", text);
}

static void report_rows(const struct wrong_elements *w, FILE *out) {
    const struct attention_shape *s = &w->shape;
    const int64_t heads = w->rows / s->nq;
    int64_t first = NONE, bad = 0;
    char text[200];
    for (int64_t h = 0; h < heads; h++) {
        bool any = false;
        for (int i = 0; i < s->nq; i++)
            any = any || w->row[h * s->nq + i];
        bad += any;
        first = any && first == NONE ? h : first;
    }
    if (first == NONE || !pattern_ranges(w->row + first * s->nq, s->nq, "query", "queries", text, sizeof text))
        return;
    fprintf(out,
            "  The output is wrong in %lld of %lld heads; in batch %lld head %lld the wrong rows are %s [wrong-rows]\n",
            (long long)bad, (long long)heads, (long long)(first / s->heads), (long long)(first % s->heads), text);
    fprintf(out, "  %s\n",
            w->not_finite && w->finite_instead
                ? "Some of the wrong elements are NaN or infinite, others are finite [some-not-finite]"
            : w->not_finite ? "The wrong elements are NaN or infinite and should be finite [not-finite]"
                            : "The wrong elements are finite [finite-but-wrong]");
}

static void report_special(const struct host_problem *problem, FILE *out) {
    const struct attention_shape *s = &problem->which.attention;
    for (int i = Q; i <= V; i++) {
        const struct host_tensor *t = &problem->tensor[i];
        const int n = i == Q ? s->nq : s->nk, heads = i == Q ? s->heads : s->kv_heads;
        for (int64_t e = 0; e < t->kept * t->columns; e++) {
            const int64_t row = e / t->columns;
            if (isfinite(t->values[e]))
                continue;
            fprintf(out, "  %s is in %s, batch %lld head %lld row %lld [special-input]\n",
                    isnan(t->values[e]) ? "the NaN of the inputs" : "the infinity of the inputs", t->name,
                    (long long)(row / n / heads), (long long)(row / n % heads), (long long)(row % n));
            return;
        }
    }
}

// Looks at the case with the inputs of a seed. False where the kernel could not be asked; w is to be freed all the
// same.
static bool observe_case(const struct diagnosed *kernel, const struct problem_case *which, uint64_t seed,
                         struct host_problem *problem, struct wrong_elements *w) {
    *w = (struct wrong_elements){.shape = which->attention};
    attention_make(which, seed, true, problem);
    if (!kernel->optional)
        problem_omit_optional(problem);
    w->rows = problem->tensor[O].rows;
    w->row = host_zeros(w->rows, sizeof *w->row);
    w->column = host_zeros(which->attention.head_dim, sizeof *w->column);
    return kernel->covers(kernel->context, which) && find(kernel, problem, w);
}

static void free_observation(struct wrong_elements *w, struct host_problem *problem) {
    free(w->row);
    free(w->column);
    host_problem_free(problem);
}

void attention_wrong_elements(const struct diagnosed *kernel, const struct problem_case *which, FILE *out) {
    struct host_problem problem, other_problem;
    struct wrong_elements w, other;
    char *explained = NULL, text[160];
    size_t size = 0;
    FILE *lines = open_memstream(&explained, &size);
    if (observe_case(kernel, which, SEED, &problem, &w) && lines) {
        // Columns that are wrong by chance, as those are whose error is as large as what is allowed, are others then.
        if (observe_case(kernel, which, OTHER_SEED, &other_problem, &other) &&
            !memcmp(w.column, other.column, (size_t)which->attention.head_dim * sizeof *w.column))
            report_columns(&w, lines);
        free_observation(&other, &other_problem);
        if (!problem.finite) {
            report_special(&problem, lines);
            report_rows(&w, lines);
        }
    }
    if (lines)
        fclose(lines);
    case_text(kernel->operation, which, text, sizeof text);
    if (size)
        fprintf(out, "\nWrong elements of the output (%s SEED=%d):\n%s", text, SEED, explained);
    free(explained);
    free_observation(&w, &problem);
}
