// barrier.cluster, and the addresses of a cluster's shared memory. Each thread of the cluster arrives and then waits;
// the barrier completes when all threads that have not exited have arrived.
#ifndef SIMULATOR_INSTRUCTIONS_CLUSTER_H
#define SIMULATOR_INSTRUCTIONS_CLUSTER_H

#include "../machine/cluster.h"

// Lanes of the warp have exited: the barrier no longer waits for them.
void cluster_lanes_exited(struct warp *warp);

// Lists the missing arrivals of a split that waits at barrier.cluster.wait, for the listing of a deadlock. false: it
// does not.
bool cluster_describe(const struct warp *warp, const struct split *split, char *text, size_t size);

#endif
