// Which of queries, keys, weights, values and sums a kernel rounds.
#include "attention.h"
#include "host/parallel.h"
#include "operations/attention_explain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { D = 64, RATIOS = 8 };

struct precision_probe {
    const struct diagnosed *kernel;
    enum attention_dtype dtype;
    void (*report)(void *context, const char *code, const char *text);
    void *context;
};

// ---- Sums of many ---------------------------------------------------------------------------------------------------

// The mean of many values of equal keys, each column with others, whose sum a kernel keeps in fp32: it is rounded once,
// in the end. Only the first `full` keys have values. How far the columns are off, in roundings of the type.
static bool probe_mean(const struct diagnosed *kernel, enum attention_dtype dtype, int keys, int full, double unit,
                       double *off) {
    float *q = host_zeros(D, sizeof *q), *k = host_zeros(keys * D, sizeof *k);
    float *v = host_zeros(keys * D, sizeof *v), *o = host_zeros(D, sizeof *o);
    double squares = 0;
    for (int j = 0; j < full; j++)
        for (int c = 0; c < D; c++)
            v[j * D + c] = 1 + (float)((j * 37 + c * 11 + j / 16 * 5) % 128) / 128; // numbers that all types have
    bool known = attention_run_head(kernel, dtype, D, 1, keys, q, k, v, o);
    for (int c = 0; c < D && known; c++) {
        double sum = 0;
        for (int j = 0; j < full; j++)
            sum += v[j * D + c];
        squares += pow((o[c] - sum / keys) / (sum / keys * unit), 2);
    }
    *off = sqrt(squares / D);
    free(q);
    free(k);
    free(v);
    free(o);
    return known;
}

// Whether the mean of 4096 equal keys' values is off by more roundings than one of few, and grows with the keys as
// roundings do; then what is to be said of it.
static bool sum_rounds(const struct diagnosed *kernel, enum attention_dtype dtype, const char **code, char *text,
                       size_t size) {
    enum { FEW = 16, MANY = 4096 };
    const double unit = dtype == ATTENTION_BF16 ? 0x1p-8 : 0x1p-11; // of fp32, what is worth saying
    const double most_roundings = 256;                              // what is further off has lost keys
    const double most_growth = 8, least_growth = 1.2;               // from half as many keys; from a quarter
    double few, many, half, quarter, weights;
    if (!probe_mean(kernel, dtype, FEW, FEW, unit, &few) || few > 0.75 ||
        !probe_mean(kernel, dtype, MANY, MANY, unit, &many) || !(many > 1.25 && many < most_roundings))
        return false;
    // Roundings add up, few by few; keys that are lost from some number on are no rounding.
    if (!probe_mean(kernel, dtype, MANY / 2, MANY / 2, unit, &half) || half < many / most_growth ||
        !probe_mean(kernel, dtype, MANY / 4, MANY / 4, unit, &quarter) || quarter < half / most_growth ||
        many < quarter * least_growth)
        return false;
    // Where few keys have values there is nothing to be lost of their sum, but as much as before of that of the
    // weights.
    if (!probe_mean(kernel, dtype, MANY, FEW, unit, &weights))
        return false;
    *code = weights > 1.25 ? "probe-row-sum-rounded" : "probe-weighted-sum-rounded";
    snprintf(text, size,
             "The accumulated sum of the %s is rounded once per key or tile: for %d equal keys the sum is off by %.2g "
             "roundings to %d bits, for %d keys by %.2g",
             weights > 1.25 ? "weights" : "values", FEW, few, dtype == ATTENTION_BF16 ? 8 : 11, MANY, many);
    return true;
}

// ---- One number each ------------------------------------------------------------------------------------------------

// To so many significant bits, ties to even.
static double rounded(double x, int bits) {
    int exponent;
    double fraction = frexp(x, &exponent);
    return ldexp(nearbyint(ldexp(fraction, bits)), exponent - bits);
}

// What is done with the bits that are too many.
struct precision {
    int bits; // 8 of bf16, 11 of TF32 and fp16; 0: all that fp32 has
    bool cut; // the others are cut off
};
static const struct precision precisions[] = {{8, false}, {11, false}, {8, true}, {11, true}};
enum { PRECISIONS = sizeof precisions / sizeof *precisions };

static double with_precision(double x, struct precision p) {
    int exponent;
    double fraction = frexp(x, &exponent);
    return p.cut ? ldexp(trunc(ldexp(fraction, p.bits)), exponent - p.bits) : rounded(x, p.bits);
}

// The precision that explains what was got, where less than that of fp32 does.
static struct precision precision_of(const double *got, const double *exact, int count) {
    for (int b = 0; b < PRECISIONS; b++) {
        bool fits = true, differs = false;
        for (int i = 0; i < count; i++) {
            double as = with_precision(exact[i], precisions[b]), far = ldexp(fabs(exact[i]), -18);
            fits = fits && fabs(got[i] - as) <= far;
            differs = differs || fabs(as - exact[i]) > 4 * far;
        }
        if (fits && differs)
            return precisions[b];
    }
    return (struct precision){0, false};
}

static void report_precision(const struct precision_probe *probe, const char *name, const char *what,
                             struct precision p) {
    char code[64], text[160];
    snprintf(code, sizeof code, "probe-%s-%s", p.cut ? "truncated" : "rounded", name);
    snprintf(text, sizeof text, "%s are %s to %d bits, as in %s%s", what, p.cut ? "truncated" : "rounded", p.bits,
             p.bits == 8 ? "bf16"
             : p.cut     ? "TF32"
                         : "TF32 or fp16",
             p.cut ? " without rounding" : "");
    probe->report(probe->context, code, text);
}

static void probe_value_precision(const struct precision_probe *probe) {
    static float q[D], k[D], v[D], o[D];
    double got[D], exact[D];
    for (int c = 0; c < D; c++)
        v[c] = 1 + (float)(c * 37 % D + 1) / 127.37f;
    if (!attention_run_head(probe->kernel, probe->dtype, D, 1, 1, q, k, v, o))
        return;
    for (int c = 0; c < D; c++) {
        got[c] = o[c];
        exact[c] = v[c];
    }
    struct precision found = precision_of(got, exact, D);
    if (found.bits)
        report_precision(probe, "values", "Values or the output", found);
}

// Key 1 lies below key 0 by a known difference; column 0 of the output has the weight of key 0, column 1 that of key 1.
// Their quotient knows nothing of the sum.
static bool probe_ratios(const struct precision_probe *probe, const float *factor_q, const float *factor_k,
                         double ratio[RATIOS]) {
    static float q[D], k[2 * D], v[2 * D], o[D];
    v[0] = v[D + 1] = 1;
    for (int i = 0; i < RATIOS; i++) {
        q[0] = factor_q[i] * sqrtf(D);
        k[D] = -factor_k[i];
        if (!attention_run_head(probe->kernel, probe->dtype, D, 1, 2, q, k, v, o) || !(o[0] > 0) || !(o[1] > 0))
            return false;
        ratio[i] = (double)o[1] / o[0];
    }
    return true;
}

// Whether these are exponentials of so many times the right scores.
static bool is_power(const double *ratio /* [RATIOS] */, const float *steps, double *times) {
    double least = INFINITY, most = -INFINITY;
    for (int i = 0; i < RATIOS; i++) {
        const double one = -log(ratio[i]) / steps[i];
        least = fmin(least, one);
        most = fmax(most, one);
    }
    *times = (least + most) / 2;
    return most - least < 2e-5;
}

static void probe_weight_precision(const struct precision_probe *probe) {
    float one[RATIOS], steps[RATIOS];
    double ratio[RATIOS], exact[RATIOS], worst = 0, times;
    char text[250];
    for (int i = 0; i < RATIOS; i++) {
        one[i] = 1;
        steps[i] = 0.5f * (float)(i + 1);
        exact[i] = exp(-(double)steps[i]);
    }
    if (!probe_ratios(probe, one, steps, ratio))
        return;
    for (int i = 0; i < RATIOS; i++)
        worst = fmax(worst, fabs(ratio[i] / exact[i] - 1));
    struct precision found = precision_of(ratio, exact, RATIOS);
    if (found.bits) {
        report_precision(probe, "weights", "The weights", found);
    } else if (worst > 1e-5 && worst < 0.05 && is_power(ratio, steps, &times)) {
        snprintf(text, sizeof text,
                 "The exponential is computed from scores that are %.6f times the right scores, because of a constant "
                 "or a rounding before the exponential: exp(-0.5) is %.7f instead of %.7f",
                 times, ratio[0], exact[0]);
        probe->report(probe->context, "probe-scores-scaled", text);
    } else if (worst > 1e-5 && worst < 0.05) {
        snprintf(text, sizeof text,
                 "The exponential is off by up to %.1e between exp(-%g) and exp(0): exp(-0.5) is %.7f instead of %.7f",
                 worst, steps[RATIOS - 1], ratio[0], exact[0]);
        probe->report(probe->context, "probe-exponential-inexact", text);
    }
}

// Whether the scores x y are those of factors of which these are rounded.
static bool are_rounded(const float *x, const float *y, const double *ratio, struct precision p, bool of_x, bool of_y) {
    bool fits = true, differs = false;
    for (int i = 0; i < RATIOS; i++) {
        double got = -log(ratio[i]), exact = (double)x[i] * y[i];
        double as = (of_x ? with_precision(x[i], p) : x[i]) * (of_y ? with_precision(y[i], p) : y[i]);
        fits = fits && fabs(got - as) <= 1e-5;
        differs = differs || fabs(exact - as) > 1e-4;
    }
    return fits && differs;
}

static void probe_score_precision(const struct precision_probe *probe) {
    // Of x 11 bits hold nearly all, of y they do not; queries and keys have each of them once.
    float x[RATIOS], y[RATIOS];
    double ratio[RATIOS], swapped[RATIOS];
    for (int i = 0; i < RATIOS; i++) {
        x[i] = 2.13671875f + 0.0371093f * (float)i; // q[0] / 8, which has the same bits
        y[i] = 1.52734f + 0.0291748f * (float)i;
    }
    if (!probe_ratios(probe, x, y, ratio) || !probe_ratios(probe, y, x, swapped))
        return;
    for (int b = 0; b < PRECISIONS; b++)
        for (int which = 1; which < 4; which++) {
            const bool queries = which & 1, keys = which & 2;
            const struct precision p = precisions[b];
            // Each of them where it is y, which is rounded by more than what may be off.
            if ((keys ? are_rounded(x, y, ratio, p, queries, true) : !are_rounded(x, y, ratio, p, true, true)) &&
                (queries ? are_rounded(y, x, swapped, p, true, keys) : !are_rounded(y, x, swapped, p, true, true))) {
                report_precision(probe,
                                 which == 3 ? "queries-and-keys"
                                 : queries  ? "queries"
                                            : "keys",
                                 which == 3 ? "Queries and keys"
                                 : queries  ? "Queries"
                                            : "Keys",
                                 p);
                return;
            }
        }
}

void attention_precision(const struct diagnosed *kernel, enum attention_dtype dtype,
                         void (*report)(void *context, const char *code, const char *text), void *context) {
    const struct precision_probe probe = {kernel, dtype, report, context};
    const char *code;
    char text[250];
    if (sum_rounds(kernel, dtype, &code, text, sizeof text))
        report(context, code, text);
    if (dtype == ATTENTION_FP32) {
        probe_value_precision(&probe);
        probe_weight_precision(&probe);
        probe_score_precision(&probe);
    }
}
