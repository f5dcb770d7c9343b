#include "host/tolerance.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

bool is_poison(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits == POISON_BITS;
}

double tolerance_attention(double reference, double a, double score_scale, double softmax_scale, int head_dim) {
    double delta_s = softmax_scale * (head_dim + 4) * 0x1p-24 * score_scale;
    return (0x1p-20 + 2 * delta_s) * a + 0x1p-24 * fabs(reference) + 1e-6;
}

double tolerance_rms(double score_walk, double softmax_scale, int head_dim, int nk, int64_t rows) {
    // The rounding errors of a dot product add up like a random walk whose steps have a deviation of up to 2 / sqrt(12)
    // of 2^-24 times the partial sum. N(0,1) inputs stay below 5e-6 up to a head dimension of 512. Each row makes such
    // a walk of its own, and the RMS of n walks strays from the deviation by a share of 1 / sqrt(2 n): four times that
    // is allowed for.
    double few = 1 + 3 / sqrt((double)rows);
    double scores = few * 0.6 * sqrt(head_dim + 4) * 0x1p-24 * softmax_scale * score_walk;
    // So do those of the sums over the keys: one key after the other gives 1.0e-6 at 4096 keys (results/).
    double sums = 5e-6 * fmax(1, sqrt(nk / 4096.0));
    return fmax(scores, sums);
}

double tolerance_lse(double reference) {
    return 1e-5 * fmax(1.0, fabs(reference));
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
