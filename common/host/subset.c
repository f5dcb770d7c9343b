#include "host/subset.h"

bool subset_has(struct subset s, int index, int size) {
    switch (s.kind) {
    case SUBSET_STRIPE:
        return index % s.period < s.count;
    case SUBSET_NOT_FIRST:
        return index > 0;
    case SUBSET_NOT_LAST:
        return index < size - 1;
    case SUBSET_WHOLE_TILES:
        return index < size / s.period * s.period;
    case SUBSET_FIRST_TILE:
        return index < s.period;
    case SUBSET_LAST_TILE:
        return index >= (size - 1) / s.period * s.period;
    default:
        return true;
    }
}
