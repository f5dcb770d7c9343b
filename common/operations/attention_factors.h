// Factors: how many times its right weight a key has in a row, and which keys have the same.
#ifndef OPERATIONS_ATTENTION_FACTORS_H
#define OPERATIONS_ATTENTION_FACTORS_H

#include "operations/attention_explain_weights.h"

// Whether a weight has all the bits of its type: fp16 ends at 2^-24.
bool factors_are_precise(const struct explainer *explainer, double weight);

// Whether key j has, in every wrong row, the factor of the key that is so many before it.
bool factors_repeat(const struct explainer *explainer, int j, int before);

// The largest weight of a row.
double factors_largest(const struct explainer *explainer, int64_t row);

// Whether a weight is large enough, beside the largest of its row, for its factor to be known.
bool factor_is_significant(const struct explainer *explainer, double got, double right, double largest);

// Whether in some row weights have factors that lie further apart than roundings make them.
bool factors_differ(const struct explainer *explainer);

// Whether keys first, first + step, ... before end have one factor in each wrong row, as far as their weights are large
// enough to tell. Adds to *told how many of them told.
bool factors_are_one(const struct explainer *explainer, int first, int end, int step, int *reported);

// ---- Runs of keys that have factors of their own
enum { MOST_PARTS = 16 };

// What such runs are relative to, and how they are put together. False where there are no words for it.
bool explain_tile_maxima(const struct explainer *explainer, const int *begin /* [parts + 1] */, int parts);

// Of such runs, where warps take them in turn: what they are relative to. False where it is not so.
bool explain_warps(const struct explainer *explainer, const int *begin /* [parts + 1] */, int parts);

#endif
