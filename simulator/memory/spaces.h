// Addresses of memory instructions: spaces, bounds, alignment. Every memory access goes through here, so that every
// analysis sees it.
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

// Performs the access after its addresses are checked. origin + address is the host's byte.
typedef void access_action(struct warp *warp, const struct bound *bound, const struct access *access, uint8_t *origin);

// Computes the addresses of bound (register a plus offset) for the lanes of mask, checks them, passes them to the
// analyses, and calls action: once, or several times if the lanes access different spaces or allocations.
enum step access_run(struct warp *warp, const struct bound *bound, uint32_t mask, enum access_kind kind,
                     access_action *action);

// The same for addresses of other operands (cp.async, ldmatrix), in the given space.
enum step access_run_at(struct warp *warp, const struct bound *bound, struct access *access, access_action *action);

// The same without being counted as traffic.
enum step access_run_uncounted(struct warp *warp, const struct bound *bound, struct access *access,
                               access_action *action);

// The parts of it for shared memory: of the block itself, and of another block of the cluster.
enum step access_in_own_shared(struct warp *warp, const struct bound *bound, struct access *access,
                               access_action *action);
enum step access_in_cluster(struct warp *warp, const struct bound *bound, struct access *access, access_action *action);

// Computes the addresses: register base (cell bytes wide, 0: none) plus offset, for access->mask and access->bytes.
void access_find(struct warp *warp, struct access *access, operand_ref base, int cell, int64_t offset);
enum step access_check_alignment(struct warp *warp, const struct bound *bound, struct access *access);

// ld, st and their variants.
enum step run_load(struct warp *warp, const struct bound *bound, uint32_t mask);
enum step run_store(struct warp *warp, const struct bound *bound, uint32_t mask);
enum step run_atomic(struct warp *warp, const struct bound *bound, uint32_t mask);

#endif
