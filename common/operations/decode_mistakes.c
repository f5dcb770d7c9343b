// The mistakes of decoding that have a name.
#include "host/parallel.h"
#include "operations/decode_operation.h"

#include <math.h>
#include <stdlib.h>

static const struct mistake mistakes[DECODE_MISTAKES] = {
    [DECODE_GROUPS_INTERLEAVED] = {"groups-interleaved",
                                   {"query head h is given the keys of head h % kv_heads",
                                    "Adjacent query heads share a key head: with 8 on 2, heads 0 to 3 have the first "
                                    "one. Which key head does your kernel give to query head 1?"}},
    [DECODE_LENGTH_OF_FIRST] = {"length-of-another-request",
                                {"every request is given the length of the first one",
                                 "The requests of a batch differ in length. Which element of lens belongs to the "
                                 "request that the block computes?"}},
    [DECODE_LAST_KEY_MISSING] = {"last-key-missing",
                                 {"the last key of each request is left out",
                                  "A request of n keys has keys 0 to n - 1. Is its last key before or behind the limit "
                                  "that your kernel masks with?"}},
    [DECODE_PAGES_IN_ORDER] = {"block-table-ignored",
                               {"pages are read in the order in which they lie in memory",
                                "The table says which page of the cache holds the i-th page_size keys of a request. "
                                "Does the number that your kernel loads from go through the table?"}},
};

static const struct mistake *mistake_of(int model) {
    return &mistakes[model];
}

static void predict(int model, const struct host_problem *problem, struct prediction *prediction) {
    int64_t rows = problem_output(problem, 0)->rows, d = problem_output(problem, 0)->columns;
    struct row_sample all = {rows, host_allocate(rows, sizeof *all.row)};
    for (int64_t i = 0; i < rows; i++)
        all.row[i] = i;
    struct decode_rows computed = decode_compute(problem, &all, (enum decode_mistake)model);
    for (int64_t i = 0; i < rows * d; i++) {
        prediction->value[i] = computed.value[i];
        prediction->bound[i] = 2 * computed.bound[i];
    }
    for (int64_t i = 0; problem->outputs > 1 && i < rows; i++) {
        prediction->value[rows * d + i] = computed.lse[i];
        prediction->bound[rows * d + i] = 2 * computed.lse_bound[i];
    }
    decode_rows_free(&computed);
    sample_free(&all);
}

static bool usable(const struct problem_case *which) {
    const struct attention_shape *s = &which->attention;
    return (double)s->batch * s->heads * s->nq * s->nk * s->head_dim < 1e7;
}

void decode_explain(const struct diagnosed *kernel, const struct evidence *evidence, int count, FILE *out) {
    static const struct problem_case probes[] = {
        {.attention = {3, 4, 2, 1, 100, 64, .layout = LAYOUT_PAGES, .stride = {16}}, .family = INPUTS_RAGGED},
        {.attention = {3, 4, 2, 1, 100, 64}, .family = INPUTS_RAGGED}};
    static const struct mistake_models all = {DECODE_MISTAKES, mistake_of, predict, usable, probes, 2};
    diagnosis_by_models(kernel, evidence, count, &all, out);
}
