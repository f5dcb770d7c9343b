// Where the addresses of a memory instruction lie: spaces, bounds, alignment. Every access to memory passes here, so
// that every analysis sees it.
//
//   spaces.c    addresses, spaces, bounds and alignment
//   transfer.c  ld and st: between memory and registers
//   atomic.c    atom and red
//   async.c     cp.async
//   cluster_access.c  shared memory of other blocks of the cluster
#ifndef SIMULATOR_MEMORY_SPACES_H
#define SIMULATOR_MEMORY_SPACES_H

#include "../machine/access.h"
#include "../machine/warp.h"

// Does the work, once addresses are known to be good. origin + address is the host's byte.
typedef void access_action(struct warp *warp, const struct bound *bound, const struct access *access, uint8_t *origin);

// Finds the addresses of bound (register a plus offset) for the lanes of mask, checks them, tells the analyses, and
// calls action: once, or several times where lanes hit different spaces or allocations.
enum step access_run(struct warp *warp, const struct bound *bound, uint32_t mask, enum access_kind kind,
                     access_action *action);

// The same for addresses that come from elsewhere (cp.async, ldmatrix), in the given space.
enum step access_run_at(struct warp *warp, const struct bound *bound, struct access *access, access_action *action);

// The same, which the traffic does not count.
enum step access_run_uncounted(struct warp *warp, const struct bound *bound, struct access *access,
                               access_action *action);

// The parts of it for shared memory: of the block itself, and where some address names a block of the cluster.
enum step access_in_own_shared(struct warp *warp, const struct bound *bound, struct access *access,
                               access_action *action);
enum step access_in_cluster(struct warp *warp, const struct bound *bound, struct access *access, access_action *action);

// Addresses register base (cell bytes wide, 0: none) plus offset, for access->mask and access->bytes.
void access_find(struct warp *warp, struct access *access, place base, int cell, int64_t offset);
enum step access_check_alignment(struct warp *warp, const struct bound *bound, struct access *access);

// ld, st and their forms.
enum step run_load(struct warp *warp, const struct bound *bound, uint32_t mask);
enum step run_store(struct warp *warp, const struct bound *bound, uint32_t mask);
enum step run_atomic(struct warp *warp, const struct bound *bound, uint32_t mask);

#endif
