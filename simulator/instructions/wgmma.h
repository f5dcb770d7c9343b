// Matrix products of a warpgroup. Each of its four warps computes its own 16 rows when it comes to the instruction, and
// what that writes counts as in flight until the warp has waited for it: see wgmma.c and wgmma_registers.c.
#ifndef SIMULATOR_INSTRUCTIONS_WGMMA_H
#define SIMULATOR_INSTRUCTIONS_WGMMA_H

#include "../machine/binder.h"

struct block;

// Before a block starts; after its end.
void wgmma_start(struct block *block);
void wgmma_free(struct block *block);

// The n-th wgmma of the warp writes this register, until the warp has waited for it.
void wgmma_writes(struct warp *warp, place where, uint32_t n);

// That wgmma where the register is in flight, 0 where it is not.
uint32_t wgmma_in_flight(const struct warp *warp, place where);
// Reports it.
void wgmma_report_early(struct warp *warp, const struct bound *bound, uint32_t n);

// Every instruction of a bound kernel that reads or writes a register of wgmma looks whether it is in flight.
// false: out of memory.
bool wgmma_watch(struct binder *binder);

#endif
