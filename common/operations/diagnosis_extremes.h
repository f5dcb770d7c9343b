// Scores that lie far from each other, in an order that is chosen: where a maximum, or what is summed up before it is
// raised, is treated wrongly, one order is right and another is not.
#ifndef OPERATIONS_DIAGNOSIS_EXTREMES_H
#define OPERATIONS_DIAGNOSIS_EXTREMES_H

#include "dtype.h"

#include <stdbool.h>
#include <stdio.h>

// A kernel that gives weights to keys with these scores: the sums of some values by these weights.
enum { EXTREME_SUMS = 3 };
struct score_kernel {
    bool (*run)(void *context, const double *score /* [keys] */, int keys, double sums[EXTREME_SUMS]);
    void *context;
    enum attention_dtype dtype;
};

// The values of key j: 1, 1 in the second half of the keys, and one that grows from key to key.
double extreme_value(int sum, int j, int keys);

void diagnosis_extremes(const struct score_kernel *kernel, FILE *out);

#endif
