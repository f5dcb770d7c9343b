// A block of threads and what its warps share, and the launch that it is part of.
#ifndef SIMULATOR_MACHINE_BLOCK_H
#define SIMULATOR_MACHINE_BLOCK_H

#include "warp.h"

#include <stdatomic.h>

#define MAX_WARPS 32
#define SHARED_SLACK 64 // bytes behind shared memory that vector loads of the simulator itself may touch

#define SWIZZLE_PIECE 128 // bytes of shared memory that one swizzle is remembered of

#define BARRIERS 16
#define MAX_HOST_THREADS 64

struct barrier {
    unsigned expected;      // threads, 0: all of the block that have not exited
    unsigned arrivals;      // threads, in whole warps
    uint32_t warps;         // a bit a warp: who has arrived
    int32_t first_pc;       // the instruction of the first to arrive
    unsigned true_lanes;    // bar.red: how many predicates were true,
    bool any_false;         // and whether one was not
    uint32_t time;          // of the last to arrive, by traffic/work.h
    uint32_t clock[CLOCKS]; // joined clocks of those who arrived, see analyses/race_shared.c
};

// A word of shared memory that threads signal each other by: an atomic or volatile store publishes to it, a load takes
// over from it. Each has a clock of its own, so that the flag of one pipeline stage orders nothing of another's.
struct race_flag {
    uint32_t word; // its place in shared memory / 4, plus 1; 0: none
    uint32_t clock[CLOCKS];
    uint32_t *far; // what it says of a cluster's blocks, see analyses/race_cluster.h
};

// Shared memory is watched in cells as large as the kernel's narrowest access. For each cell the shadow says who wrote
// it last, and two warps that read it since. A key is clock << 5 | warp; 0 is nobody.
struct race_shared {
    struct shadow_cells cells;
    uint32_t *pending; // [count] cp.async on its way: instruction << 6 | lane, plus 1; see async.c
    unsigned pending_cells;
    uint8_t *swizzle; // [shared memory / SWIZZLE_PIECE] of the tensor copy that filled it last, plus 1; 0: another copy
    size_t count;
    uint32_t first_key;     // keys below it are of blocks that ran here before
    struct race_flag *flag; // [flag_room], a table by flag.word; see race_atomic.c
    unsigned flags, flag_room;
    struct early_read { // of what no thread had written; where one does later, a barrier is what lacks
        size_t cell;
        int32_t line;
    } early[4];
    unsigned early_reads;
    struct far_shadow *far;   // what other blocks of the cluster have done here; NULL: nothing
    struct stale_word *stale; // NULL: none yet; see analyses/stale.c
    uint32_t issued[LANES];   // by agent behind the warps: the latest clock of what it was given to do
    bool on;
};

struct cluster;
struct far_shadow;
struct recording;
struct block_record;

// One launch: what all host threads that run its blocks share.
// The instructions by which other lanes stored that the one which signalled had not met.
struct apart {
    atomic_uint count;
    int32_t pc[APART_STORES];
};

struct run {
    const struct sim_launch *launch;
    const struct sim_kernel *kernel;
    const struct lanes *lanes;
    struct sim_options options;
    struct traffic_launch *traffic;
    struct recording *recording; // NULL: none
    uint64_t blocks;
    uint64_t units, to_run; // units: clusters, or blocks; to_run: how many of them, see execution/order.h
    uint64_t stands_for;    // how many blocks one that is run stands for
    uint64_t pairs_apart;   // how far apart the first blocks are that are run in pairs, 0: none are; execution/order.h
    // Blocks read what other blocks of the launch wrote; what they wrote themselves; write what earlier launches wrote.
    // Kept where the launch is run in part: analyses/partly.h.
    atomic_bool entangled, rereads, rewrites;
    uint32_t beside_low,
        beside_high;     // keys of the launches that run beside this one in another stream: low .. high - 1
    uint32_t oldest_key; // keys below it are of launches that came before
    uint32_t first_key;  // keys of this launch's blocks in the shadow of global memory: see analyses/race_global.c
    atomic_uint_fast64_t next_block;
    unsigned threads; // of the host
    // How often a block's turn has changed something for others; and for each host thread at which of these it has gone
    // round all its blocks in vain, and how often: progress << 16 | rounds. See execution/resident.c.
    atomic_uint_fast64_t progress, in_vain[MAX_HOST_THREADS];
    // How often it has changed memory, a block's end or start among it; and for each host thread at which of these it
    // has executed as many instructions in vain as the limit allows: advances << 1 | 1.
    atomic_uint_fast64_t advances, over[MAX_HOST_THREADS];
    atomic_uint_fast64_t lane_instructions, warp_instructions;
    uint64_t maps_before;               // changes of tensor maps before this launch, and the last one that was released
    atomic_uint_fast64_t maps_released; // see memory/tensor_map.c
    atomic_int status;                  // enum sim_status
    atomic_uint signal_clock;           // counts atomics and volatile accesses, see analyses/race_global.c
    _Atomic uint32_t
        *released;       // [blocks] signal_clock at a block's first store of that kind, 0: none; NULL: not needed
    struct apart *apart; // [blocks] what that store does not publish
    size_t shared_bytes; // of a block, with what is reserved in it
    size_t own_shared;   // without; what is reserved begins behind it, for kernels that ask where
};

// Where in shared memory what is reserved begins: a GPU has it before what is a program's own, which begins at 0 here.
static inline size_t run_reserved_shared(const struct run *run) {
    return (run->own_shared + 15) / 16 * 16;
}

struct block {
    struct run *run;
    uint64_t number;            // in the grid
    struct cluster *cluster;    // NULL: the kernel has none
    unsigned rank;              // in the cluster
    bool given_up;              // what it reads is not there, since a launch before it was not run whole
    bool ended;                 // its last thread has exited, the cluster's has not
    uint64_t warp_instructions; // that it has executed, up to its warps' last turns
    struct sim_dim index;
    unsigned warps, threads;
    unsigned
        agents; // whose clocks are kept: warps, then warpgroups' wgmma, then bulk stores; only warps where too many
    uint64_t events;  // how often something happened that splits AT_EVENT may wait for
    uint32_t held;    // warps, a bit each, that get a turn only where no other one gets on: see execution/order.h
    bool any_turn;    // which warp gets on, when a phase of an mbarrier has ended or one waits, is left to chance;
    bool any_landing; // and whether bulk copies have landed; else they land as late as they may
    uint64_t chance;  // what block_random gives follows from it
    struct warp warp[MAX_WARPS];
    uint8_t *shared; // [run->shared_bytes + SHARED_SLACK]
    uint8_t *local;  // [threads][local_stride]
    size_t local_stride;
    uint8_t *parameters; // [threads][parameter_stride], arguments and results of calls
    size_t parameter_stride;
    uint8_t *registers; // [warps][kernel->register_bytes]
    struct barrier barrier[BARRIERS];
    uint32_t *barrier_far[BARRIERS]; // what those who arrived knew of the cluster
    struct race_shared race;
    uint32_t key;                // run->first_key + number
    uint32_t told;               // how many atomic and volatile stores to global memory its warps have made,
    uint32_t told_clock[CLOCKS]; // and what these tell the block's other warps: see analyses/race_inside.c
    bool fenced;                 // it has executed a fence that other blocks see
    unsigned polls;              // in this turn: atomic and volatile accesses that were done before at the same place
    bool changed;                // in this turn: global memory, for others to see
    int32_t polled_at;           // the instruction of the last one of polls
    uint64_t state;              // of all registers, when its last turn ended
    struct async_queue *async;   // see memory/async.h
    struct mbarriers *mbarriers; // see memory/mbarrier.h
    struct bulk_stores *stores;  // see memory/bulk.h
    struct tensor_maps *maps;    // see memory/tensor_map.c
    struct wgmma_unit *wgmma;    // see instructions/wgmma.c
    uint32_t free_registers;     // of the block's pool, see setmaxnreg
    struct traffic_table *traffic;
    struct work_units *units;    // see traffic/work.h; NULL: its work is not counted
    struct block_record *record; // NULL: the launch is not recorded
    bool watched;                // one of these two is there: accesses are told to them
};

// Something happened that other warps may wait for.
static inline void block_event(struct block *block) {
    block->events++;
}

static inline uint32_t block_random(struct block *block) {
    block->chance ^= block->chance << 13;
    block->chance ^= block->chance >> 7;
    block->chance ^= block->chance << 17;
    return (uint32_t)(block->chance >> 32);
}

static inline bool run_stopped(const struct run *run) {
    return atomic_load_explicit(&run->status, memory_order_relaxed) != SIM_OK;
}

#endif
