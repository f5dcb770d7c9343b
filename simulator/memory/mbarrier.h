// mbarriers. A phase completes when its expected arrivals have arrived and its expected transaction bytes have been
// written. The simulator keeps the state outside shared memory, by the mbarrier's address.
#ifndef SIMULATOR_MEMORY_MBARRIER_H
#define SIMULATOR_MEMORY_MBARRIER_H

#include "../machine/block.h"
#include "../machine/element_names.h"

struct bulk_copy;

struct mbarrier {
    struct block *owner;     // whose shared memory contains it
    uint32_t offset;         // in that memory
    uint32_t count, pending; // expected arrivals of a phase; pending ones of the current phase
    int64_t bytes;           // expected bytes of the current phase that have not arrived
    int64_t expected;        // expected bytes of the current phase
    uint32_t phase;          // the current one; the first is 0
    int32_t init_pc, expect_pc;
    uint32_t init_epoch;          // of its initialization
    bool again, invalid;          // initialized where there was an mbarrier before; mbarrier.inval has ended it
    bool fenced;                  // its initialization is visible to the async proxy,
    uint32_t fenced_phase;        // and to threads that have waited for this phase of barrier.cluster
    uint8_t delayed_tests;        // tests in this phase that failed only because copies landed late
    uint32_t last_time, end_time; // of the last arrival, and of the last phase's completion, by traffic/work.h
    uint32_t arriving[CLOCKS], completed[CLOCKS];
    uint32_t *remote_arriving, *remote_completed; // of a cluster's blocks, see analyses/race_cluster.h
    struct bulk_copy *first, *last;               // copies in flight that signal it
};

void mbarrier_start(struct block *block); // a block starts: it has no mbarriers
void mbarrier_free(struct block *block);

// The block exits: copies of other blocks that are still in flight to it are reported.
void mbarrier_end(struct block *block);

// false: the host has no memory left.
bool mbarrier_init(struct warp *warp, const struct bound *bound, uint32_t offset, uint32_t count);

// Returns the mbarrier for a lane's use; offset is the result of address_in_shared(). NULL if there is none, or its
// initialization does not happen before the use; this is reported, and *step is the return value of the instruction.
struct mbarrier *mbarrier_for_access(struct warp *warp, const struct bound *bound, uint64_t offset, int lane,
                                     enum step *step);

struct mbarrier *mbarrier_at(const struct block *block, uint64_t offset); // or NULL

// Its name for messages: see element_name_mbarrier().
void mbarrier_name(const struct block *block, uint64_t offset, char text[ELEMENT_NAME_TEXT]);

// Count arrivals and expected or written bytes, which may complete the phase. mask: the lanes that arrive by the same
// instruction. false: more arrivals than expected; reported.
bool mbarrier_arrive(struct warp *warp, const struct bound *bound, struct mbarrier *barrier, uint32_t count, int lane,
                     uint32_t mask);
void mbarrier_expect_tx(struct warp *warp, const struct bound *bound, struct mbarrier *barrier, uint32_t bytes);
void mbarrier_complete_tx(struct warp *warp, struct mbarrier *barrier, uint32_t bytes);

// A warp waits: lands the copies that the mbarrier waits for, if they complete the phase.
void mbarrier_land_copies(struct warp *warp, struct mbarrier *barrier);

// Does the same before any warp waits, at random.
void mbarrier_land_copies_early(struct warp *warp, struct mbarrier *barrier);

// A warp tests a phase that would complete if the copies landed now: returns whether, at random, they have not landed
// yet. This happens a limited number of times.
bool mbarrier_delays_completion(struct block *block, struct mbarrier *barrier);

// fence.mbarrier_init, or any proxy fence.
void mbarrier_fence(struct warp *warp);

// Describes the mbarrier that a split waits on, for the listing of a deadlock. false: the split does not wait on an
// mbarrier.
bool mbarrier_describe(const struct warp *warp, const struct split *split, char *text, size_t size);
// The mbarrier that the split waits on, or NULL.
struct mbarrier *mbarrier_of_split(const struct warp *warp, const struct split *split);

#endif
