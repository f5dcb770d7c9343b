// What the parts of attention_stages() share: the weights of a case, and which of them are not right.
#ifndef OPERATIONS_ATTENTION_STAGES_H
#define OPERATIONS_ATTENTION_STAGES_H

#include "operations/attention_observed.h"

#include <stdio.h>

struct stages {
    struct observed x;
    bool *wrong;      // [rows]
    double *factor;   // [rows], of those weights that are in the right proportion to each other
    bool *odd;        // [nk], in some wrong row not of that proportion
    double *equal;    // [rows][nk], the weights where all scores are 0; NULL: they could not be asked for
    bool unexplained; // what has been said leaves open where it goes wrong
    bool no_numbers;  // in some rows
    FILE *out;
};

static inline const double *got_of(const struct stages *s, int64_t row) {
    return s->x.got + row * s->x.which.attention.nk;
}
static inline const double *right_of(const struct stages *s, int64_t row) {
    return s->x.right + row * s->x.which.attention.nk;
}

// A line of what the kernel does.
void stages_say(const struct stages *stages, const char *format, ...) __attribute__((format(printf, 2, 3)));

// The largest of a row's scores.
double stages_maximum(const struct stages *stages, int64_t row);

// ---- Rows: each of these says nothing, and returns false, where it is not so.

// Which queries are marked, and of which heads.
void stages_say_queries(const struct stages *stages, const char *what, const bool *marked /* [rows] */);

// "batch 0 head 1 query 2" into text. Returns its length.
int stages_name_row(const struct stages *stages, int64_t row, char *text, size_t size);

// The first row without numbers or of zeros, asked alone, is right: other rows make it wrong.
bool stages_say_alone(const struct stages *stages);

// The first row that is lost or wrong changes with the query of another one. Asks the kernel a few times more.
bool stages_say_influence(struct stages *stages);

// A row has values of another head in it; whether that is all that is wrong with it.
bool stages_say_foreign(struct stages *stages);

// Every wrong row has the weights of another one, by some factor; of its queries with another head's keys.
bool stages_say_other_rows(const struct stages *stages);
bool stages_say_other_heads(const struct stages *stages);

// Every wrong row has the weights of another one beside its own, by some factor.
bool stages_say_added_rows(const struct stages *stages);

// Runs of keys of a row have the weights of other rows.
bool stages_say_mixture(const struct stages *stages);

// Rows that see other keys than they should, where all scores are the same, and by what rule.
bool stages_say_limits(const struct stages *stages);

// Rows that see a number of keys from the first on which is not theirs, and weigh those of them rightly.
bool stages_say_visible(const struct stages *stages);

// ---- Sums and exponentials.

// All weights of each wrong row are off by one factor: its divisor is.
void stages_say_divisor(const struct stages *stages);

// What the weights of the wrong rows add up to. False where that is 1.
bool stages_say_sums(const struct stages *stages);

// The logarithms of the weights of every row are the scores times one factor.
bool stages_say_scale(const struct stages *stages);

// Keys whose score is so far below the row's largest one have no weight.
bool stages_say_dropped(const struct stages *stages);

// What is rounded to 8 or 11 bits in fp32, where the weights are just those that come of it.
bool stages_say_rounded(const struct stages *stages);

// Weights are another power of the right ones, each relative to the maximum of its time.
bool stages_say_powers(const struct stages *stages);

// A weight hangs on nothing but how far its score is below the largest one.
bool stages_say_curve(const struct stages *stages);

// How far lse is off. False where it is right.
bool stages_say_lse(struct stages *stages);

// lse is that of some keys alone, or of parts that are not put together as they should be.
bool stages_say_lse_parts(const struct stages *stages);

// What is rounded to the type of the tensors, where lse is off by as much as that.
void stages_say_lse_rounded(const struct stages *stages);

// ---- Keys.

// Whether the keys that are not in proportion have no weight at all.
bool stages_left_out(const struct stages *stages);

// Which keys are not in proportion, and what they have instead; odd: how many they are.
void stages_say_keys(const struct stages *stages, int odd);

// The keys of a row are in proportion within each of a few runs of neighbouring keys, but not from one to the next.
bool stages_say_parts(const struct stages *stages);

// They are so where their numbers differ by a multiple of the threads or lanes, but not from one of those to the next.
bool stages_say_threads(const struct stages *stages);

// They are so in tiles of a power of two keys where they belong to the same lane of the four that share a row of an
// mma.
bool stages_say_quads(const struct stages *stages);

// They are so where they belong to one of a few groups, of whatever numbers.
bool stages_say_classes(const struct stages *stages);

// Whether a weight is large enough, beside the largest of its row, for its factor to be known.
bool stages_tells(const struct stages *stages, int64_t row, int key);

// Values have the weights of other keys.
bool stages_say_moved(const struct stages *stages);

// Keys that are not in proportion have the scores of other rows.
bool stages_say_scores(const struct stages *stages);

// The weights of a row are right, but in another order.
bool stages_say_permuted(const struct stages *stages);

// Weights have changed places within tiles of 16 queries and 16 keys.
bool stages_say_fragments(const struct stages *stages);

// How often each key counts where all scores are the same. False where each counts once.
bool stages_say_equal_scores(const struct stages *stages);

// Where all scores are the same, and the sum is as large as that of some more keys.
void stages_say_extra_keys(const struct stages *stages);

// What there is to say of the weights that this column alone has. Whether it was asked, and that leaves nothing open.
bool stages_say_column(const struct stages *stages, int column);

// ---- Columns: an output that is not its head's values by one weight for each key.
void stages_say_columns(struct stages *stages);

#endif
