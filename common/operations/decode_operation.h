// Decoding as an operation: its tensors, and what its files share. A case has the shape of attention, of which nk is
// what the cache has room for in a request; the family of its inputs says how long the requests are (case.h).
#ifndef OPERATIONS_DECODE_H
#define OPERATIONS_DECODE_H

#include "operation.h"
#include "operations/diagnosis_models.h"

extern const struct operation decode_operation;

// Inputs by their index. DECODE_TABLE is there where the cache has pages, DECODE_SCALE where it is e4m3.
enum { DECODE_Q, DECODE_K, DECODE_V, DECODE_LENS, DECODE_FIXED_INPUTS };

static inline bool decode_is_paged(const struct problem_case *which) {
    return which->attention.layout == LAYOUT_PAGES && which->attention.stride[0];
}
int decode_table(const struct problem_case *which); // index of the table and of the scales, -1: there is none
int decode_scale(const struct problem_case *which);

struct decode_pages {
    int size, per_request;
    int64_t count;  // of the cache
    int64_t stride; // elements
};
struct decode_pages decode_pages_of(const struct problem_case *which);

// The type of q and o, and of what is computed with.
enum attention_dtype decode_dtype(const struct problem_case *which);

void decode_make(const struct problem_case *which, uint64_t seed, bool with_inputs, struct host_problem *problem);
int decode_cases(enum matrix_kind kind, struct problem_case cases[MAX_CASES]);

// The lengths of a family that does not depend on the seed, for a bench.
double decode_keys_of_all(const struct problem_case *which);

// What a kernel may take for something else: the mistakes that have a name.
enum decode_mistake {
    DECODE_RIGHT = RIGHT_MODEL,
    DECODE_GROUPS_INTERLEAVED, // query head h takes the keys of head h % kv_heads
    DECODE_LENGTH_OF_FIRST,    // every request is as long as the first one
    DECODE_LAST_KEY_MISSING,
    DECODE_PAGES_IN_ORDER, // request b's page i is page b * pages_per_request + i
    DECODE_MISTAKES
};

// The rows of the sample as the kernel would compute them that makes the mistake. values: [rows][head_dim], bounds: the
// same, sizes: the same or NULL, lse, lse_bounds: [rows].
struct decode_rows {
    double *value, *bound, *size, *lse, *lse_bound;
    double walk, sum_walk, sum_drift; // for tolerance_rms(), the largest
    int keys;                         // of the longest request
};
struct decode_rows decode_compute(const struct host_problem *problem, const struct row_sample *sample,
                                  enum decode_mistake mistake);
void decode_rows_free(struct decode_rows *rows);

// Prints the mistake that explains a wrong kernel.
void decode_explain(const struct diagnosed *kernel, const struct evidence *evidence /* [count] */, int count,
                    FILE *out);

#endif
