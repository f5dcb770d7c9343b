// Instructions of several lanes together, which name in a mask the lanes that take part.
#ifndef SIMULATOR_INSTRUCTIONS_SYNC_H
#define SIMULATOR_INSTRUCTIONS_SYNC_H

#include "../machine/bound.h"

// Whether all lanes that the masks in register `members` name have come to this instruction. If not, lanes that have to
// wait hold there, and the instruction is to return *step. On return *mask is the lanes that may go ahead; where lanes
// that came earlier joined, the instruction is executed again with all of them.
bool sync_gather(struct warp *warp, const struct bound *bound, uint32_t *mask, place members, enum step *step);

enum step run_sync_warp(struct warp *warp, const struct bound *bound, uint32_t mask); // bar.warp.sync

// Lanes have exited: those that hold for them look again.
void sync_retry(struct warp *warp);

// Every lane of the warp has to take part; false: some hold, or the finding is reported, and *step says how it goes on.
bool sync_whole_warp(struct warp *warp, const struct bound *bound, uint32_t mask, enum step *step);

#endif
