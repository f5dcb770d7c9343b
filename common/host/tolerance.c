#include "host/tolerance.h"

#include <math.h>

// How far a score may be off, delta_s.
static double score_error(enum attention_dtype dtype, double score_scale, double softmax_scale, int head_dim) {
    return fabs(softmax_scale) * (head_dim + 4) * (dtype == ATTENTION_FP32 ? 0x1p-24 : 0x1p-23) * score_scale;
}

double tolerance_attention(enum attention_dtype dtype, double reference, double a, double score_scale,
                           double softmax_scale, int head_dim) {
    double u = dtype_of(dtype)->unit_roundoff, delta_s = score_error(dtype, score_scale, softmax_scale, head_dim);
    return ((dtype == ATTENTION_FP32 ? 0x1p-20 : u) + 2 * delta_s) * a + u * fabs(reference) + 1e-6;
}

// What the rounding of a type leaves of the whole output's relative RMS error. Rounding to nearest is off by u times
// 0.41 in the root mean square, for numbers spread evenly over a binade on a logarithmic scale: for the weights and for
// the result, 0.58 u together, or 2.3e-3 in bf16 and 2.8e-4 in fp16. Twice that and a little is allowed for.
static double rounding_rms(enum attention_dtype dtype) {
    return dtype == ATTENTION_BF16 ? 5e-3 : 8e-4;
}

double tolerance_rms(enum attention_dtype dtype, double score_walk, double softmax_scale, int head_dim, int nk,
                     int64_t rows) {
    // The rounding errors of a dot product add up like a random walk whose steps have a deviation of up to 2 / sqrt(12)
    // of 2^-24 times the partial sum. N(0,1) inputs stay below 5e-6 up to a head dimension of 512. Each row makes such
    // a walk of its own, and the RMS of n walks strays from the deviation by a share of 1 / sqrt(2 n): four times that
    // is allowed for.
    bool is_fp32 = dtype == ATTENTION_FP32;
    double walks = rows == TOLERANCE_ONE_ROW ? 1 : (double)rows;
    double scores = (1 + 3 / sqrt(walks)) * 0.6 * sqrt(head_dim + 4) * (is_fp32 ? 0x1p-24 : 0x1p-23) *
                    fabs(softmax_scale) * score_walk;
    // So do those of the sums over the keys: one key after the other gives 1.0e-6 at 4096 keys (results/).
    double sums = 5e-6 * fmax(1, sqrt(nk / 4096.0));
    if (is_fp32)
        return fmax(scores, (rows == TOLERANCE_ONE_ROW ? tolerance_row_factor : 1) * sums);
    // The weights of a row may be one, whose rounding all its elements share, and that of the result: together at most
    // 2 u, or 7.8e-3 in bf16.
    return (1 + 1 / sqrt(walks)) * rounding_rms(dtype) + scores;
}

double tolerance_lse(enum attention_dtype dtype, double reference, double score_scale, double softmax_scale,
                     int head_dim) {
    double scores = score_error(dtype, score_scale, softmax_scale, head_dim);
    return fmax(1e-5 * fmax(1.0, fabs(reference)), isfinite(scores) ? scores : 0);
}

double tolerance_softmax(double reference, double x, double maximum, int columns) {
    // exp(x c - maximum c) with rounded products is off by a rounding of its largest term. A sum of one term after the
    // other drifts like a random walk, by up to 0.9 sqrt(columns) 2^-24 where that was tried on 1000 to 131072 columns.
    // Below the last term results are denormal, and may be flushed to zero.
    double size = fmax(fabs(x), fabs(maximum));
    double relative = 0x1p-20 + 0x1p-22 * (isfinite(size) ? size : 0) + 0x1p-23 * sqrt(columns);
    return relative * reference + 0x1p-126;
}

bool tolerance_holds(double got, double reference, double bound) {
    if (isnan(reference))
        return isnan(got);
    if (isinf(reference))
        return got == reference;
    return fabs(got - reference) <= bound;
}
