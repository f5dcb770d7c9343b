// Attention in double precision, from the inputs as the kernel gets them, and what the tolerance needs to know of each
// row.
#ifndef HOST_REFERENCE_H
#define HOST_REFERENCE_H

#include "host/inputs.h"
#include "host/sample.h"

struct reference {
    int64_t rows;
    int head_dim;
    double *o;           // [rows][head_dim]
    double *a;           // [rows][head_dim], sum over the keys of p |v|: the size of what was added up
    double *lse;         // [rows], log-sum-exp of the scaled scores, -inf where the row sees nothing
    double *score_scale; // [rows], max over the keys of sum |q| |k|: the size of what was added up to a score
    double *score_walk;  // [rows], max over the keys of |q k| and sqrt(sum (q k)^2): how far partial sums stray from 0
    double *weight_norm; // [rows], sqrt(sum p^2): |o| is about this times |v| unless the values agree
};

// The rows are counted over [batch][heads][nq].
struct reference reference_attention(const struct host_inputs *inputs, const struct row_sample *sample);
void reference_free(struct reference *reference);

#endif
