// The gradients in double precision, from the inputs as the kernel gets them, and what the tolerance needs to know;
// also those of kernels with a mistake.
#ifndef OPERATIONS_BACKWARD_REFERENCE_H
#define OPERATIONS_BACKWARD_REFERENCE_H

#include "host/problem.h"
#include "host/sample.h"

// A mistake. All zeros: none.
struct backward_variant {
    enum { SCALE_ONCE, NO_SCALE, SCALE_TWICE } scale_of_scores, scale_of_dq, scale_of_dk;
    enum { DELTA_SUBTRACTED, NO_DELTA, DELTA_ADDED, DELTA_IN_16_BITS, DELTA_OF_NEXT_ROW } delta;
    enum { LSE_BASE_E, LSE_AS_IF_BASE_2, NO_LSE, NO_LOG2_E, LSE_OF_NEXT_ROW } lse;
    enum { ALL_HEADS, FIRST_HEAD, LAST_HEAD } heads_of_dk, heads_of_dv; // of a group
    bool heads_in_turn;                                                 // query head h has key head h % kv_heads
    int border_of_dq, border_of_dk, border_of_dv;                       // so many keys more under the causal limit
    enum { P_DP, DP_ONLY, P_ONLY, P_SQUARED_DP, P_ROUNDED_DP } ds;      // what ds is made of
    bool no_dq, dq_not_cleared;                                         // dq is 0; it is no number
    bool dv_of_ds, dk_of_p;                                             // they are made of the other one
    bool dp_of_k, swapped;     // dp = d_o k^T; dk and dv are in each other's place
    int last_keys, first_keys; // dq has the last, the first tile of so many keys only
    int last_queries;          // dk and dv have the last tile of so many queries only
    int whole_queries;         // they lack the queries after the last whole tile, if there is a whole one
    int whole_keys;            // the same of dq and the keys
};

// What all rows of a problem need.
struct backward_reference {
    const struct host_problem *problem;
    const struct row_sample *sample; // [3]
    double *delta, *delta_size;      // [rows of q] rowsum(d_o * o), and of its sizes
    struct gradient_row {
        double *value, *bound, *size; // [head_dim]
        double walk, lse;             // the largest of a score, as tolerance_rms() has it, and of |lse|
    } * row[3];                       // [rows of the sample] of each output
    double *room[3];                  // of their arrays
    double walk[3], lse[3];           // of all of them
};

// Fills delta; the rows are empty.
struct backward_reference backward_begin(const struct host_problem *problem);

// Computes one row of an output; its arrays are there.
void backward_row(const struct backward_reference *reference, const struct backward_variant *variant, int output,
                  int64_t row, struct gradient_row *to);

// All rows of the samples, of the right kernel.
struct backward_reference backward_refer(const struct host_problem *problem, const struct row_sample sample[3]);

void backward_reference_free(struct backward_reference *reference);

#endif
