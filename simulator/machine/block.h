// A block of threads, the state that its warps share, and its launch.
#ifndef SIMULATOR_MACHINE_BLOCK_H
#define SIMULATOR_MACHINE_BLOCK_H

#include "warp.h"

#include <stdatomic.h>

#define MAX_WARPS 32
#define SHARED_SLACK 64 // bytes after shared memory that vector loads of the simulator itself may read

#define SWIZZLE_GRANULE 128 // bytes of shared memory whose swizzle mode is kept as one entry

#define BARRIERS 16
#define MAX_HOST_THREADS 64

struct barrier {
    unsigned expected;      // expected threads, 0: all threads of the block that have not exited
    unsigned arrivals;      // arrived threads, in whole warps
    uint32_t warps;         // one bit per warp that has arrived
    int32_t first_pc;       // the instruction of the first warp to arrive
    unsigned true_lanes;    // bar.red: the number of true predicates,
    bool any_false;         // and whether a predicate was false
    uint32_t time;          // of the last arrival, by traffic/work.h
    uint32_t clock[CLOCKS]; // joined clocks of the warps that arrived, see analyses/race_shared.c
};

// A word of shared memory by which threads synchronize: an atomic or volatile store releases to it, a load acquires
// from it. Each flag has a clock of its own, so that the flag of one pipeline stage does not order accesses to another.
struct race_flag {
    uint32_t word; // offset in shared memory / 4, plus 1; 0: none
    uint32_t clock[CLOCKS];
    uint32_t *remote; // released clocks of a cluster's blocks, see analyses/race_cluster.h
};

// Shared memory is checked in cells as large as the kernel's narrowest access. The shadow has for each cell the epoch
// of its last write, and of two reads by different warps since. An epoch is clock << 5 | warp, of a
// clock above 0; 0: none.
enum { EPOCH_OF_UNINITIALIZED = 1 }; // the value that was written last is uninitialized itself
struct race_shared {
    struct shadow_cells cells;
    uint32_t *pending; // [count] cp.async in flight: instruction << 6 | lane, plus 1; see async.c
    unsigned pending_cells;
    uint8_t *swizzle; // [shared memory / SWIZZLE_GRANULE] swizzle mode of the tensor copy that filled it last, plus 1;
                      // 0: another copy
    uint16_t *guard; // [shared memory / SWIZZLE_GRANULE] the mbarrier that the last copy to it signals, by its offset /
                     // 8, plus 1; 0: the block has issued no copy to it
    struct outside_tile *outside; // [MOST_OUTSIDE] wgmma that read outside of their tile; see analyses/race_tile.c
    size_t count;
    uint32_t first_epoch;   // smaller epochs belong to blocks that ran here before
    struct race_flag *flag; // [flag_room], a hash table by flag.word; see race_atomic.c
    unsigned flags, flag_room;
    struct early_read { // uninitialized reads; if a later write follows, a barrier is missing
        size_t cell;
        int32_t line;
    } early[4];
    unsigned early_reads;
    struct remote_shadow *remote; // accesses by other blocks of the cluster; NULL: none
    struct stale_word *stale;     // NULL: none yet; see analyses/stale.c
    uint32_t issued[LANES];       // by agent: the latest clock of its issued operations
    bool on;
};

struct cluster;
struct remote_shadow;
struct recording;
struct block_record;

// The instructions of stores by other lanes that had not synchronized with the signalling lane.
struct unordered_stores {
    atomic_uint count;
    int32_t pc[MOST_UNORDERED_STORES];
};

// One launch: the state that all host threads that run its blocks share.
struct run {
    const struct sim_launch *launch;
    const struct sim_kernel *kernel;
    const struct lanes *lanes;
    struct sim_options options;
    struct traffic_launch *traffic;
    struct recording *recording; // NULL: none
    uint64_t blocks;
    uint64_t units,
        units_to_run; // units: clusters, or blocks; units_to_run: the number to be run, see execution/order.h
    uint64_t represented_blocks; // blocks that one executed block represents
    uint64_t
        pair_distance; // distance of the blocks that are run in pairs first, 0: there are no pairs; execution/order.h
    // Whether blocks read results of other blocks of the launch, or their own; and whether they write what earlier
    // launches wrote. Kept if the launch is run partially: analyses/partial.h.
    atomic_bool dependent, rereads, rewrites;
    struct concurrent_work *concurrent; // [concurrent_count] work that is not ordered before this launch
    size_t concurrent_count;
    bool concurrent_copies;        // some of it are copies
    atomic_bool dependency_waited; // some thread has executed griddepcontrol.wait
    uint32_t oldest_key;           // smaller keys belong to launches that are ordered before this one
    uint32_t first_key; // keys of this launch's blocks in the shadow of global memory: see analyses/race_global.c
    atomic_uint_fast64_t next_block;
    unsigned threads; // host threads
    // progress: the number of turns that changed anything for other blocks. idle_rounds, by host thread: progress and
    // the number of rounds without any at that time: progress << 16 | rounds. See execution/resident.c.
    atomic_uint_fast64_t progress, idle_rounds[MAX_HOST_THREADS];
    // advances: the number of turns that changed memory, or started or ended a block. over, by host thread: advances at
    // which the thread has reached its instruction limit: advances << 1 | 1.
    atomic_uint_fast64_t advances, over[MAX_HOST_THREADS];
    atomic_uint_fast64_t lane_instructions, warp_instructions;
    uint64_t maps_before; // modifications of tensor maps before this launch, and the last one that was released
    atomic_uint_fast64_t maps_released; // see memory/tensor_map.c
    atomic_int status;                  // enum sim_status
    atomic_uint signal_clock;           // counts atomics and volatile accesses, see analyses/race_global.c
    _Atomic uint32_t *released; // [blocks] signal_clock at a block's first releasing store, 0: none; NULL: not needed
    struct unordered_stores *unordered;   // [blocks] the stores that it does not release
    struct pending_reduction *reductions; // bulk reductions in flight, see analyses/race_reduction.c
    size_t shared_bytes;                  // of a block, with its reserved part
    size_t own_shared;                    // without it; the reserved part follows, for kernels that query its address
};

// The offset of the reserved part of shared memory: a GPU places it before the program's shared memory, which starts at
// 0 here.
static inline size_t run_reserved_shared(const struct run *run) {
    return (run->own_shared + 15) / 16 * 16;
}

struct block {
    struct run *run;
    uint64_t number;            // linear index in the grid
    struct cluster *cluster;    // NULL: the kernel has none
    unsigned rank;              // rank in the cluster
    bool aborted;               // it needs results that an incomplete launch has not written
    bool ended;                 // its last thread has exited, but the cluster has not ended
    uint64_t warp_instructions; // executed up to the last turns of its warps
    struct sim_dim index;
    unsigned warps, threads;
    unsigned agents; // number of agents with a clock: warps, then wgmma of each warpgroup, then bulk copies; only warps
                     // if there are too many
    uint64_t events; // incremented when anything happens that splits AT_EVENT may wait for
    uint32_t
        deferred; // warps, one bit each, that get a turn only if no other warp makes progress: see execution/order.h
    bool
        random_turns; // the order of turns is random when a phase of an mbarrier has completed or a warp waits for one;
    bool random_landing;   // bulk copies land at random times; else as late as possible
    unsigned pauses;       // after so many more of its atomics on global memory, other blocks get a turn
    bool paused;           // lets the next turn pass
    uint64_t random_state; // state of block_random
    struct warp warp[MAX_WARPS];
    uint8_t *shared; // [run->shared_bytes + SHARED_SLACK]
    uint8_t *local;  // [threads][local_stride]
    size_t local_stride;
    uint8_t *parameters; // [threads][parameter_stride], arguments and results of calls
    size_t parameter_stride;
    uint8_t *registers; // [warps][kernel->register_bytes]
    struct barrier barrier[BARRIERS];
    uint32_t *barrier_remote[BARRIERS]; // clocks of the cluster that the arriving warps released
    struct race_shared race;
    uint32_t key;                   // run->first_key + number
    uint32_t releases;              // atomic and volatile stores to global memory by its warps,
    uint32_t release_clock[CLOCKS]; // and the clocks that they released to the block's other warps: see
                                    // analyses/race_inside.c
    bool fenced;                    // it has executed a fence at device scope
    unsigned polls;                 // in this turn: repeated atomic and volatile accesses to the same address
    bool changed;                   // in this turn: global memory was changed
    int32_t poll_pc;                // the instruction of the last poll
    struct async_queue *async;      // see memory/async.h
    struct mbarriers *mbarriers;    // see memory/mbarrier.h
    struct bulk_stores *stores;     // see memory/bulk.h
    struct tensor_maps *maps;       // see memory/tensor_map.c
    struct wgmma_unit *wgmma;       // see instructions/wgmma.c
    uint32_t free_registers;        // of the block's register budget, see setmaxnreg
    struct traffic_table *traffic;
    struct work_units *units;    // see traffic/work.h; NULL: its work is not counted
    struct block_record *record; // NULL: the launch is not recorded
    bool traced;                 // traffic or record is set: accesses are passed to them
};

// An event has happened that other warps may wait for.
static inline void block_event(struct block *block) {
    block->events++;
}

static inline uint32_t block_random(struct block *block) {
    block->random_state ^= block->random_state << 13;
    block->random_state ^= block->random_state >> 7;
    block->random_state ^= block->random_state << 17;
    return (uint32_t)(block->random_state >> 32);
}

static inline bool run_stopped(const struct run *run) {
    return atomic_load_explicit(&run->status, memory_order_relaxed) != SIM_OK;
}

#endif
