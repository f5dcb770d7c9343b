// A call whose launches are run in part (simulator_budget): what of it can be relied upon.
//
// A block that was not run has written nothing, and who reads what it would have written computes something else. So
// from the first launch on that was not run whole:
//   - a later launch's block that reads a word which those launches might have written, and have not, or not to its
//     end, is given up where it does so, without a word; what it has written counts for nothing. A word is taken for
//     one of those where they have written anything to its allocation.
//   - Where a later launch writes what an earlier one has written, the earlier one's words are half-way.
//   - What a block has written that was left before its end counts, unless blocks of its launch read their own output.
// And within a launch: blocks that read what others have written, or that have more than a few counters (a lock, a sum,
// a list for each row), may hang on those that were not run: nothing of such a call can be relied upon.
#ifndef SIMULATOR_ANALYSES_PARTLY_H
#define SIMULATOR_ANALYSES_PARTLY_H

#include "../machine/block.h"

struct access;
struct bound;

// A call begins, whose launches are run within so many warp instructions each, all of them within eight times as many.
void partly_begin_call(uint64_t warp_instructions);

// A launch begins; false: nothing of it is to be run.
bool partly_begin(struct run *run);

// It has ended, and race_global.c's keys are still those of its blocks.
void partly_end(const struct run *run);

// An access to global memory is about to happen, before race_global.c notes it. Where a block is to be given up,
// block->given_up is set.
void partly_access(struct warp *warp, const struct access *access);

// A block was left before its end, or was given up.
void partly_left(const struct block *block);

// What a program copies from: where that is half-way, nothing can be relied upon.
void partly_copied(const struct sim_allocation *allocation);

#endif
