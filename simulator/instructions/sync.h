// Instructions of several lanes whose masks name the participating lanes.
#ifndef SIMULATOR_INSTRUCTIONS_SYNC_H
#define SIMULATOR_INSTRUCTIONS_SYNC_H

#include "../machine/bound.h"

// Returns whether all lanes that the masks in register `members` name have reached this instruction. If not, the
// waiting lanes stay at the instruction, which has to return *step. On return *mask is the lanes that may continue; if
// lanes that arrived earlier have joined, the instruction is executed again with all of them.
bool sync_converge(struct warp *warp, const struct bound *bound, uint32_t *mask, operand_ref members, enum step *step);

enum step run_sync_warp(struct warp *warp, const struct bound *bound, uint32_t mask); // bar.warp.sync

// Lanes have exited: lanes that wait for them try again.
void sync_retry_waiting(struct warp *warp);

// Every lane of the warp has to participate; false: some wait, or a finding is reported, and *step is the return value
// of the instruction.
bool sync_whole_warp(struct warp *warp, const struct bound *bound, uint32_t mask, enum step *step);

#endif
