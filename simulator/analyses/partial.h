// Decides which results are reliable in a call whose launches are run partially (simulator_set_budget).
//
// A block that was not run has written nothing, and a block that reads the missing values computes wrong results. From
// the first incomplete launch on:
//   - A block of a later launch that reads a word which those launches may have left unwritten or incomplete is aborted
//     silently at the read, and its own results are discarded. Every word of an allocation that those launches have
//     written to counts as such a word.
//   - If a later launch overwrites results of an earlier one, the earlier launch's words are unreliable.
//   - The results of a block that was abandoned before its end are kept, unless blocks of its launch read their own
//     results.
// Within a launch, blocks that read other blocks' results, or that use more than a few counters (a lock, a sum, a list
// per row), may depend on blocks that were not run: then nothing in the call is reliable.
#ifndef SIMULATOR_ANALYSES_PARTIAL_H
#define SIMULATOR_ANALYSES_PARTIAL_H

#include "../machine/block.h"

struct access;
struct bound;

// Begins a call. Each of its launches may execute this many warp instructions, all of them together eight times as
// many.
void partial_begin_call(uint64_t warp_instructions);

// Begins a launch; false: the launch is to be skipped.
bool partial_begin_launch(struct run *run);

// Ends the launch; race_global.c's keys must still be those of its blocks.
void partial_end_launch(const struct run *run);

// Called before an access to global memory and before race_global.c notes the access. Sets block->aborted if the block
// has to be aborted.
void partial_check_access(struct warp *warp, const struct access *access);

// Notes that a block was abandoned before its end, or aborted.
void partial_abandon_block(const struct block *block);

// Called when the program copies from the allocation: if its words are unreliable, so is the whole call.
void partial_note_copy(const struct sim_allocation *allocation);

#endif
