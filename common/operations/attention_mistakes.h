// The mistakes of attention that have a name. Several variants may share one: the same mistake with other sizes of
// tiles.
#ifndef OPERATIONS_ATTENTION_MISTAKES_H
#define OPERATIONS_ATTENTION_MISTAKES_H

#include "operations/attention_variant.h"

struct attention_model {
    const struct mistake *mistake;
    struct variant variant;
};

extern const struct attention_model attention_models[];
extern const int attention_model_count;

// attention_explain_zeros.c. Of an output that is 0 everywhere: why, as far as lse and another type tell. NULL: it is
// not that one after all.
const struct mistake *attention_refine(const struct mistake *mistake, const struct diagnosed *kernel,
                                       enum attention_dtype dtype);

extern const struct mistake *const attention_output_0;

// Whether it is that what was summed up is not rescaled: the weighted sum, the sum, or both.
bool attention_is_not_rescaled(const struct mistake *mistake);

#endif
