// Stores of a value that memory already holds, or that another lane of the same store writes, are no race.
#ifndef SIMULATOR_ANALYSES_SAME_VALUE_H
#define SIMULATOR_ANALYSES_SAME_VALUE_H

#include "../machine/access.h"
#include "../machine/bound.h"
#include "../machine/warp.h"

// The access is one to shared memory whose addresses are filled in; both return false if it is no store. Returns
// whether the store leaves the lane's bytes unchanged.
bool same_value_in_memory(const struct warp *warp, const struct bound *bound, const struct access *filled, int lane);
// Returns whether an earlier lane of the same store writes the same value to the same address.
bool same_value_of_other_lane(const struct warp *warp, const struct bound *bound, const struct access *filled,
                              int lane);

#endif
