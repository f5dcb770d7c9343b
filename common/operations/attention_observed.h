// The weights that a kernel gives to the keys of a case, measured by probes: the output is a weighted sum of the
// values, so values that are 1 at one key and 0 elsewhere show the weight of that key.
#ifndef OPERATIONS_ATTENTION_OBSERVED_H
#define OPERATIONS_ATTENTION_OBSERVED_H

#include "host/diagnosis.h"

enum row_state { ROW_PRESENT, ROW_UNWRITTEN, ROW_NOT_FINITE, ROW_ZERO };

struct observed {
    const struct diagnosed *kernel;
    struct problem_case which;
    struct host_problem problem; // the case, with the queries and values that were asked about last
    float *own_q, *own_v;        // the case's own
    int64_t rows;                // of all batches and heads
    double *got, *right;         // [rows][nk], each divided by its sum already
    double *largest;             // [rows], of right
    double *score;               // [rows][nk], scaled; -infinity where the key is masked
    double *raw;                 // the same, of masked keys, too
    enum row_state *missing;     // [rows]
    float *o;                    // [rows][head_dim], the kernel's
    double *right_o, *size_o;    // what is right, and the sum of the sizes of its terms
    bool missing_in_part;        // a row without numbers has some in other columns
    float *lse;                  // [rows], the kernel's; NULL where it gives none
    double *right_lse;           // [rows]
    bool weighs_as_shown;        // the case's own values come out as the sum of them by these weights
    double off;                  // how far they do not at most, relatively
    bool repeats;                // the same inputs give the same results, whatever was asked between
    double tolerance;            // how far two weights may lie apart, relatively
    double seconds;              // that a call takes
    // Observes another case that a true explanation predicts. False: there is none that is wrong.
    bool (*again)(const struct observed *observed, int longer, struct observed *twin);
    int column; // the weights are those that this column has, ANY_COLUMN: each key's in one of them
};
enum { ANY_COLUMN = -1 };

// False if the kernel could not run; then there is nothing to free.
bool attention_observe(const struct diagnosed *kernel, const struct problem_case *which, uint64_t seed, int column,
                       struct observed *observed);

// Fills in what is right: score, raw, right, largest and right_lse.
void observed_reference(const struct host_problem *problem, struct observed *observed);

// The same case with other inputs and so many more keys, if it is wrong.
bool attention_observe_again(const struct observed *observed, int longer, struct observed *twin);

void attention_observed_free(struct observed *observed);

// The output of the kernel for the case with these queries and values; NULL: the case's own.
bool observed_run(struct observed *observed, const float *q, const float *v, float *o /* [rows][head_dim] */);

// The weights for these queries.
bool observed_weights(struct observed *observed, const float *q, double *weight /* [rows][nk] */);

// Whether a weight of a row is this one.
bool observed_matches(const struct observed *observed, int64_t row, double weight, double other);

// Whether an element of the output, or a row (ANY_COLUMN), is right within what roundings of the weights may do.
bool observed_is_right(const struct observed *observed, int64_t row, int column);

#endif
