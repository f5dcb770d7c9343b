// The tolerance of a right kernel relative to the reference, which uses the same rounded inputs. It is derived from the
// sums and roundings of the kernel, and is never a flat constant.
#ifndef HOST_TOLERANCE_H
#define HOST_TOLERANCE_H

#include "dtype.h"

#include <stdbool.h>
#include <stdint.h>

// The tolerance of one element of attention, for tensors of a type:
//     (u_P + 2 delta_s) A + u_out |reference| + 1e-6,   delta_s = scale (d + 4) u_s max_k sum|q||k|
// A = sum p|v| is what was added up, u_P the error of a weight, delta_s that of a score, u_out that of the rounded
// result. fp32: u_P = 2^-20, of the exponential; u_s = u_out = 2^-24. 16 bits: the weights are rounded to the type
// before they meet the values, so u_P and u_out are its unit roundoff. The products of two 16-bit numbers are exact in
// fp32; u_s = 2^-23, since tensor cores cut off where they add up.
double tolerance_attention(enum attention_dtype dtype, double reference, double a, double score_scale,
                           double softmax_scale, int head_dim);

// How far the fp32 sums over the keys of a row may be off in whatever order they are taken, one key after the other
// included, with a running maximum or without; relative to the largest partial sum. tolerance.c derives it.
struct summation {
    double worst;    // of one sum
    double walk;     // in the root mean square, as far as the rounding errors know nothing of each other,
    double drift;    // what those add that are all alike, since the weights are,
    double absorbed; // and the share of the weights that are too small to be added up one by one
};

// A weight below this share of the sum may be lost.
static const double tolerance_absorbed_fraction = 0x1p-24;

// weight: [keys], in the order of the keys; sum: of all of them. room: for
// tolerance_summation_scratch(keys) numbers.
struct summation tolerance_summation(const double *weight, int keys, double sum, uint64_t *scratch);
int64_t tolerance_summation_scratch(int keys);

// What the sums add to the bound of one element: of the numerator, whose partial sums are at most (A + |reference|) / 2
// whatever the order, and of the denominator.
double tolerance_sums(const struct summation *summation, double reference, double a);

// The gate on the relative RMS error of rows rows; INT64_MAX: of very many.
// fp32: 5e-6, more where scores are so large that their rounding alone moves the weights, or keys so many that the
// rounding of the sums does: by 5e-6 sqrt(nk / 4096), or sum_walk, a summation's walk with its partial sums.
// 16 bits: bf16 5e-3, fp16 8e-4, up to twice that for few rows, and what large scores add.
double tolerance_rms(enum attention_dtype dtype, double score_walk, double softmax_scale, int head_dim, int nk,
                     double sum_walk, int64_t rows);

// Instead of rows: one row judged by itself. It has fewer elements to average over than the whole: in fp32 this
// times the gate of very many rows.
enum { TOLERANCE_ONE_ROW = 0 };
static const double tolerance_row_factor = 4.0;

// The bound of one log-sum-exp, which is fp32 whatever the tensors are: 1e-5 max(1, |reference|), or delta_s where that
// is more. The log-sum-exp moves by no more than the score that moves most, and by all of that where a row has one key,
// whose terms may be large and cancel.
double tolerance_lse(enum attention_dtype dtype, double reference, double score_scale, double softmax_scale,
                     int head_dim);

// ---- The backward pass ----
//
// Of a query i and a key j, where p = exp(s - lse), ds = p (dp - delta), and s, dp, delta are sums of head_dim
// products:
//     |error of p|  <= p e_p,  e_p = delta_s + 2^-22 (|s| + |lse|) + 2^-21
//     |error of ds| <= p (e_p |dp - delta| + e_dp + e_delta),  e_dp = (d + 4) u_s sum|d_o||v|, e_delta = (d + 4) 2^-24
//                      sum|d_o||o|
// delta_s and u_s as above; a rounding of s and lse is relative to them, since their difference is taken in fp32. In 16
// bits p and ds are rounded once more before they are operands: by their unit roundoff, or in fp16 by 2^-25 where they
// are small.
struct pair_terms {
    double p, dp, delta, score, lse;
    double score_size, dp_size, delta_size; // what was added up to s (without the scale), dp and delta
};
struct pair_error {
    double p, ds; // absolute
};
struct pair_error tolerance_pair(enum attention_dtype dtype, const struct pair_terms *terms, double softmax_scale,
                                 int head_dim);

// The bound of one element of dq, dk or dv, which is a sum of `count` products: error is the sum of the errors of the
// one factor times the other, size the sum of the products' sizes. To these come the rounding of the sum in any order,
// that of the result, and 1e-6.
double tolerance_gradient(enum attention_dtype dtype, double reference, double error, double size, double count);

// The gate on the relative RMS error of rows rows of dq, dk or dv: tolerance_rms(), and what the rounding of lse and of
// scores of its size moves the weights.
double tolerance_gradient_rms(enum attention_dtype dtype, double score_walk, double largest_lse, double softmax_scale,
                              int head_dim, int count, int64_t rows);

// The share of |dp| + |delta| that belongs to the size of an element of ds, by which its rounding errors are measured:
// fp32 arithmetic is off by a part of each, the rounding to 16 bits by a part of the difference.
double tolerance_cancelled_share(enum attention_dtype dtype);

// The rounding errors of p and ds shrink with them only down to here: fp32 results are flushed to 0 below 2^-126, and
// in fp16 both are off by 2^-25 however small they are.
double tolerance_smallest_size(enum attention_dtype dtype);

// The bound of one element of a row softmax: x is the input, maximum the row's, drift that of the row's sum.
double tolerance_softmax(double reference, double x, double maximum, int columns, double drift);

// True if got is within the bound of the reference, or the same infinity, or NaN as the reference.
bool tolerance_holds(double got, double reference, double bound);

#endif
