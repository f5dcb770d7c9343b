// Attention as an operation: its tensors, and what its files share.
#ifndef OPERATIONS_ATTENTION_H
#define OPERATIONS_ATTENTION_H

#include "host/matrix.h"
#include "host/problem.h"
#include "operation.h"

// The tensors of its problem, by their index.
enum { Q, K, V, O, LSE };

// The outputs.
enum { OUTPUT_O, OUTPUT_LSE };

extern const struct operation attention_operation;

// The problem of a case with inputs drawn from the seed, or without any values.
void attention_make(const struct problem_case *which, uint64_t seed, bool with_inputs, struct host_problem *problem);

// The problem with these values, [batch][heads][nq][head_dim] and [batch][kv_heads][nk][head_dim], of which q_kept and
// k_kept rows are there. It takes the values over and rounds them to the case's type.
void attention_make_of(const struct problem_case *which, float *q, float *k, float *v, int64_t q_kept, int64_t k_kept,
                       struct host_problem *problem);

// A user's own tensors: a folder with q.npy, k.npy, v.npy and, where there is one, o.npy. Shapes are
// [batch][heads][n][head_dim], [heads][n][head_dim] or [n][head_dim].
bool attention_load(const struct arguments *arguments, struct host_problem *problem, float **o, struct message *error);

// The cases of a check, fp32 all of them.
int attention_cases(enum matrix_kind kind, struct problem_case cases[MAX_CASES]);

// The cases of a bench.
int attention_plan(const struct arguments *arguments, enum attention_dtype dtype, struct problem_case *cases);

#endif
