// Attention in double precision, from the inputs as the kernel gets them, and what the tolerance needs to know of each
// row.
#ifndef OPERATIONS_ATTENTION_REFERENCE_H
#define OPERATIONS_ATTENTION_REFERENCE_H

#include "host/problem.h"
#include "host/sample.h"

struct attention_reference {
    int64_t rows;
    int head_dim;
    double *o;           // [rows][head_dim]
    double *a;           // [rows][head_dim], sum over the keys of p |v|: the size of what was added up
    double *lse;         // [rows], log-sum-exp of the scaled scores, -inf where the row sees nothing
    double *score_scale; // [rows], max over the keys of sum |q| |k|: the size of what was added up to a score
    double *score_walk;  // [rows], max over the keys of |q k| and sqrt(sum (q k)^2): how far partial sums stray from 0
    double walk;         // the largest score_walk of all rows
    double *weight_norm; // [rows], sqrt(sum p^2): |o| is about this times |v| unless the values agree
};

// The rows are counted over [batch][heads][nq].
struct attention_reference attention_refer(const struct host_problem *problem, const struct row_sample *sample);
void attention_reference_free(struct attention_reference *reference);

#endif
