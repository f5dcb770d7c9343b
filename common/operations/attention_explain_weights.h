// Shared by the parts of attention_explain_weights(): the weights of a case, and which of them are wrong.
#ifndef OPERATIONS_ATTENTION_EXPLAIN_WEIGHTS_H
#define OPERATIONS_ATTENTION_EXPLAIN_WEIGHTS_H

#include "operations/attention_observed.h"

#include <stdio.h>

struct explainer {
    struct observed x;
    bool *wrong;      // [rows]
    double *factor;   // [rows], the common factor of the right weights
    bool *mismatched; // [nk], wrong by another factor in some wrong row
    double *equal;    // [rows][nk], the weights if all scores are 0; NULL: unknown
    bool unexplained; // the printed lines do not locate the error
    bool not_finite;  // in some rows
    FILE *out;
};

static inline const double *got_of(const struct explainer *s, int64_t row) {
    return s->x.got + row * s->x.which.attention.nk;
}
static inline const double *right_of(const struct explainer *s, int64_t row) {
    return s->x.right + row * s->x.which.attention.nk;
}

// Prints a line of what the kernel does, and its code, which tests compare: "  The row sum ... [row-sum-power]".
void explain_line(const struct explainer *explainer, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// The largest of a row's scores.
double score_maximum(const struct explainer *explainer, int64_t row);

// ---- Rows: each of these prints nothing and returns false if it does not apply.

// Which queries are marked, and of which heads.
void explain_queries(const struct explainer *explainer, const char *code, const char *what,
                     const bool *marked /* [rows] */);

// "batch 0 head 1 query 2" into text. Returns its length.
int describe_row(const struct explainer *explainer, int64_t row, char *text, size_t size);

// The first row without numbers or of zeros, asked alone, is right: other rows make it wrong.
bool explain_row_alone(const struct explainer *explainer);

// The first row that is lost or wrong changes with the query of another one. Asks the kernel a few times more.
bool explain_influence(struct explainer *explainer);

// A row has values of another head in it; whether that is all that is wrong with it.
bool explain_other_head(struct explainer *explainer);

// Every wrong row has the weights of another one, by some factor; of its queries with another head's keys.
bool explain_rows_of_others(const struct explainer *explainer);
bool explain_keys_of_others(const struct explainer *explainer);

// Every wrong row has the weights of another one beside its own, by some factor.
bool explain_added_rows(const struct explainer *explainer);

// Runs of keys of a row have the weights of other rows.
bool explain_mixed_rows(const struct explainer *explainer);

// Rows that see other keys than they should, where all scores are the same, and by what rule.
bool explain_limits(const struct explainer *explainer);

// Rows that see a number of keys from the first on which is not theirs, and weigh those of them rightly.
bool explain_attended(const struct explainer *explainer);

// ---- Sums and exponentials.

// All weights of each wrong row are off by one factor: its divisor is.
void explain_divisor(const struct explainer *explainer);

// What the weights of the wrong rows add up to. False where that is 1.
bool explain_sums(const struct explainer *explainer);

// The logarithms of the weights of every row are the scores times one factor.
bool explain_scale(const struct explainer *explainer);

// Keys whose score is so far below the row's largest one have no weight.
bool explain_dropped(const struct explainer *explainer);

// What is rounded to 8 or 11 bits in fp32, where the weights are just those that come of it.
bool explain_rounding(const struct explainer *explainer);

// Weights are another power of the right ones, each relative to the maximum of its time.
bool explain_bases(const struct explainer *explainer);

// A weight hangs on nothing but how far its score is below the largest one.
bool explain_exponential(const struct explainer *explainer);

// How far lse is off. False where it is right.
bool explain_lse(struct explainer *explainer);

// lse is that of some keys alone, or of parts that are not put together as they should be.
bool explain_lse_tiles(const struct explainer *explainer);

// What is rounded to the type of the tensors, where lse is off by as much as that.
void explain_lse_rounding(const struct explainer *explainer);

// ---- Keys.

// Whether the keys that are not in proportion have no weight at all.
bool mismatched_keys_have_no_weight(const struct explainer *explainer);

// Which keys are not in proportion, and what they have instead; odd: how many they are.
void explain_keys(const struct explainer *explainer, int mismatched);

// The keys of a row are in proportion within each of a few runs of neighbouring keys, but not from one to the next.
bool explain_tiles(const struct explainer *explainer);

// They are so where their numbers differ by a multiple of the threads or lanes, but not from one of those to the next.
bool explain_threads(const struct explainer *explainer);

// They are so in tiles of a power of two keys where they belong to the same lane of the four that share a row of an
// mma.
bool explain_quads(const struct explainer *explainer);

// They are so where they belong to one of a few groups, of whatever numbers.
bool explain_key_groups(const struct explainer *explainer);

// Whether a weight is large enough, beside the largest of its row, for its factor to be known.
bool weight_is_significant(const struct explainer *explainer, int64_t row, int key);

// Values have the weights of other keys.
bool explain_displaced(const struct explainer *explainer);

// Keys that are not in proportion have the scores of other rows.
bool explain_scores(const struct explainer *explainer);

// The weights of a row are right, but in another order.
bool explain_permuted(const struct explainer *explainer);

// Weights have changed places within tiles of 16 queries and 16 keys.
bool explain_fragments(const struct explainer *explainer);

// How often each key counts where all scores are the same. False where each counts once.
bool explain_equal_scores(const struct explainer *explainer);

// Where all scores are the same, and the sum is as large as that of some more keys.
void explain_extra_keys(const struct explainer *explainer);

// What there is to say of the weights that this column alone has. Whether it was asked, and that leaves nothing open.
bool explain_column(const struct explainer *explainer, int column);

// ---- Columns: an output that is not its head's values by one weight for each key.
void explain_columns(struct explainer *explainer);

#endif
