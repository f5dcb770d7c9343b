// What the parts of a variant's prediction share: one head of it, in double precision.
#ifndef OPERATIONS_ATTENTION_HEAD_H
#define OPERATIONS_ATTENTION_HEAD_H

#include "operations/attention_variant.h"

// A row of q, k or v: element c is at[c * step].
struct row {
    const float *at;
    int64_t step;
    bool out_of_bounds; // it lies outside the tensor; its elements are zeros
};

struct head {
    const struct variant *variant;
    const struct host_problem *in;
    int64_t index; // batch * heads + head
    double scale;
    double *score;       // [nq][nk], -inf where hidden
    double *score_scale; // [nq]
    double *sum;         // [nq], of the weights, this variant's
    double *weight;      // [nk], of the values
    double *sum_weight;  // [nk], of the sum
    double *running;     // [nq][tiles], the maximum that a row has after each tile, where the variant rescales
    bool *ambiguous;     // [nq], whether it is raised hangs on the rounding of a score
    float *permuted[3];  // q, k and v as the kernel finds them, [n][padded_columns], where the variant moves elements
    struct row *keys, *values; // [nk]
    double *o, *bound;         // [nq][head_dim]
    bool out_of_bounds;        // what lies outside the tensors was asked for
};

// Row j of this head's q, k or v (own), n being how many rows such a head has.
struct row find_row(const struct head *h, const struct source *from, enum tensor_kind own, int n, int j);

// Fills keys and values, of what permute_elements() moved.
void find_rows(struct head *h);

// A row of shared memory has slices of 64 columns.
int padded_columns(const struct attention_shape *shape);

// Fills moved for this head.
void permute_elements(struct head *h);

// The weight that row i's key j has as an operand of the product with the values, where the variant moves it.
double permuted_weight(const struct head *h, int i, int j);

// Which row, in the host's order, stands where a kernel looks for row that takes the tensor for contiguous; -1: a gap.
int64_t row_at_contiguous(const struct host_tensor *tensor, int64_t row);

// How many keys query i sees, the first ones.
int attended_keys(const struct variant *variant, const struct attention_shape *shape, int i);

// Past the last key that a query of i's block sees.
int key_end(const struct variant *variant, const struct attention_shape *shape, int i);

// Fills scale, score and score_scale.
void compute_scores(struct head *h);

// How many keys a tile has, and how many tiles there are.
int tile_keys(const struct variant *variant, const struct attention_shape *shape);
int tile_count(const struct variant *variant, const struct attention_shape *shape);

// Fills running and borderline from score.
void compute_running_maxima(struct head *h);

// What the mistake in rescaling makes of share and weight of row i.
void mistake_rescaling(struct head *h, int i);

// exp() with the range of fp32.
double exp_in_fp32(double x);

// The weights of row i, before the division: share for the sum, weight for the values; and sum[i].
void compute_weights(struct head *h, int i);

// The largest of score[first], score[first + step], ... before end; -inf where there is none.
double maximum_of(const double *score, int first, int end, int step);

// How many pieces the keys of row i are cut into, and the weight of one of them.
int count_partials(const struct variant *variant, const struct attention_shape *shape, int i);
double partial_weight(const struct head *h, int i, int partial);

#endif
