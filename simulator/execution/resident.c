// Schedules the blocks that are resident together. If a kernel has clusters, "block" means cluster here.
//
// A block runs to its end if it can, and only then does the next one start: most kernels never have more than one block
// per host thread in memory. A block that waits for another one (block_turn() detects this) stays resident, and others
// get turns. If all have had a turn and none has ended, the number of resident blocks is doubled, up to the number that
// fits on the GPU; a barrier among resident blocks therefore completes.
//
// A round of turns is idle if no block ended, started, changed global memory or has other register values than a turn
// ago: each block repeats the same loop iteration with the same result. If all host threads have had several idle
// rounds, no block will ever continue: if blocks have not started because no more fit, these are the awaited ones. If
// all have started, many more idle rounds prove a deadlock. If a loop counts its iterations, the instruction limit ends
// the launch: each host thread must have reached it since a block last ended, started or changed memory, because one
// thread may be late.
#include "resident.h"

#include "../analyses/partial.h"
#include "../memory/bulk.h"
#include "../traffic/traffic.h"
#include "cluster.h"
#include "order.h"
#include "spin.h"

#include <stdlib.h>
#include <string.h>

#define MAX_IDLE_ROUNDS 8
#define ENDLESS_ROUNDS 4096 // of idle rounds: even random orders of warps do not end the loops
#define COUNTING_FACTOR                                                                                                \
    10 // this factor more instructions are allowed for a loop that changes registers, but not memory
#define ROUND_BITS 16
#define ROUND_MASK ((1u << ROUND_BITS) - 1)
#define NO_BLOCKS UINT64_MAX // in run->idle_rounds and run->over: the host thread keeps no other thread waiting

struct residents {
    struct run *run;
    unsigned thread, room; // room: the most blocks that this host thread may have resident
    unsigned count, made;
    struct block **block; // [made], the first `count` of them are resident
    struct traffic_table *traffic;
    uint64_t advances;          // run->advances when idle_instructions was last 0
    uint64_t idle_instructions; // of blocks in idle rounds
};

static void fail(struct run *run) {
    int none = SIM_OK;
    atomic_compare_exchange_strong(&run->status, &none, SIM_OUT_OF_HOST_MEMORY);
}

// Distributes the resident blocks of the GPU among the host's threads.
static unsigned max_blocks_of(const struct run *run, unsigned thread) {
    uint64_t all = run->launch->resident_blocks ? run->launch->resident_blocks / unit_blocks(run) : run->units_to_run;
    all = all < run->units_to_run ? all : run->units_to_run;
    uint64_t room = all / run->threads + (thread < all % run->threads);
    return room < 1 ? 1 : room > UINT32_MAX / 2 ? UINT32_MAX / 2 : (unsigned)room;
}

static bool make_block(struct residents *r) {
    struct block **grown = realloc(r->block, (r->made + 1) * sizeof(struct block *));
    if (!grown)
        return false;
    r->block = grown;
    r->block[r->made] = unit_create(r->run);
    if (!r->block[r->made])
        return false;
    for (unsigned i = 0; i < unit_blocks(r->run); i++) {
        struct block *block = unit_block(r->block[r->made], i);
        block->traffic = r->traffic;
        block->traced = block->traffic || block->record;
        block->units = traffic_units_make(r->traffic);
        for (unsigned w = 0; w < block->warps; w++)
            block->warp[w].work = traffic_clock_make(r->traffic, block->units, w);
    }
    r->made++;
    return true;
}

// Starts another block. false: there are no more blocks to start, or the launch stops.
static bool start_another(struct residents *r) {
    struct run *run = r->run;
    uint64_t number = r->count < r->room ? atomic_load(&run->next_block) : run->units_to_run;
    do
        if (number >= run->units_to_run || order_budget_spent(run))
            return false;
    while (!atomic_compare_exchange_weak(&run->next_block, &number, number + 1));
    if (r->count == r->made && !make_block(r)) {
        fail(run);
        return false;
    }
    unit_start(r->block[r->count++], order_block(run, number));
    atomic_fetch_add(&run->progress, 1);
    atomic_fetch_add(&run->advances, 1);
    return true;
}

// Returns whether the registers have changed since the end of the block's last turn. Those of warps that have not run
// since cannot have changed.
static bool registers_of_changed(struct block *block) {
    size_t words = block->run->kernel->register_bytes / 8;
    bool changed = false;
    for (unsigned w = 0; w < block->warps; w++) {
        struct warp *warp = &block->warp[w];
        if (!warp->ran)
            continue;
        const uint64_t *word = (const uint64_t *)(const void *)block->registers + w * words;
        uint64_t state = 14695981039346656037u;
        for (size_t i = 0; i < words; i++)
            state = (state ^ word[i]) * 1099511628211u;
        changed |= state != warp->state;
        warp->state = state;
        warp->ran = false;
    }
    return changed;
}

static bool registers_changed(struct block *first) {
    bool changed = false;
    for (unsigned i = 0; i < unit_blocks(first->run); i++)
        changed |= registers_of_changed(unit_block(first, i));
    return changed;
}

static uint64_t instructions_of(struct block *first) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < unit_blocks(first->run); i++)
        sum += unit_block(first, i)->warp_instructions;
    return sum;
}

// Abandons a block before its end: its copies in flight land.
static void abandon(struct block *first) {
    for (unsigned b = 0; b < unit_blocks(first->run); b++) {
        bulk_land_all(unit_block(first, b));
        partial_abandon_block(unit_block(first, b));
    }
}

static void retire(struct residents *r, unsigned i) {
    struct block *done = r->block[i];
    if (done->aborted)
        abandon(done);
    r->count--;
    memmove(&r->block[i], &r->block[i + 1], (r->count - i) * sizeof *r->block); // the others keep their order
    r->block[r->count] = done;
}

// One turn for each resident block. *vain: the round was idle. false: the launch stops.
static bool run_round(struct residents *r, bool *idle) {
    *idle = true;
    for (unsigned i = 0; i < r->count;) {
        struct block *block = r->block[i];
        uint64_t before = instructions_of(block);
        enum turn turn = unit_turn(block);
        if (turn == TURN_STOPPED || run_stopped(r->run) || (turn != TURN_DONE && order_budget_spent(r->run)))
            return false;
        bool seen = turn == TURN_DONE || block->changed;
        if (seen || registers_changed(block)) {
            atomic_fetch_add(&r->run->progress, 1);
            *idle = false;
        }
        if (seen)
            atomic_fetch_add(&r->run->advances, 1);
        r->idle_instructions += instructions_of(block) - before;
        if (turn == TURN_DONE)
            retire(r, i);
        else
            i++;
    }
    return true;
}

static bool all_idle(const struct run *run, uint64_t progress, uint64_t rounds) {
    for (unsigned i = 0; i < run->threads; i++) {
        uint64_t noted = atomic_load(&run->idle_rounds[i]);
        bool idle_rounds = noted >> ROUND_BITS == progress && (noted & ROUND_MASK) >= rounds;
        if (!idle_rounds && noted != NO_BLOCKS)
            return false;
    }
    return true;
}

static bool all_at_limit(const struct run *run, uint64_t advances) {
    for (unsigned i = 0; i < run->threads; i++) {
        uint64_t noted = atomic_load(&run->over[i]);
        if (noted != (advances << 1 | 1) && noted != NO_BLOCKS)
            return false;
    }
    return true;
}

static struct warp *first_live(struct block *first) {
    struct warp *warp = unit_first_running(first)->warp;
    while (!warp->live)
        warp++;
    return warp;
}

// A warp that has observed a value in memory, if there is one.
static struct warp *first_observer(struct block *first) {
    for (unsigned i = 0; i < unit_blocks(first->run); i++) {
        struct block *block = unit_block(first, i);
        for (unsigned w = 0; w < block->warps; w++)
            if (block->warp[w].live && block->warp[w].last_observed.bytes)
                return &block->warp[w];
    }
    return first_live(first);
}

static void report_not_resident(const struct residents *r) {
    const struct run *run = r->run;
    struct warp *warp = first_live(r->block[0]);
    warp_report(
        warp, SIM_FINDING_NOT_RESIDENT, &warp->code[warp->block->poll_pc], NULL, first_lane(warp->live),
        "{here} waits in a loop for other blocks; only %llu of the grid's %llu blocks fit on the GPU at a time, all "
        "resident blocks wait, and the other blocks cannot start",
        (unsigned long long)run->launch->resident_blocks, (unsigned long long)run->blocks);
    warp_fatal(warp, SIM_LAUNCH_TIMEOUT);
}

static void report_limit(const struct residents *r) {
    struct warp *warp = first_observer(r->block[0]);
    char last_observed[SPIN_TEXT];
    spin_describe(warp, last_observed);
    warp_report(
        warp, SIM_FINDING_INSTRUCTION_LIMIT, &warp->code[warp->block->poll_pc], NULL, first_lane(warp->live),
        "{here} waits in a loop for other blocks%s; %u blocks have executed %llu warp instructions without changing "
        "global memory. If the loop is finite, rerun with SIMULATOR_INSTRUCTION_LIMIT=%llu",
        last_observed, r->count * unit_blocks(r->run), (unsigned long long)r->idle_instructions,
        (unsigned long long)r->run->options.instruction_limit * 10);
    warp_fatal(warp, SIM_LAUNCH_TIMEOUT);
}

static void report_endless(const struct residents *r) {
    struct warp *warp = first_observer(r->block[0]);
    char last_observed[SPIN_TEXT];
    spin_describe(warp, last_observed);
    warp_report(warp, SIM_FINDING_DEADLOCK, &warp->code[warp->block->poll_pc], NULL, first_lane(warp->live),
                "{here} waits in a loop for other blocks%s; every block of the grid waits, and none can continue",
                last_observed);
    warp_fatal(warp, SIM_LAUNCH_TIMEOUT);
}

// Notes a round. false: no block can continue, and this is reported.
static bool note_round(struct residents *r, uint64_t progress, bool idle) {
    struct run *run = r->run;
    uint64_t noted = atomic_load(&run->idle_rounds[r->thread]), rounds = noted & ROUND_MASK;
    rounds = !idle ? 0 : noted >> ROUND_BITS != progress ? 1 : rounds + (rounds < ENDLESS_ROUNDS);
    atomic_store(&run->idle_rounds[r->thread], progress << ROUND_BITS | rounds);
    uint64_t advances = atomic_load(&run->advances),
             limit = run->options.instruction_limit * (idle ? 1 : COUNTING_FACTOR);
    if (advances != r->advances)
        r->idle_instructions = 0;
    r->advances = advances;
    atomic_store(&run->over[r->thread], advances << 1 | (limit && r->idle_instructions >= limit));
    bool at_limit = all_at_limit(run, advances), endless = idle && all_idle(run, progress, ENDLESS_ROUNDS);
    if (!at_limit && !(idle && all_idle(run, progress, MAX_IDLE_ROUNDS)))
        return true;
    if (atomic_load(&run->next_block) < run->units_to_run) {
        report_not_resident(r);
        return false;
    }
    if (endless)
        report_endless(r);
    else if (at_limit)
        report_limit(r);
    return !at_limit && !endless;
}

void resident_finish_thread(struct run *run, unsigned thread) {
    atomic_store(&run->idle_rounds[thread], NO_BLOCKS);
    atomic_store(&run->over[thread], NO_BLOCKS);
}

void resident_run(struct run *run, unsigned thread) {
    struct residents r = {.run = run, .thread = thread, .room = max_blocks_of(run, thread)};
    r.traffic = traffic_table_begin(run->traffic);
    bool goes_on = start_another(&r);
    while (goes_on) {
        uint64_t progress = atomic_load(&run->progress);
        unsigned had = r.count;
        bool idle;
        if (!run_round(&r, &idle) || !note_round(&r, progress, idle))
            break;
        // If a block has ended, another one replaces it; otherwise their number is doubled.
        unsigned wanted = r.count < had ? (r.count ? r.count : 1) : 2 * had;
        while (r.count < wanted && start_another(&r)) {
        }
        goes_on = r.count > 0 && !run_stopped(run);
    }
    resident_finish_thread(run, thread);
    for (unsigned i = 0; i < r.count && order_budget_spent(run) && !run_stopped(run); i++)
        abandon(r.block[i]);
    for (unsigned i = 0; i < r.made; i++)
        unit_free(r.block[i]);
    free(r.block);
}
