// Attention in double precision, from the inputs as the kernel gets them, and what the tolerance needs to know of each
// row.
#ifndef OPERATIONS_ATTENTION_REFERENCE_H
#define OPERATIONS_ATTENTION_REFERENCE_H

#include "host/problem.h"
#include "host/sample.h"
#include "host/tolerance.h"

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
    struct summation *summation; // [rows], how far the sums may be off; walk and drift are of the row's relative RMS
    double sum_walk, sum_drift;  // of the row where they are largest: their part in the relative RMS error of o
};

// The rows are counted over [batch][heads][nq].
struct attention_reference attention_refer(const struct host_problem *problem, const struct row_sample *sample);

// What the rounding error of an element of o is measured by; NaN: it takes no part in the RMS error.
double attention_size(const struct attention_reference *reference, int64_t index, int column);
void attention_reference_free(struct attention_reference *reference);

#endif
