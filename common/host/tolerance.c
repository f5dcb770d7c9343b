#include "host/tolerance.h"

#include <math.h>
#include <string.h>

// How far a score may be off, delta_s.
static double score_error(enum attention_dtype dtype, double score_scale, double softmax_scale, int head_dim) {
    return fabs(softmax_scale) * (head_dim + 4) * (dtype == ATTENTION_FP32 ? 0x1p-24 : 0x1p-23) * score_scale;
}

double tolerance_attention(enum attention_dtype dtype, double reference, double a, double score_scale,
                           double softmax_scale, int head_dim) {
    double u = dtype_of(dtype)->unit_roundoff, delta_s = score_error(dtype, score_scale, softmax_scale, head_dim);
    return ((dtype == ATTENTION_FP32 ? 0x1p-20 : u) + 2 * delta_s) * a + u * fabs(reference) + 1e-6;
}

// ---- Sums over the keys ------------------------------------------------------------------------------------------
//
// A serial fp32 sum rounds after each key, by at most u = 2^-24 of the partial sum, which is at most the sum S of all
// sizes. A tree rounds less often. So no order is off by more than N u S, where N counts the keys that take part: what
// is below 2^-40 of the sum adds up to nothing. Weights smaller than u S may be lost whole, and are off by no more than
// themselves.
//
// N u S is reached only where all errors have the same sign, for which the addends must be alike: 4095 keys whose
// scores are equal, after one that is larger by 11, are each rounded in the same direction. Errors of addends that
// differ know nothing of each other, and then stay below 8 sqrt(N) u S but for a chance of 2 exp(-32) (Higham and Mary,
// A new approach to probabilistic rounding error analysis, 2019: lambda sqrt(n) u with a probability of 1 - 2
// exp(-lambda^2 / 2)). In the root mean square they reach 0.41 sqrt(N) u S: an error is even over half a unit in the
// last place, which is between u and 2 u of the partial sum.
//
// Addends are alike where they differ by less than the sum's last place holds: 2^-27 of the sum are a sixteenth of it.
// Of such groups with m_1, m_2, ... members each has one error, times m; a few groups may agree in the sign, so that
// sum m_i, and otherwise 2 sqrt(sum m_i^2), bounds what comes together. Groups of less than sqrt(N) / 2 come about by
// chance and are left to the walk.
//
// A running maximum multiplies the sums whenever it rises by an exponential with a relative error of 2^-22 (ex2.approx,
// expf), the same one where it rises by the same each time. A weight takes part in the rises after it.

enum { LEAST_EQUAL = 64 }; // below it N u is less than what is allowed for in any case
static const double u32 = 0x1p-24, exponential = 0x1p-22;

static int64_t table_size(int keys) {
    int64_t size = 16;
    while (size < 2 * (int64_t)keys)
        size *= 2;
    return size;
}

int64_t tolerance_summation_scratch(int keys) {
    return keys > LEAST_EQUAL ? 2 * table_size(keys) : 1;
}

// How often the weights meet a rise of the running maximum, on average, from the first key on or from the last one.
static double mean_rises(const double *weight, int keys, double sum, int from, int step) {
    double maximum = 0, met = 0, before = 0;
    for (int i = 0; i < keys; i++) {
        double w = weight[from + i * step];
        if (w > maximum) {
            maximum = w;
            met += before;
        }
        before += w;
    }
    return met / sum;
}

// How many errors may come together: see above.
static double count_equal(const double *weight, int keys, double sum, double taking_part, uint64_t *scratch) {
    int64_t size = table_size(keys);
    uint64_t *bucket = scratch, *members = scratch + size;
    double all = 0, squares = 0, fewest = sqrt(taking_part) / 2;
    memset(scratch, 0, (size_t)(2 * size) * sizeof *scratch);
    for (int j = 0; j < keys; j++) {
        if (!(weight[j] / sum >= tolerance_absorbed_fraction))
            continue;
        uint64_t group = (uint64_t)(weight[j] / sum * 0x1p27) + 1, at = group * 0x9E3779B97F4A7C15u >> 20;
        for (at &= (uint64_t)size - 1; bucket[at] && bucket[at] != group;)
            at = (at + 1) & ((uint64_t)size - 1);
        bucket[at] = group;
        members[at]++;
    }
    for (int64_t i = 0; i < size; i++) {
        double m = (double)members[i];
        if (m < 2 || m < fewest)
            continue;
        all += m;
        squares += m * m;
    }
    return fmin(all, 2 * sqrt(squares));
}

struct summation tolerance_summation(const double *weight, int keys, double sum, uint64_t *scratch) {
    double taking_part = 0, absorbed = 0, most_absorbed = 0;
    if (!(sum > 0))
        return (struct summation){0};
    for (int j = 0; j < keys; j++) {
        double fraction = weight[j] / sum;
        taking_part += fraction > 0x1p-40;
        if (fraction < tolerance_absorbed_fraction) {
            absorbed += fraction;
            most_absorbed += fmin(u32, 8 * fraction); // its value may be that much larger than the partial sum
        }
    }
    double alike = taking_part > LEAST_EQUAL ? count_equal(weight, keys, sum, taking_part, scratch) : 0;
    double rises = fmax(mean_rises(weight, keys, sum, 0, 1), mean_rises(weight, keys, sum, keys - 1, -1));
    double drift = alike * u32 + rises * exponential;
    return (struct summation){
        .worst = fmin(taking_part, 8 * sqrt(taking_part)) * u32 + drift + most_absorbed,
        .walk = 0.41 * sqrt(taking_part) * u32,
        .drift = drift,
        .absorbed = absorbed,
    };
}

double tolerance_sums(const struct summation *s, double reference, double a) {
    double size = fabs(reference);
    return s->worst > 0 ? s->worst * ((a + size) / 2 + size) : 0;
}

// What the rounding of a type leaves of the whole output's relative RMS error. Rounding to nearest is off by u times
// 0.41 in the root mean square, for numbers spread evenly over a binade on a logarithmic scale: for the weights and for
// the result, 0.58 u together, or 2.3e-3 in bf16 and 2.8e-4 in fp16. Twice that and a little is allowed for.
static double rounding_rms(enum attention_dtype dtype) {
    return dtype == ATTENTION_BF16 ? 5e-3 : 8e-4;
}

double tolerance_rms(enum attention_dtype dtype, double score_walk, double softmax_scale, int head_dim, int nk,
                     double sum_walk, int64_t rows) {
    // The rounding errors of a dot product add up like a random walk whose steps have a deviation of up to 2 / sqrt(12)
    // of 2^-24 times the partial sum. N(0,1) inputs stay below 5e-6 up to a head dimension of 512. Each row makes such
    // a walk of its own, and the RMS of n walks strays from the deviation by a share of 1 / sqrt(2 n): four times that
    // is allowed for.
    bool is_fp32 = dtype == ATTENTION_FP32;
    double walks = rows == TOLERANCE_ONE_ROW ? 1 : (double)rows;
    double scores = (1 + 3 / sqrt(walks)) * 0.6 * sqrt(head_dim + 4) * (is_fp32 ? 0x1p-24 : 0x1p-23) *
                    fabs(softmax_scale) * score_walk;
    // So do those of the sums over the keys: one key after the other gives 1.0e-6 at 4096 keys (results/).
    double sums = fmax(sum_walk, 5e-6 * fmax(1, sqrt(nk / 4096.0)));
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

struct pair_error tolerance_pair(enum attention_dtype dtype, const struct pair_terms *t, double softmax_scale,
                                 int head_dim) {
    bool is_fp32 = dtype == ATTENTION_FP32;
    double u = is_fp32 ? 0 : dtype_of(dtype)->unit_roundoff, smallest = dtype == ATTENTION_FP16 ? 0x1p-25 : 0;
    double e_p = score_error(dtype, t->score_size, softmax_scale, head_dim) + 0x1p-21 +
                 0x1p-22 * (fabs(t->score) + (isfinite(t->lse) ? fabs(t->lse) : 0));
    double e_dp = (head_dim + 4) * (is_fp32 ? u32 : 2 * u32) * t->dp_size,
           e_delta = (head_dim + 4) * u32 * t->delta_size;
    double difference = fabs(t->dp - t->delta);
    return (struct pair_error){
        .p = t->p * (e_p + u) + smallest,
        .ds = t->p * ((e_p + u) * difference + e_dp + e_delta) + smallest,
    };
}

double tolerance_gradient(enum attention_dtype dtype, double reference, double error, double size, double count) {
    double sums = fmin(count, 8 * sqrt(count)) * (dtype == ATTENTION_FP32 ? u32 : 2 * u32) * size;
    return error + sums + dtype_of(dtype)->unit_roundoff * fabs(reference) + 1e-6;
}

double tolerance_gradient_rms(enum attention_dtype dtype, double score_walk, double largest_lse, double softmax_scale,
                              int head_dim, int count, int64_t rows) {
    return tolerance_rms(dtype, score_walk, softmax_scale, head_dim, count, 0, rows) + 0x1p-22 * largest_lse;
}

double tolerance_cancelled_share(enum attention_dtype dtype) {
    return dtype == ATTENTION_FP32 ? 1 : dtype == ATTENTION_FP16 ? 0x1p-8 : 0x1p-10;
}

double tolerance_smallest_size(enum attention_dtype dtype) {
    return dtype == ATTENTION_FP16 ? 0x1p-25 / rounding_rms(dtype) : 0x1p-100;
}

double tolerance_softmax(double reference, double x, double maximum, int columns, double drift) {
    // exp(x c - maximum c) with rounded products is off by a rounding of its largest term. A sum of one term after the
    // other drifts like a random walk, by up to 0.9 sqrt(columns) 2^-24 where that was tried on 1000 to 131072 columns.
    // Below the last term results are denormal, and may be flushed to zero.
    double size = fmax(fabs(x), fabs(maximum));
    double relative = 0x1p-20 + 0x1p-22 * (isfinite(size) ? size : 0) + 0x1p-23 * sqrt(columns) + drift;
    return relative * reference + 0x1p-126;
}

bool tolerance_holds(double got, double reference, double bound) {
    if (isnan(reference))
        return isnan(got);
    if (isinf(reference))
        return got == reference;
    return fabs(got - reference) <= bound;
}
