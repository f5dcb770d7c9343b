// Stores of a value that is there already, or that another lane of the same store writes: they are no race.
#ifndef SIMULATOR_ANALYSES_SAME_VALUE_H
#define SIMULATOR_ANALYSES_SAME_VALUE_H

#include "../machine/access.h"
#include "../machine/bound.h"
#include "../machine/warp.h"

// Of an access to shared memory whose addresses are filled in; false of one that is no store.
// Whether the store leaves a lane's bytes as they are.
bool same_value_there(const struct warp *warp, const struct bound *bound, const struct access *filled, int lane);
// Whether an earlier lane of this very store writes the same value to the same place.
bool same_value_twin(const struct warp *warp, const struct bound *bound, const struct access *filled, int lane);

#endif
