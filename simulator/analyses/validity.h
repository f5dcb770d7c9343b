// Registers that hold uninitialized values. validity.c explains the rules.
#ifndef SIMULATOR_ANALYSES_VALIDITY_H
#define SIMULATOR_ANALYSES_VALIDITY_H

#include "../machine/warp.h"

struct access;

// Returns whether a load may put uninitialized bytes into registers, to be reported only if they are used; any other
// instruction that reads such bytes is reported at once.
bool validity_defers(struct warp *warp, const struct bound *bound);

// The load has read bytes of which some are uninitialized (warp->read_uninitialized).
void validity_load(struct warp *warp, const struct bound *bound, const struct access *access);
// A store whose values may be invalid has been executed.
void validity_store(struct warp *warp, const struct bound *bound, const struct access *access);

// A shuffle copies lane source[lane]'s register to each lane of mask; the register may be invalid in some lanes.
void validity_exchange(struct warp *warp, operand_ref to, operand_ref from, const uint8_t source[LANES], uint32_t mask);

// Called before the lanes of mask execute an instruction; its guard excludes the other lanes of `active`. Only needed
// while the warp holds invalid values.
void validity_step(struct warp *warp, const struct bound *bound, uint32_t active, uint32_t mask);

static inline bool validity_holds_any(const struct warp *warp) {
    return warp->invalid != 0;
}

// A block starts: its registers hold nothing of the previous block.
void validity_start(struct warp *warp);
void validity_free(struct warp *warp);

#endif
