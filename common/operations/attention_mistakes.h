// The mistakes of attention that have a name. Several variants may share one: the same mistake with other sizes of
// tiles.
#ifndef OPERATIONS_ATTENTION_MISTAKES_H
#define OPERATIONS_ATTENTION_MISTAKES_H

#include "operations/attention_variant.h"

struct attention_suspect {
    const struct mistake *mistake;
    struct variant variant;
};

extern const struct attention_suspect attention_suspects[];
extern const int attention_suspect_count;

#endif
