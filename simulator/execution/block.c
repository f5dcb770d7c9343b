// Runs one block: its warps in turn, each until it has to wait; deferred warps run if no other warp makes progress.
//
// A block that waits for another block executes a loop that reads the same addresses in global memory. After a number
// of such polls its turn ends.
#include "block.h"
#include "../analyses/race_cluster.h"
#include "../analyses/race_shared.h"
#include "../analyses/release.h"
#include "../analyses/validity.h"
#include "../instructions/barrier.h"
#include "../instructions/wgmma.h"
#include "interpret.h"
#include "order.h"

#include "../memory/async.h"
#include "../memory/bulk.h"
#include "../memory/mbarrier.h"
#include "../memory/tensor_map.h"
#include "../recording/recording.h"
#include "../traffic/traffic.h"
#include "../traffic/work.h"
#include "deadlock.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ROUNDS_A_TURN 16 // passes over the warps, also of a block whose cluster waits

static void *map(size_t size) {
    void *memory =
        mmap(NULL, size ? size : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static size_t local_levels(const struct ptx_kernel *ptx) {
    return ptx->recursive ? MAX_CALL_DEPTH : 1;
}

struct block *block_create(struct run *run) {
    const struct sim_launch *launch = run->launch;
    const struct ptx_kernel *ptx = run->kernel->ptx;
    struct block *block = aligned_alloc(64, (sizeof *block + 63) / 64 * 64);
    if (!block)
        return NULL;
    memset(block, 0, sizeof *block);
    block->run = run;
    block->threads = launch->block.x * launch->block.y * launch->block.z;
    block->warps = (block->threads + LANES - 1) / LANES;
    // The agents of the warpgroups' wgmma, bulk loads and bulk stores: see analyses/race_proxy.h.
    block->agents = block->warps + (block->warps + 3) / 4 + 2;
    if (block->agents > LANES)
        block->agents = block->warps;
    block->local_stride = (ptx->local_bytes * local_levels(ptx) + 15) / 16 * 16;
    block->parameter_stride = (ptx->call_param_bytes * local_levels(ptx) + 64 + 15) / 16 * 16;
    block->shared = map(run->shared_bytes + SHARED_SLACK);
    block->local = map(block->local_stride * block->warps * LANES);
    block->parameters = map(block->parameter_stride * block->warps * LANES);
    block->registers = map(run->kernel->register_bytes * block->warps);
    if (!block->shared || !block->local || !block->parameters || !block->registers || !race_shared_create(block)) {
        block_free(block);
        return NULL;
    }
    for (unsigned w = 0; w < block->warps; w++) {
        block->warp[w] = (struct warp){
            .base = {block->registers + w * run->kernel->register_bytes, run->kernel->constants},
            .code = run->recording ? recording_code(run->recording) : run->kernel->code,
            .lanes = run->lanes,
            .block = block,
            .run = run,
            .index = w,
        };
    }
    if (!recording_make_block(run->recording, block)) {
        block_free(block);
        return NULL;
    }
    return block;
}

void block_free(struct block *block) {
    const struct run *run = block->run;
    for (unsigned w = 0; w < block->warps; w++) {
        struct warp *warp = &block->warp[w];
        for (int i = 0; warp->saved_registers && i < MAX_CALL_DEPTH; i++)
            free(warp->saved_registers[i]);
        free(warp->saved_registers);
        free(warp->frame);
        validity_free(warp);
        if (warp->work)
            work_clock_free(warp->work);
        free(warp->work);
    }
    work_units_free(block->units);
    async_free(block);
    mbarrier_free(block);
    bulk_discard(block);
    tensor_maps_free(block);
    wgmma_free(block);
    race_shared_free(block);
    race_cluster_free(block);
    recording_free_block(block);
    if (block->shared)
        munmap(block->shared, run->shared_bytes + SHARED_SLACK);
    if (block->local)
        munmap(block->local, block->local_stride ? block->local_stride * block->warps * LANES : 1);
    if (block->parameters)
        munmap(block->parameters, block->parameter_stride * block->warps * LANES);
    if (block->registers)
        munmap(block->registers, run->kernel->register_bytes * block->warps);
    free(block);
}

// The value of a special register in one thread.
static uint32_t special_value(const struct block *block, enum ptx_special special, unsigned warp, int lane) {
    const struct sim_launch *launch = block->run->launch;
    switch (special) {
    case PTX_TID_X:
        return warp_thread(&block->warp[warp], warp, lane).x;
    case PTX_TID_Y:
        return warp_thread(&block->warp[warp], warp, lane).y;
    case PTX_TID_Z:
        return warp_thread(&block->warp[warp], warp, lane).z;
    case PTX_NTID_X:
        return launch->block.x;
    case PTX_NTID_Y:
        return launch->block.y;
    case PTX_NTID_Z:
        return launch->block.z;
    case PTX_CTAID_X:
        return block->index.x;
    case PTX_CTAID_Y:
        return block->index.y;
    case PTX_CTAID_Z:
        return block->index.z;
    case PTX_NCTAID_X:
        return launch->grid.x;
    case PTX_NCTAID_Y:
        return launch->grid.y;
    case PTX_NCTAID_Z:
        return launch->grid.z;
    case PTX_LANEID:
        return (uint32_t)lane;
    case PTX_WARPID:
        return warp;
    case PTX_NWARPID:
        return block->warps;
    case PTX_SMID:
        return (uint32_t)(block->number % (uint64_t)launch->device->sms);
    case PTX_NSMID:
        return (uint32_t)launch->device->sms;
    case PTX_LANEMASK_EQ:
        return 1u << lane;
    case PTX_LANEMASK_LE:
        return ALL_LANES >> (31 - lane);
    case PTX_LANEMASK_LT:
        return (1u << lane) - 1;
    case PTX_LANEMASK_GE:
        return ALL_LANES << lane;
    case PTX_LANEMASK_GT:
        return ALL_LANES << lane << 1;
    case PTX_DYNAMIC_SMEM_SIZE:
        return (uint32_t)launch->dynamic_shared_bytes;
    case PTX_TOTAL_SMEM_SIZE:
        return (uint32_t)block->run->own_shared;
    case PTX_AGGR_SMEM_SIZE:
        return (uint32_t)(block->run->own_shared + launch->device->reserved_shared);
    case PTX_RESERVED_SMEM:
        return (uint32_t)run_reserved_shared(block->run);
    case PTX_CLUSTERID_X:
        return block->index.x / launch->cluster.x;
    case PTX_CLUSTERID_Y:
        return block->index.y / launch->cluster.y;
    case PTX_CLUSTERID_Z:
        return block->index.z / launch->cluster.z;
    case PTX_NCLUSTERID_X:
        return launch->grid.x / launch->cluster.x;
    case PTX_NCLUSTERID_Y:
        return launch->grid.y / launch->cluster.y;
    case PTX_NCLUSTERID_Z:
        return launch->grid.z / launch->cluster.z;
    case PTX_CLUSTER_CTAID_X:
        return block->index.x % launch->cluster.x;
    case PTX_CLUSTER_CTAID_Y:
        return block->index.y % launch->cluster.y;
    case PTX_CLUSTER_CTAID_Z:
        return block->index.z % launch->cluster.z;
    case PTX_CLUSTER_NCTAID_X:
        return launch->cluster.x;
    case PTX_CLUSTER_NCTAID_Y:
        return launch->cluster.y;
    case PTX_CLUSTER_NCTAID_Z:
        return launch->cluster.z;
    case PTX_CLUSTER_CTARANK:
        return block->rank;
    case PTX_CLUSTER_NCTARANK:
        return (uint32_t)sim_dim_size(launch->cluster);
    case PTX_IS_EXPLICIT_CLUSTER: // a predicate with one bit per lane
        return launch->explicit_cluster ? ALL_LANES : 0;
    case PTX_ENVREG1:
        return (uint32_t)(launch->grid_workspace >> 32);
    case PTX_ENVREG2:
        return (uint32_t)launch->grid_workspace;
    default:
        return 0;
    }
}

// Fills in the special registers that the kernel reads: all of them once, and before each block those that depend on
// the block.
static void fill_specials(struct block *block, struct warp *warp, bool all) {
    const struct sim_kernel *kernel = block->run->kernel;
    for (int s = 0; s < PTX_WARP_SIZE; s++) {
        bool of_block = (s >= PTX_CTAID_X && s <= PTX_CTAID_Z) || s == PTX_SMID ||
                        (s >= PTX_CLUSTERID_X && s <= PTX_CLUSTER_CTARANK);
        if (kernel->special[s] < 0 || !(all || of_block))
            continue;
        uint32_t *cells = (uint32_t *)(void *)(warp->base[0] + kernel->special[s]);
        for (int lane = 0; lane < LANES; lane++)
            cells[lane] = special_value(block, (enum ptx_special)s, warp->index, lane);
    }
}

static void start_warp(struct block *block, struct warp *warp) {
    const struct sim_kernel *kernel = block->run->kernel;
    unsigned lanes = block->threads - warp->index * LANES;
    warp->live = lanes >= LANES ? ALL_LANES : (1u << lanes) - 1;
    warp->splits = 1;
    warp->split[0] = (struct split){.mask = warp->live, .pc = kernel->ptx->function[0].entry};
    warp->carry = 0;
    memset(warp->fenced, 0, sizeof warp->fenced);
    memset(warp->pending_acquire, 0, sizeof warp->pending_acquire);
    memset(&warp->clock[CLOCK_ACQUIRED], 0, (CLOCKS - CLOCK_ACQUIRED) * sizeof *warp->clock);
    warp->has_pending_acquire = false;
    warp->counter_clock = 0;
    validity_start(warp);
    if (warp->work)
        work_clock_start(warp->work);
    release_start(warp);
    warp->registers = kernel->registers;
    memset(warp->poll, -1, sizeof warp->poll);
    memset(warp->parameter_base, 0, sizeof warp->parameter_base);
    fill_specials(block, warp, !warp->has_specials);
    warp->has_specials = true;
}

void block_start(struct block *block, uint64_t number) {
    struct sim_dim grid = block->run->launch->grid;
    block->number = number;
    block->warp_instructions = 0;
    block->index = (struct sim_dim){(unsigned)(number % grid.x), (unsigned)(number / grid.x % grid.y),
                                    (unsigned)(number / grid.x / grid.y)};
    block->key = block->run->first_key + (uint32_t)number;
    block->ended = block->aborted = false;
    block->fenced = false;
    if (block->run->shared_bytes > block->run->own_shared) {
        size_t reserved = run_reserved_shared(block->run);
        memset(block->shared + reserved, 0, block->run->shared_bytes - reserved);
    }
    barrier_reset(block);
    race_shared_start(block);
    async_start(block);
    mbarrier_start(block);
    tensor_maps_start(block);
    wgmma_start(block);
    block->free_registers = 0;
    order_start(block);
    for (unsigned w = 0; w < block->warps; w++)
        start_warp(block, &block->warp[w]);
    recording_start_block(block);
    traffic_block_start(block->traffic);
    work_units_start(block->units);
}

// Splits that wait try again if an event has happened since their last attempt.
static void wake(struct warp *warp) {
    for (int i = 0; i < warp->splits; i++)
        if (warp->split[i].state == SPLIT_AT_EVENT && warp->split[i].event != warp->block->events)
            warp->split[i].state = SPLIT_READY;
}

// The result of a pass over the warps.
struct round {
    bool ran; // some warp has executed an instruction,
    bool on;  // and made progress, to its end or to a wait; others run a loop
};

// false: the launch stops.
static bool run_warp(struct block *block, struct warp *warp, struct round *round) {
    if (order_budget_spent(block->run))
        return false;
    wake(warp);
    if (!warp_can_run(warp))
        return true;
    round->ran = warp->ran = true;
    if (!warp_run(warp))
        return false;
    round->on |= !warp_can_run(warp);
    return true;
}

// The next warp to run: the number-th, or a random one that can run.
static struct warp *next_warp(struct block *block, uint32_t which, unsigned number) {
    if (!block->random_turns)
        return &block->warp[order_warp(block, number)];
    unsigned first = block_random(block) % block->warps;
    for (unsigned i = 0; i < block->warps; i++) {
        struct warp *warp = &block->warp[(first + i) % block->warps];
        wake(warp);
        if (which >> warp->index & 1 && warp_can_run(warp))
            return warp;
    }
    return &block->warp[first];
}

// Runs as many turns as the block has warps, for the warps in `which`. false: the launch stops.
static bool run_warps(struct block *block, uint32_t which, struct round *round) {
    for (unsigned w = 0; w < block->warps; w++) {
        struct warp *warp = next_warp(block, which, w);
        if (which >> warp->index & 1 && !run_warp(block, warp, round))
            return false;
    }
    return true;
}

static bool is_waiting(const struct block *block) {
    for (unsigned w = 0; w < block->warps; w++)
        if (block->warp[w].live)
            return true;
    return false;
}

// The time at which the last warp has finished.
static uint32_t last_time(const struct block *block) {
    uint32_t last = 0;
    for (unsigned w = 0; w < block->warps; w++)
        if (block->warp[w].work && work_time(block->warp[w].work) > last)
            last = work_time(block->warp[w].work);
    return last;
}

enum turn block_turn(struct block *block) {
    unsigned rounds = 0;
    block->polls = 0;
    block->changed = block->paused;
    if (block->paused) {
        block->paused = false;
        return TURN_WAITING;
    }
    do {
        struct round round = {false, false};
        if (!run_warps(block, ~block->deferred, &round) || (!round.on && !run_warps(block, block->deferred, &round)))
            return block->aborted ? TURN_DONE : TURN_STOPPED;
        if (!is_waiting(block)) {
            traffic_block_end(block->traffic, last_time(block));
            bulk_end(block);
            race_cluster_end(block);
            race_shared_end(block);
            return TURN_DONE;
        }
        if (!round.ran && !barrier_release_divergent(block)) {
            if (block->cluster)
                return TURN_BLOCKED;
            deadlock_report(block);
            return TURN_STOPPED;
        }
    } while (block->polls < POLLS_A_TURN && (!block->cluster || ++rounds < ROUNDS_A_TURN));
    return TURN_WAITING;
}
