// Matrix products of a warpgroup. Each of its four warps computes its own 16 rows when it comes to the instruction, and
// what that writes counts as in flight until the warp has waited for it: see wgmma.c and wgmma_registers.c.
#ifndef SIMULATOR_INSTRUCTIONS_WGMMA_H
#define SIMULATOR_INSTRUCTIONS_WGMMA_H

#include "../machine/binder.h"

struct block;

// Before a block starts; after its end.
void wgmma_start(struct block *block);
void wgmma_free(struct block *block);

// The n-th wgmma of the warp writes this register, or reads it as a fragment of A, until the warp has waited for it.
// number: the register's own, for others share its place.
void wgmma_writes(struct warp *warp, place where, int32_t number, uint32_t n);
void wgmma_reads(struct warp *warp, place where, int32_t number, uint32_t n);

// The wgmma that writes what is in this place, 0: none does.
uint32_t wgmma_in_flight(const struct warp *warp, place where);
// Those that write or read this register.
uint32_t wgmma_still_writes(const struct warp *warp, place where, int32_t number);
uint32_t wgmma_still_reads(const struct warp *warp, place where, int32_t number);

// The instruction does this to a register to which the n-th wgmma may still do that.
void wgmma_report_early(struct warp *warp, const struct bound *bound, uint32_t n, const char *does, const char *doing);

// Every instruction of a bound kernel that reads or writes a register of wgmma looks whether it is in flight.
// false: out of memory.
bool wgmma_watch(struct binder *binder);

#endif
