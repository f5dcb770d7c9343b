// How far a right fp32 kernel may be from the reference. Derived from what the kernel adds up, never a flat constant.
#ifndef HOST_TOLERANCE_H
#define HOST_TOLERANCE_H

#include <stdbool.h>
#include <stdint.h>

// The bits that an output holds before the kernel has written it: a NaN that no arithmetic of a GPU makes, and what
// cudaMemset with 0xFF leaves.
#define POISON_BITS 0xFFFFFFFFu

// True where nothing was written over the poison.
bool is_poison(float value);

// The bound of one element of attention:
//     (u_P + 2 delta_s) A + u_out |reference| + 1e-6,   delta_s = scale (d + 4) 2^-24 max_k sum|q||k|
// u_P = 2^-20 is the error of a weight, delta_s that of a score, u_out = 2^-24 that of the rounded result.
double tolerance_attention(double reference, double a, double score_scale, double softmax_scale, int head_dim);

// The gate on the relative RMS error of rows rows. 5e-6, more where scores are so large that their rounding alone moves
// the weights, or keys so many that the rounding of the sums does.
double tolerance_rms(double score_walk, double softmax_scale, int head_dim, int nk, int64_t rows);

// A single row has fewer elements to average over than the whole: this times the gate of very many rows.
static const double tolerance_row_factor = 4.0;

// The bound of one log-sum-exp.
double tolerance_lse(double reference);

// The bound of one element of a row softmax: x is the input, maximum the row's, sum the row's sum of exp(x - maximum).
double tolerance_softmax(double reference, double x, double maximum, int columns);

// True where got is what the reference asks for: within the bound, or the same infinity, or NaN where it is NaN.
bool tolerance_holds(double got, double reference, double bound);

#endif
