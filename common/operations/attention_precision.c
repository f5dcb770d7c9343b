// Whether the sum of many values is rounded on the way.
#include "attention.h"
#include "host/parallel.h"
#include "operations/attention_ask.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { D = 64 };

// The mean of many values of equal keys, each column with others, whose sum a kernel keeps in fp32: it is rounded once,
// in the end. Only the first `full` keys have values. How far the columns are off, in roundings of the type.
static bool ask_mean(const struct diagnosed *kernel, enum attention_dtype dtype, int keys, int full, double unit,
                     double *off) {
    float *q = host_zeros(D, sizeof *q), *k = host_zeros(keys * D, sizeof *k);
    float *v = host_zeros(keys * D, sizeof *v), *o = host_zeros(D, sizeof *o);
    double squares = 0;
    for (int j = 0; j < full; j++)
        for (int c = 0; c < D; c++)
            v[j * D + c] = 1 + (float)((j * 37 + c * 11 + j / 16 * 5) % 128) / 128; // numbers that all types have
    bool known = attention_ask_head(kernel, dtype, D, 1, keys, q, k, v, o);
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

bool attention_sum_rounds(const struct diagnosed *kernel, enum attention_dtype dtype, char *text, size_t size) {
    enum { FEW = 16, MANY = 4096 };
    const double unit = dtype == ATTENTION_BF16 ? 0x1p-8 : 0x1p-11; // of fp32, what is worth saying
    const double most_growth = 8, least_growth = 1.2;               // from half as many keys; from a quarter
    double few, many, half, quarter, weights;
    if (!ask_mean(kernel, dtype, FEW, FEW, unit, &few) || few > 0.75 ||
        !ask_mean(kernel, dtype, MANY, MANY, unit, &many) || !(many > 1.25))
        return false;
    // Roundings add up, few by few; keys that are lost from some number on are no rounding.
    if (!ask_mean(kernel, dtype, MANY / 2, MANY / 2, unit, &half) || half < many / most_growth ||
        !ask_mean(kernel, dtype, MANY / 4, MANY / 4, unit, &quarter) || quarter < half / most_growth ||
        many < quarter * least_growth)
        return false;
    // Where few keys have values there is nothing to be lost of their sum, but as much as before of that of the
    // weights.
    if (!ask_mean(kernel, dtype, MANY, FEW, unit, &weights))
        return false;
    snprintf(text, size,
             "rounds the sum of the %s on the way, as often as there are keys or tiles: of %d equal keys it is off "
             "by %.2g roundings to %d bits, of %d by %.2g",
             weights > 1.25 ? "weights" : "values", FEW, few, dtype == ATTENTION_BF16 ? 8 : 11, MANY, many);
    return true;
}
