// The indices that a mistaken loop or reduction covers.
#ifndef HOST_SUBSET_H
#define HOST_SUBSET_H

#include <stdbool.h>

enum subset_kind {
    SUBSET_ALL,
    SUBSET_STRIPE, // index % period < count
    SUBSET_NOT_FIRST,
    SUBSET_NOT_LAST,
    SUBSET_WHOLE_TILES, // up to the last multiple of period
    SUBSET_FIRST_TILE,  // index < period
    SUBSET_LAST_TILE,   // from the last multiple of period on that is below the size
};
struct subset {
    enum subset_kind kind;
    int period, count;
};

// Whether the subset of 0 .. size - 1 contains index.
bool subset_has(struct subset subset, int index, int size);

#endif
