// Turns among the blocks that are resident together. Where a kernel has clusters, read cluster for block.
//
// A block runs to its end where it can, and only then does the next one start: most kernels never have more than one
// block a host thread in memory. A block that waits for another (block_turn says so) stays where it is, and others get
// their turns. When all have had one and none has come to its end, as many more start as there are, up to what fits on
// the GPU at a time; a barrier among resident blocks therefore ends.
//
// A round of turns is in vain where no block ended, started, changed anything in global memory or has other values in
// its registers than a turn ago: each goes round the same loop with the same result. Where all host threads have gone
// round in vain several times, nobody will ever go on: if blocks have not started because no more fit, those are the
// ones that are waited for. If all have started, or a loop counts its rounds, limits on instructions end the launch:
// each host thread must have come to its own since a block last ended, started or changed memory, as one may be late.
#include "resident.h"

#include "../analyses/partly.h"
#include "../memory/bulk.h"
#include "../traffic/traffic.h"
#include "cluster.h"
#include "look.h"
#include "order.h"

#include <stdlib.h>

#define ROUNDS_IN_VAIN 8
#define COUNTING_FACTOR 10 // as many instructions more may a loop take that does not change memory but its registers
#define ROUND_BITS 16
#define ROUND_MASK ((1u << ROUND_BITS) - 1)
#define NO_BLOCKS UINT64_MAX // in run->in_vain and run->over: a host thread that keeps nobody waiting

struct residents {
    struct run *run;
    unsigned thread, room; // room: the most blocks that this host thread may have at a time
    unsigned count, made;
    struct block **block; // [made], the first `count` of them are resident
    struct traffic_table *traffic;
    uint64_t advances;          // run->advances when idle_instructions were last 0
    uint64_t idle_instructions; // of blocks that go round in vain
};

static void fail(struct run *run) {
    int none = SIM_OK;
    atomic_compare_exchange_strong(&run->status, &none, SIM_OUT_OF_HOST_MEMORY);
}

// What fits on the GPU is shared out among the host's threads.
static unsigned room_of(const struct run *run, unsigned thread) {
    uint64_t all = run->launch->resident_blocks ? run->launch->resident_blocks / unit_blocks(run) : run->to_run;
    all = all < run->to_run ? all : run->to_run;
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
        block->watched = block->traffic || block->record;
        block->units = traffic_units_make(r->traffic);
        for (unsigned w = 0; w < block->warps; w++)
            block->warp[w].work = traffic_clock_make(r->traffic, block->units, w);
    }
    r->made++;
    return true;
}

// false: there are no more blocks to start, or the launch stops.
static bool start_another(struct residents *r) {
    struct run *run = r->run;
    uint64_t number = r->count < r->room ? atomic_load(&run->next_block) : run->to_run;
    do
        if (number >= run->to_run || order_spent(run))
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

// Whether the registers are not what they were when the block's last turn ended.
static bool registers_of_changed(struct block *block) {
    size_t words = block->run->kernel->register_bytes / 8 * block->warps;
    const uint64_t *word = (const uint64_t *)(const void *)block->registers;
    uint64_t state = 14695981039346656037u, before = block->state;
    for (size_t i = 0; i < words; i++)
        state = (state ^ word[i]) * 1099511628211u;
    block->state = state;
    return state != before;
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

// It is left before its end: what it has under way lands.
static void leave(struct block *first) {
    for (unsigned b = 0; b < unit_blocks(first->run); b++) {
        bulk_cut(unit_block(first, b));
        partly_left(unit_block(first, b));
    }
}

static void retire(struct residents *r, unsigned i) {
    struct block *done = r->block[i];
    if (done->given_up)
        leave(done);
    r->block[i] = r->block[--r->count];
    r->block[r->count] = done;
}

// One turn for each resident block. *vain: as it says above. false: the launch stops.
static bool go_round(struct residents *r, bool *vain) {
    *vain = true;
    for (unsigned i = 0; i < r->count;) {
        struct block *block = r->block[i];
        uint64_t before = instructions_of(block);
        enum turn turn = unit_turn(block);
        if (turn == TURN_STOPPED || run_stopped(r->run) || (turn != TURN_DONE && order_spent(r->run)))
            return false;
        bool seen = turn == TURN_DONE || block->changed;
        if (seen || registers_changed(block)) {
            atomic_fetch_add(&r->run->progress, 1);
            *vain = false;
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

static bool all_in_vain(const struct run *run, uint64_t progress) {
    for (unsigned i = 0; i < run->threads; i++) {
        uint64_t noted = atomic_load(&run->in_vain[i]);
        bool in_vain = noted >> ROUND_BITS == progress && (noted & ROUND_MASK) >= ROUNDS_IN_VAIN;
        if (!in_vain && noted != NO_BLOCKS)
            return false;
    }
    return true;
}

static bool all_over(const struct run *run, uint64_t advances) {
    for (unsigned i = 0; i < run->threads; i++) {
        uint64_t noted = atomic_load(&run->over[i]);
        if (noted != (advances << 1 | 1) && noted != NO_BLOCKS)
            return false;
    }
    return true;
}

static struct warp *first_live(struct block *first) {
    struct warp *warp = unit_alive(first)->warp;
    while (!warp->live)
        warp++;
    return warp;
}

// One that has looked at something, where there is one.
static struct warp *first_that_looks(struct block *first) {
    for (unsigned i = 0; i < unit_blocks(first->run); i++) {
        struct block *block = unit_block(first, i);
        for (unsigned w = 0; w < block->warps; w++)
            if (block->warp[w].live && block->warp[w].look.bytes)
                return &block->warp[w];
    }
    return first_live(first);
}

static void report_not_resident(const struct residents *r) {
    const struct run *run = r->run;
    struct warp *warp = first_live(r->block[0]);
    warp_report(
        warp, SIM_FINDING_NOT_RESIDENT, &warp->code[warp->block->polled_at], NULL, first_lane(warp->live),
        "{here} goes round waiting for other blocks; of the grid's %llu blocks %llu fit on the GPU at a time, all of "
        "those wait, and the others cannot start",
        (unsigned long long)run->blocks, (unsigned long long)run->launch->resident_blocks);
    warp_fatal(warp, SIM_LAUNCH_TIMEOUT);
}

static void report_limit(const struct residents *r) {
    struct warp *warp = first_that_looks(r->block[0]);
    char look[LOOK_TEXT];
    look_describe(warp, look);
    warp_report(
        warp, SIM_FINDING_INSTRUCTION_LIMIT, &warp->code[warp->block->polled_at], NULL, first_lane(warp->live),
        "{here} goes round waiting for other blocks%s; %u blocks have executed %llu warp instructions and changed "
        "nothing in global memory; SIMULATOR_INSTRUCTION_LIMIT=%llu would raise the limit",
        look, r->count * unit_blocks(r->run), (unsigned long long)r->idle_instructions,
        (unsigned long long)r->run->options.instruction_limit * 10);
    warp_fatal(warp, SIM_LAUNCH_TIMEOUT);
}

// Notes a round. false: nobody can go on, and it has been said.
static bool note_round(struct residents *r, uint64_t progress, bool vain) {
    struct run *run = r->run;
    uint64_t noted = atomic_load(&run->in_vain[r->thread]), rounds = noted & ROUND_MASK;
    rounds = !vain ? 0 : noted >> ROUND_BITS != progress ? 1 : rounds + (rounds < ROUNDS_IN_VAIN);
    atomic_store(&run->in_vain[r->thread], progress << ROUND_BITS | rounds);
    uint64_t advances = atomic_load(&run->advances),
             limit = run->options.instruction_limit * (vain ? 1 : COUNTING_FACTOR);
    if (advances != r->advances)
        r->idle_instructions = 0;
    r->advances = advances;
    atomic_store(&run->over[r->thread], advances << 1 | (limit && r->idle_instructions >= limit));
    bool over = all_over(run, advances);
    if (!over && !(vain && all_in_vain(run, progress)))
        return true;
    if (atomic_load(&run->next_block) < run->to_run) {
        report_not_resident(r);
        return false;
    }
    if (over)
        report_limit(r);
    return !over;
}

void resident_leave(struct run *run, unsigned thread) {
    atomic_store(&run->in_vain[thread], NO_BLOCKS);
    atomic_store(&run->over[thread], NO_BLOCKS);
}

void resident_run(struct run *run, unsigned thread) {
    struct residents r = {.run = run, .thread = thread, .room = room_of(run, thread)};
    r.traffic = traffic_table_begin(run->traffic);
    bool goes_on = start_another(&r);
    while (goes_on) {
        uint64_t progress = atomic_load(&run->progress);
        unsigned had = r.count;
        bool vain;
        if (!go_round(&r, &vain) || !note_round(&r, progress, vain))
            break;
        // A block has ended: another takes its place. None has: twice as many.
        unsigned wanted = r.count < had ? (r.count ? r.count : 1) : 2 * had;
        while (r.count < wanted && start_another(&r)) {
        }
        goes_on = r.count > 0 && !run_stopped(run);
    }
    resident_leave(run, thread);
    for (unsigned i = 0; i < r.count && order_spent(run) && !run_stopped(run); i++)
        leave(r.block[i]);
    for (unsigned i = 0; i < r.made; i++)
        unit_free(r.block[i]);
    free(r.block);
}
