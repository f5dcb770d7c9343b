// A block of threads and what its warps share, and the launch that it is part of.
#ifndef SIMULATOR_EXEC_BLOCK_H
#define SIMULATOR_EXEC_BLOCK_H

#include "barrier.h"
#include "race_shared.h"
#include "warp.h"

#include <stdatomic.h>

#define MAX_WARPS 32
#define SHARED_SLACK 64 // bytes behind shared memory that vector loads of the simulator itself may touch

// One launch: what all host threads that run its blocks share.
struct run {
    const struct sim_launch *launch;
    const struct sim_kernel *kernel;
    const struct lanes *lanes;
    struct sim_options options;
    struct traffic_launch *traffic;
    uint64_t blocks;
    uint32_t first_key; // keys of this launch's blocks in the shadow of global memory: see race_global.c
    atomic_uint_fast64_t next_block;
    atomic_uint_fast64_t lane_instructions, warp_instructions;
    atomic_int status;        // enum sim_status
    atomic_uint signal_clock; // counts atomics and volatile accesses, see race_global.c
    _Atomic uint32_t
        *released; // [blocks] signal_clock at a block's first store of that kind, 0: none; NULL: not needed
    size_t shared_bytes;
};

struct block {
    struct run *run;
    uint64_t number;            // in the grid
    uint64_t warp_instructions; // that it has executed, up to its warps' last turns
    struct sim_dim index;
    unsigned warps, threads;
    struct warp warp[MAX_WARPS];
    uint8_t *shared; // [run->shared_bytes + SHARED_SLACK]
    uint8_t *local;  // [threads][local_stride]
    size_t local_stride;
    uint8_t *parameters; // [threads][parameter_stride], arguments and results of calls
    size_t parameter_stride;
    uint8_t *registers; // [warps][kernel->register_bytes]
    struct barrier barrier[BARRIERS];
    struct race_shared race;
    uint32_t key;      // run->first_key + number
    uint32_t acquired; // signal_clock at this block's last atomic or volatile load
    struct traffic_table *traffic;
};

struct block *block_create(struct run *run);
void block_free(struct block *block);

// Runs one block to its end. false: the launch stops.
bool block_run(struct block *block, uint64_t number);

static inline bool run_stopped(const struct run *run) {
    return atomic_load_explicit(&run->status, memory_order_relaxed) != SIM_OK;
}

#endif
