// A memory instruction as one warp executes it once: which addresses, in which space, and what is done to them.
//
//   access.c    addresses, spaces, bounds and alignment
//   transfer.c  ld and st: between memory and registers
//   atomic.c    atom and red
//   async.c     cp.async
#ifndef SIMULATOR_EXEC_ACCESS_H
#define SIMULATOR_EXEC_ACCESS_H

#include "warp.h"

#include "../traffic/traffic.h"

#define PARAM_WINDOW 0x0000030000000000ull // generic addresses of kernel parameters
#define WINDOW_MASK 0xffffff0000000000ull

struct access {
    enum ptx_space space; // never PTX_GENERIC: each lane's generic address has been looked at
    enum traffic_kind kind;
    uint32_t mask;
    uint32_t bytes; // of one lane, all elements of a vector
    struct lane_span span;
    // Offsets in the space, device addresses for PTX_GLOBAL and PTX_CONST. Valid where the pattern is scattered;
    // access_fill makes them so for the others. Lanes outside mask repeat an active lane's.
    uint64_t address[LANES];
    struct sim_allocation *allocation; // PTX_GLOBAL, PTX_CONST: the one that all of it lies in
};

// Does the work, once addresses are known to be good. origin + address is the host's byte.
typedef void access_action(struct warp *warp, const struct bound *bound, const struct access *access, uint8_t *origin);

// Finds the addresses of bound (register a plus offset) for the lanes of mask, checks them, tells the analyses, and
// calls action: once, or several times where lanes hit different spaces or allocations.
enum step access_run(struct warp *warp, const struct bound *bound, uint32_t mask, enum traffic_kind kind,
                     access_action *action);

// The same for addresses that come from elsewhere (cp.async, ldmatrix), in the given space.
enum step access_run_at(struct warp *warp, const struct bound *bound, struct access *access, access_action *action);

// Addresses register base (cell bytes wide, 0: none) plus offset, for access->mask and access->bytes.
void access_find(struct warp *warp, struct access *access, place base, int cell, int64_t offset);
enum step access_check_alignment(struct warp *warp, const struct bound *bound, struct access *access);

void access_fill(struct access *access);
static inline bool access_writes(const struct access *access) {
    return access->kind == TRAFFIC_STORE || access->kind == TRAFFIC_MATRIX_STORE;
}

static inline bool access_is_atomic(const struct access *access) {
    return access->kind == TRAFFIC_ATOMIC || access->kind == TRAFFIC_REDUCTION;
}

// ld, st and their forms.
enum step run_load(struct warp *warp, const struct bound *bound, uint32_t mask);
enum step run_store(struct warp *warp, const struct bound *bound, uint32_t mask);
enum step run_atomic(struct warp *warp, const struct bound *bound, uint32_t mask);

#endif
