// Compares an output with the reference, and records where it is wrong.
#ifndef HOST_VERDICT_H
#define HOST_VERDICT_H

#include "host/problem.h"
#include "host/sample.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

// The expected values of a row.
struct expected_row {
    double *value; // [columns]
    double *bound; // [columns], tolerance of each element
    double *size;  // [columns], scale of its rounding error; NaN: not part of the RMS error
};

struct verdict {
    const struct host_problem *problem;
    const struct host_tensor *tensor; // the output that is compared
    const struct row_sample *sample;
    const void *reference;
    int output;
    bool partly;                    // unwritten elements are skipped, since only part of the launches was simulated
    uint64_t bits;                  // hash of all compared elements
    struct expected_row expected;   // of the current row
    int64_t next;                   // index in sample of the next compared row
    uint8_t *wrong_at;              // [sample rows][columns], 1 where the element is outside its tolerance
    double *row_error, *row_signal; // [sample rows], sums of squares

    int64_t elements;          // of the whole output
    int64_t compared;          // with the reference
    int64_t wrong;             // of those
    int64_t skipped;           // of the whole output: unwritten, and partly is set
    int64_t unwritten;         // of the whole output: it still holds the poison
    int64_t nan;               // of the whole output: NaN where the reference has or can have none
    double relative_rms;       // of all compared elements
    double max_relative_error; // of an element
    bool rms_failed;           // the RMS error of the whole, a group or a row exceeds its limit
    int64_t rms_row;           // the row whose RMS error failed, -1: the whole or a group
    double rms_failed_at;      // that RMS error
    double rms_limit;          // and its limit

    int64_t first_row; // the first wrong element; -1: none
    int first_column;
    bool first_sampled; // false: the row is not in the sample and has no expected values
    double first_expected, first_bound;
    float first_got;
};

// Draws the rows of each output that are compared. row_cost: multiply-adds of the reference for a row.
void verdict_sample(const struct host_problem *problem, double row_cost, uint64_t seed,
                    struct row_sample sample[MAX_TENSORS]);
void verdict_sample_free(struct row_sample sample[MAX_TENSORS]);

// sample: of this output; reference: the result of the operation's refer() for the samples.
void verdict_begin(struct verdict *verdict, const struct host_problem *problem, const struct row_sample *sample,
                   const void *reference, int output);

// Compares the next rows of the output, from first_row on; each row is passed once, in the order of the host.
void verdict_rows(struct verdict *verdict, int64_t first_row, int64_t rows, const float *values /* [rows][columns] */);

// Computes the RMS errors. True if the output is right.
bool verdict_end(struct verdict *verdict);

// The error of a right output, as its operation defines it.
double verdict_error(const struct verdict *verdict);

// Prints the number of wrong elements, the first one with its expected value and, if requested and if some elements are
// right, a map of right and wrong tiles.
void verdict_explain(const struct verdict *verdict, bool with_map, FILE *out);

void verdict_free(struct verdict *verdict);

// Compares all outputs of the problem, stored one after the other, in the rows that the seed samples. True if all are
// right.
bool verdict_of_all(const struct host_problem *problem, const float *outputs, uint64_t seed);

#endif
