// Compares an output with the reference, and remembers enough to show where it is wrong.
#ifndef HOST_VERDICT_H
#define HOST_VERDICT_H

#include "host/reference.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct verdict {
    const struct host_inputs *inputs;
    const struct row_sample *sample;
    const struct reference *reference;
    int64_t next;                   // index in sample of the next row that is expected
    uint8_t *wrong_at;              // [sample rows][head_dim], 1 where the element is outside its tolerance
    double *row_error, *row_signal; // [sample rows], sums of squares

    int64_t elements;     // of the whole output
    int64_t compared;     // with the reference
    int64_t wrong;        // of those
    int64_t unwritten;    // of the whole output: the poison is still there
    int64_t nan;          // of the whole output: NaN where the reference has none, or where it cannot have one
    double relative_rms;  // of all that was compared
    bool rms_failed;      // that was too large, or the one of a head or of a row
    int64_t rms_row;      // the row whose RMS error failed, -1 where the whole or a head did
    double rms_failed_at; // how large it was
    double rms_limit;     // and could have been
    int64_t wrong_lse;
    double lse_expected, lse_got;

    int64_t first_row; // the first element that is wrong; -1: none
    int first_column;
    bool first_sampled; // false: the row was not in the sample, so that nothing is expected of it
    double first_expected, first_bound;
    float first_got;
};

void verdict_begin(struct verdict *verdict, const struct host_inputs *inputs, const struct row_sample *sample,
                   const struct reference *reference);

// The next rows of the output, counted over [batch][heads][nq] from first_row on; called once for each row, in order.
void verdict_rows(struct verdict *verdict, int64_t first_row, int64_t rows, const float *o);

// lse of all rows, [batch][heads][nq].
void verdict_lse(struct verdict *verdict, const float *lse);

// Computes the RMS errors. True where the output is right.
bool verdict_end(struct verdict *verdict);

// Says in a few lines what is wrong: how many, a map of right and wrong tiles, the first expected and got.
void verdict_explain(const struct verdict *verdict, FILE *out);

void verdict_free(struct verdict *verdict);

#endif
