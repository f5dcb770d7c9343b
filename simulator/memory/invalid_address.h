// An access to an address that is in no allocation.
#ifndef SIMULATOR_MEMORY_INVALID_ADDRESS_H
#define SIMULATOR_MEMORY_INVALID_ADDRESS_H

#include "../machine/access.h"
#include "../machine/bound.h"

// Reports the lane's access, with the cause that its address proves, and ends the launch.
enum step invalid_address_report(struct warp *warp, const struct bound *bound, const struct access *access, int lane);

// Reports the lane's access to memory of another device, and ends the launch.
enum step peer_access_report(struct warp *warp, const struct bound *bound, const struct sim_allocation *allocation,
                             bool writes, int lane);

#endif
