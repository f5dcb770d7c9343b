// Compares an output with the reference, and remembers enough to show where it is wrong.
#ifndef HOST_VERDICT_H
#define HOST_VERDICT_H

#include "host/problem.h"
#include "host/sample.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

// What is expected of a row.
struct expected_row {
    double *value; // [columns]
    double *bound; // [columns], how far off an element may be
    double *size;  // [columns], what its rounding error is measured by; NaN: it takes no part in the RMS error
};

struct verdict {
    const struct host_problem *problem;
    const struct host_tensor *tensor; // the output that is judged
    const struct row_sample *sample;
    const void *reference;
    int output;
    bool partly;                    // what was not written was not to be
    uint64_t bits;                  // of all that was compared: the same where the bits are
    struct expected_row expected;   // of the row that is looked at
    int64_t next;                   // index in sample of the next row that is expected
    uint8_t *wrong_at;              // [sample rows][columns], 1 where the element is outside its tolerance
    double *row_error, *row_signal; // [sample rows], sums of squares

    int64_t elements;          // of the whole output
    int64_t compared;          // with the reference
    int64_t wrong;             // of those
    int64_t left_out;          // of the whole output: the poison is still there, and partly is set
    int64_t unwritten;         // of the whole output: the poison is still there
    int64_t nan;               // of the whole output: NaN where the reference has none, or where it cannot have one
    double relative_rms;       // of all that was compared
    double max_relative_error; // of an element
    bool rms_failed;           // the RMS error was too large, or the one of a group or of a row
    int64_t rms_row;           // the row whose RMS error failed, -1 where the whole or a group did
    double rms_failed_at;      // how large it was
    double rms_limit;          // and could have been

    int64_t first_row; // the first element that is wrong; -1: none
    int first_column;
    bool first_sampled; // false: the row was not in the sample, so that nothing is expected of it
    double first_expected, first_bound;
    float first_got;
};

// reference: as the problem's operation has made it for the sample.
void verdict_begin(struct verdict *verdict, const struct host_problem *problem, const struct row_sample *sample,
                   const void *reference, int output);

// The next rows of the output, from first_row on; called once for each row, in the order of the host.
void verdict_rows(struct verdict *verdict, int64_t first_row, int64_t rows, const float *values /* [rows][columns] */);

// Computes the RMS errors. True where the output is right.
bool verdict_end(struct verdict *verdict);

// The error of a right output, as its operation gives it.
double verdict_error(const struct verdict *verdict);

// Says in a few lines what is wrong: how many, the first expected and got and, where it is asked for and only parts are
// wrong, a map of right and wrong tiles.
void verdict_explain(const struct verdict *verdict, bool with_map, FILE *out);

void verdict_free(struct verdict *verdict);

// All of that for each output of the problem, which stand one after the other: whether all are right, by the rows that
// the seed samples.
bool verdict_of_all(const struct host_problem *problem, const float *outputs, uint64_t seed);

#endif
