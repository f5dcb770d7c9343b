// The weights that a kernel gives to the keys of a case, found out by asking it: the output is a sum of values, so that
// values that are 1 at one key and 0 elsewhere show the weight of that key.
#ifndef OPERATIONS_ATTENTION_OBSERVED_H
#define OPERATIONS_ATTENTION_OBSERVED_H

#include "host/diagnosis.h"

enum lost_row { ROW_IS_THERE, ROW_UNWRITTEN, ROW_NO_NUMBERS, ROW_ZERO };

struct observed {
    struct problem_case which;
    int64_t rows;         // of all batches and heads
    double *got, *right;  // [rows][nk], each divided by its sum already
    double *score;        // [rows][nk], scaled; -infinity where the key is hidden
    enum lost_row *lost;  // [rows]
    float *lse;           // [rows], the kernel's; NULL where it gives none
    double *right_lse;    // [rows]
    bool weighs_as_shown; // the case's own values come out as the sum of them by these weights
    double near;          // how far two weights may lie apart, relatively
};

// False where the kernel could not be asked; then there is nothing to free.
bool attention_observe(const struct diagnosed *kernel, const struct problem_case *which, uint64_t seed,
                       struct observed *observed);

void attention_observed_free(struct observed *observed);

// Whether a weight of a row is this one.
bool observed_near(const struct observed *observed, int64_t row, double weight, double other);

#endif
