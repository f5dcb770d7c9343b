// Registers that hold what nobody has written. validity.c explains the rules.
#ifndef SIMULATOR_ANALYSES_VALIDITY_H
#define SIMULATOR_ANALYSES_VALIDITY_H

#include "../machine/warp.h"

struct access;

// Whether a load may put uninitialised bytes into registers and be reported only where they are used; any other
// instruction that reads some is a finding at once.
bool validity_defers(struct warp *warp, const struct bound *bound);

// The load has read bytes among which the analyses have met uninitialised ones (warp->met_uninitialised).
void validity_load(struct warp *warp, const struct bound *bound, const struct access *access);
// A store whose values may be invalid has been done.
void validity_store(struct warp *warp, const struct bound *bound, const struct access *access);

// A shuffle gives each lane of mask what the lane source[lane] has in a register, of which some lanes may be invalid.
void validity_exchange(struct warp *warp, place to, place from, const uint8_t source[LANES], uint32_t mask);

// An instruction is about to be executed by the lanes of mask, of which its guard has kept out those of active that are
// not in mask. Only needed while the warp holds something invalid.
void validity_step(struct warp *warp, const struct bound *bound, uint32_t active, uint32_t mask);

static inline bool validity_holds_any(const struct warp *warp) {
    return warp->invalid != 0;
}

// A new block: registers hold nothing of the last one.
void validity_start(struct warp *warp);
void validity_free(struct warp *warp);

#endif
