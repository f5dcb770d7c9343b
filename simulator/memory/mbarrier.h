// Barriers in shared memory (mbarrier). A phase is complete when as many arrivals have come as the barrier was set up
// for and as many bytes as were announced. The simulator keeps the state beside shared memory, by the barrier's
// address.
#ifndef SIMULATOR_MEMORY_MBARRIER_H
#define SIMULATOR_MEMORY_MBARRIER_H

#include "../machine/block.h"

struct bulk_copy;

struct mbarrier {
    struct block *owner;     // in whose shared memory it is
    uint32_t offset;         // there
    uint32_t count, pending; // arrivals of a phase; those that the current one lacks
    int64_t bytes;           // announced and not arrived, in the current phase
    int64_t expected;        // announced in it
    uint32_t phase;          // the current one, the first is 0
    int32_t init_pc, expect_pc;
    uint32_t init_key;     // who set it up, and when, in the race clocks
    bool fenced;           // its set-up is visible to the asynchronous proxy,
    uint32_t fenced_phase; // and to who has waited for this phase of barrier.cluster
    uint8_t unready;       // how often it was looked at in this phase, and said that its copies are still on their way
    uint32_t last_time, end_time; // of the last to come, and of the last phase's end, by traffic/work.h
    uint32_t arriving[CLOCKS], completed[CLOCKS];
    uint32_t *far_arriving, *far_completed; // of a cluster's blocks, see analyses/race_cluster.h
    struct bulk_copy *first, *last;         // that signal it and have not landed
};

void mbarrier_start(struct block *block); // a block begins: there is none
void mbarrier_free(struct block *block);

// The block has come to its end: copies of other blocks that are still on their way to it are reported.
void mbarrier_end(struct block *block);

// false: the host has no memory left.
bool mbarrier_init(struct warp *warp, const struct bound *bound, uint32_t offset, uint32_t count);
void mbarrier_remove(struct block *block, uint32_t offset);

// The barrier that a lane uses: offset as address_in_shared() gives it. NULL where there is none, or the lane cannot
// know that it has been set up; it is reported, and *step is what the instruction has to return.
struct mbarrier *mbarrier_use(struct warp *warp, const struct bound *bound, uint64_t offset, int lane, enum step *step);

struct mbarrier *mbarrier_at(const struct block *block, uint64_t offset); // or NULL

// Arrivals, and bytes announced; the phase that is complete by them ends. mask: the lanes that arrive by the same
// instruction. false: more than the phase has; reported.
bool mbarrier_arrive(struct warp *warp, const struct bound *bound, struct mbarrier *barrier, uint32_t count, int lane,
                     uint32_t mask);
void mbarrier_expect(struct warp *warp, const struct bound *bound, struct mbarrier *barrier, uint32_t bytes);
void mbarrier_arrived_bytes(struct warp *warp, struct mbarrier *barrier, uint32_t bytes);

// Somebody waits: copies that the barrier waits for land, if the phase ends by them.
void mbarrier_settle(struct warp *warp, struct mbarrier *barrier);

// The same before anybody waits, if chance has it so.
void mbarrier_settle_early(struct warp *warp, struct mbarrier *barrier);

// Somebody looks whether the phase is complete, and it would be if the copies landed now: whether, by chance, they have
// not landed yet. Not for ever.
bool mbarrier_is_late(struct block *block, struct mbarrier *barrier);

// fence.mbarrier_init, or any proxy fence.
void mbarrier_fence(struct warp *warp);

// Who waits for what, for the listing of a deadlock: a split that stands at a wait. false: it does not.
bool mbarrier_describe(const struct warp *warp, const struct split *split, char *text, size_t size);
// The barrier that it waits for, or NULL.
struct mbarrier *mbarrier_of_split(const struct warp *warp, const struct split *split);

#endif
