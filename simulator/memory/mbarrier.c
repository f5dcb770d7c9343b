// The state of mbarriers: see mbarrier.h.
#include "mbarrier.h"

#include "../analyses/race_cluster.h"
#include "../analyses/race_proxy.h"
#include "../analyses/race_shared.h"
#include "../traffic/work.h"
#include "address.h"
#include "bulk.h"

#include <stdlib.h>
#include <string.h>

#define MOST_UNREADY 3

struct mbarriers {
    struct mbarrier **list; // [count]
    unsigned count, room;
};

static void discard(struct mbarrier *barrier) {
    bulk_free_list(barrier->first);
    free(barrier->remote_arriving);
    free(barrier->remote_completed);
    free(barrier);
}

void mbarrier_start(struct block *block) {
    for (unsigned i = 0; block->mbarriers && i < block->mbarriers->count; i++)
        discard(block->mbarriers->list[i]);
    if (block->mbarriers)
        block->mbarriers->count = 0;
}

void mbarrier_free(struct block *block) {
    mbarrier_start(block);
    if (block->mbarriers)
        free(block->mbarriers->list);
    free(block->mbarriers);
}

void mbarrier_name(const struct block *block, uint64_t offset, char text[ELEMENT_NAME_TEXT]) {
    element_name_mbarrier(block->run->kernel->ptx, block->run->own_shared, (size_t)offset, text);
}

static struct mbarrier *find(const struct block *block, uint64_t offset) {
    for (unsigned i = 0; block->mbarriers && i < block->mbarriers->count; i++)
        if (block->mbarriers->list[i]->offset == offset)
            return block->mbarriers->list[i];
    return NULL;
}

struct mbarrier *mbarrier_at(const struct block *block, uint64_t offset) {
    struct mbarrier *barrier = find(block, offset);
    return barrier && !barrier->invalid ? barrier : NULL;
}

static struct mbarrier *add(struct block *block) {
    if (!block->mbarriers && !(block->mbarriers = calloc(1, sizeof *block->mbarriers)))
        return NULL;
    struct mbarriers *all = block->mbarriers;
    if (all->count == all->room) {
        unsigned room = all->room ? 2 * all->room : 16;
        struct mbarrier **grown = realloc(all->list, room * sizeof *grown);
        if (!grown)
            return NULL;
        all->list = grown;
        all->room = room;
    }
    struct mbarrier *barrier = calloc(1, sizeof *barrier);
    if (barrier)
        all->list[all->count++] = barrier;
    return barrier;
}

// Returns whether there was one, valid or not.
static bool remove_at(struct block *block, uint32_t offset) {
    for (unsigned i = 0; block->mbarriers && i < block->mbarriers->count; i++) {
        struct mbarrier *barrier = block->mbarriers->list[i];
        if (barrier->offset != offset)
            continue;
        discard(barrier);
        block->mbarriers->list[i] = block->mbarriers->list[--block->mbarriers->count];
        return true;
    }
    return false;
}

bool mbarrier_init(struct warp *warp, const struct bound *bound, uint32_t offset, uint32_t count) {
    bool again = remove_at(warp->block, offset);
    struct mbarrier *barrier = add(warp->block);
    if (!barrier)
        return false;
    barrier->again = again;
    barrier->owner = warp->block;
    barrier->offset = offset;
    barrier->count = barrier->pending = count;
    barrier->init_pc = barrier->expect_pc = pc_of(warp, bound);
    barrier->init_epoch = race_epoch(warp);
    return true;
}

// Returns whether the initialization happens before the lane's use. In a cluster, fence.mbarrier_init makes it visible
// to threads that wait at barrier.cluster later, even if the arrival there is relaxed.
static bool is_init_visible(const struct warp *warp, const struct mbarrier *barrier, int lane) {
    bool own = barrier->owner == warp->block;
    if (own && race_happens_before(warp, barrier->init_epoch, (uint32_t)barrier->init_pc << 6 | SHADOW_ATOMIC, lane))
        return true;
    if (!own && race_cluster_is_ordered(warp, barrier->owner, barrier->init_epoch))
        return true;
    return warp->cluster && barrier->fenced && warp->cluster->waited > barrier->fenced_phase;
}

struct mbarrier *mbarrier_for_access(struct warp *warp, const struct bound *bound, uint64_t offset, int lane,
                                     enum step *step) {
    struct block *block = address_block(warp, bound, &offset, lane, step);
    struct mbarrier *barrier = block ? mbarrier_at(block, offset) : NULL;
    char name[ELEMENT_NAME_TEXT];
    if (!block)
        return NULL;
    if (!barrier) {
        mbarrier_name(block, offset, name);
        if (offset == UINT64_MAX || offset % 8 || offset + 8 > warp->run->shared_bytes)
            warp_report(warp, SIM_FINDING_MBARRIER, bound, NULL, lane,
                        "{op} accesses an mbarrier at byte 0x%llx, which is not a multiple of 8 bytes within the "
                        "block's shared memory "
                        "[mbarrier-address]",
                        (unsigned long long)offset);
        else
            warp_report(warp, SIM_FINDING_MBARRIER, bound, NULL, lane,
                        "{op} accesses the mbarrier %s, which %s [mbarrier-uninitialized]", name,
                        find(block, offset) ? "mbarrier.inval has ended" : "was never initialized (mbarrier.init)");
        *step = warp_fatal(warp, SIM_LAUNCH_FAILURE);
        return NULL;
    }
    if (warp->block->race.on && !is_init_visible(warp, barrier, lane)) {
        mbarrier_name(block, offset, name);
        unsigned by = barrier->init_epoch & 31;
        if (barrier->again)
            warp_report(warp, SIM_FINDING_MBARRIER, bound, &warp->code[barrier->init_pc], lane,
                        "{op} accesses the mbarrier %s, which warp %u has initialized again (the {other}) with no "
                        "barrier between this access and that: the phase that this thread means may be one of the old "
                        "mbarrier [mbarrier-init-race]",
                        name, by);
        else
            warp_report(warp, SIM_FINDING_MBARRIER, bound, &warp->code[barrier->init_pc], lane,
                        "{op} accesses the mbarrier %s, with no barrier after the initialization by warp %u (the "
                        "{other}) [mbarrier-init-race]",
                        name, by);
    }
    return barrier;
}

static void complete_phase(struct mbarrier *barrier) {
    size_t clocks =
        barrier->remote_arriving ? cluster_clocks(barrier->owner->cluster) * sizeof *barrier->remote_arriving : 0;
    memcpy(barrier->completed, barrier->arriving, sizeof barrier->completed);
    if (clocks && !barrier->remote_completed)
        barrier->remote_completed = malloc(clocks);
    if (barrier->remote_completed)
        memcpy(barrier->remote_completed, barrier->remote_arriving, clocks);
    barrier->phase++;
    barrier->end_time = barrier->last_time;
    barrier->pending = barrier->count;
    barrier->expected = 0;
    barrier->delayed_tests = 0;
    block_event(barrier->owner);
}

static void complete_phase_if_due(struct mbarrier *barrier) {
    if (barrier->pending == 0 && barrier->bytes == 0)
        complete_phase(barrier);
}

bool mbarrier_arrive(struct warp *warp, const struct bound *bound, struct mbarrier *barrier, uint32_t count, int lane,
                     uint32_t mask) {
    if (count > barrier->pending) {
        char name[ELEMENT_NAME_TEXT];
        mbarrier_name(barrier->owner, barrier->offset, name);
        warp_report(warp, SIM_FINDING_MBARRIER, bound, &warp->code[barrier->init_pc], lane,
                    "{op} is one arrival too many at the mbarrier %s (initialized at "
                    "{there}): phase %u "
                    "already has all %u expected arrivals, and waits only for %lld bytes [mbarrier-arrivals]",
                    name, barrier->phase, barrier->count, (long long)barrier->bytes);
        warp_fatal(warp, SIM_LAUNCH_FAILURE);
        return false;
    }
    if (warp->work && work_time(warp->work) > barrier->last_time)
        barrier->last_time = work_time(warp->work);
    uint32_t phase = barrier->phase;
    race_cluster_note_access(warp, bound, barrier->owner);
    race_cluster_release(warp, &barrier->remote_arriving);
    if (barrier->owner == warp->block)
        race_release_lanes(warp, mask, barrier->arriving);
    barrier->pending -= count;
    complete_phase_if_due(barrier);
    mbarrier_land_copies_early(warp, barrier);
    if (warp->block->random_turns && barrier->phase != phase)
        warp->turn_budget = 0; // the waiting warps run first
    return true;
}

void mbarrier_expect_tx(struct warp *warp, const struct bound *bound, struct mbarrier *barrier, uint32_t bytes) {
    race_cluster_note_access(warp, bound, barrier->owner);
    barrier->bytes += bytes;
    barrier->expected += bytes;
    barrier->expect_pc = pc_of(warp, bound);
    block_event(barrier->owner);
}

void mbarrier_complete_tx(struct warp *warp, struct mbarrier *barrier, uint32_t bytes) {
    (void)warp;
    barrier->bytes -= bytes;
    complete_phase_if_due(barrier);
}

static void report_bytes(struct warp *warp, const struct mbarrier *barrier, int32_t pc, int64_t arrived) {
    char name[ELEMENT_NAME_TEXT];
    mbarrier_name(barrier->owner, barrier->offset, name);
    warp_report(warp, SIM_FINDING_TRANSACTION_BYTES, &warp->code[barrier->expect_pc], &warp->code[pc],
                first_lane(warp->now->mask),
                "{op} expects %lld bytes in phase %u of the mbarrier %s, but %lld bytes arrive, the "
                "last by the {other}",
                (long long)barrier->expected, barrier->phase, name, (long long)arrived);
}

// Returns whether the phase completes if the copies in flight land.
static bool can_complete(const struct mbarrier *barrier) {
    int64_t queued = 0;
    if (barrier->pending > 0 || !barrier->first)
        return false;
    for (const struct bulk_copy *copy = barrier->first; copy && queued < barrier->bytes; copy = copy->next)
        queued += copy->bytes;
    return queued >= barrier->bytes;
}

// A warp that waits on the mbarrier acquires the read of the copy's source in another block.
static void release_source(struct warp *warp, struct mbarrier *barrier, const struct bulk_copy *copy) {
    const struct block *from = copy->issuer->block;
    unsigned agent;
    if (!copy->read_clock || !race_agent_of_bulk(from, &agent))
        return;
    if (from == barrier->owner && barrier->arriving[agent] < copy->read_clock)
        barrier->arriving[agent] = copy->read_clock;
    race_cluster_raise_clock(warp, &barrier->remote_arriving, from->rank, agent, copy->read_clock);
}

static void land(struct warp *warp, struct mbarrier *barrier, uint32_t epoch) {
    uint32_t phase = barrier->phase;
    while (barrier->first && barrier->bytes > 0) {
        struct bulk_copy *copy = barrier->first;
        barrier->bytes -= copy->bytes;
        if (barrier->bytes < 0)
            report_bytes(warp, barrier, copy->pc, barrier->expected - barrier->bytes);
        release_source(warp, barrier, copy);
        bulk_land(barrier->owner, copy, epoch);
        barrier->last_time = copy->time > barrier->last_time ? copy->time : barrier->last_time;
        barrier->first = copy->next;
        bulk_free(copy);
    }
    barrier->bytes = 0;
    for (struct bulk_copy *late = barrier->first; late && late->phase == phase; late = late->next)
        report_bytes(warp, barrier, late->pc, barrier->expected + late->bytes);
}

void mbarrier_land_copies(struct warp *warp, struct mbarrier *barrier) {
    if (!can_complete(barrier))
        return;
    // The first waiting warp writes the bytes; the other warps acquire its clock.
    land(warp, barrier, race_epoch(warp));
    race_release(warp, barrier->arriving);
    race_advance_clock(warp, false, true);
    complete_phase(barrier);
}

void mbarrier_land_copies_early(struct warp *warp, struct mbarrier *barrier) {
    struct block *block = barrier->owner;
    unsigned agent;
    if (!block->random_landing || !race_agent_of_loads(block, &agent) || !can_complete(barrier) ||
        block_random(block) % 2)
        return;
    uint32_t clock = race_agent_issue(block, agent);
    land(warp, barrier, clock << 5 | agent);
    barrier->arriving[agent] = clock;
    complete_phase(barrier);
}

bool mbarrier_delays_completion(struct block *block, struct mbarrier *barrier) {
    bool late = block->random_landing && barrier->delayed_tests < MOST_UNREADY && can_complete(barrier) &&
                block_random(block) % 2;
    barrier->delayed_tests += late;
    return late;
}

void mbarrier_fence(struct warp *warp) {
    for (unsigned i = 0; warp->block->mbarriers && i < warp->block->mbarriers->count; i++) {
        struct mbarrier *barrier = warp->block->mbarriers->list[i];
        if (barrier->fenced || !race_happens_before(warp, barrier->init_epoch, SHADOW_ATOMIC, 0))
            continue;
        barrier->fenced = true;
        barrier->fenced_phase = warp->cluster ? warp->block->cluster->phase + (warp->cluster->due != 0) : 0;
    }
}

void mbarrier_end(struct block *block) {
    for (unsigned i = 0; block->mbarriers && i < block->mbarriers->count && block->race.on; i++) {
        for (const struct bulk_copy *copy = block->mbarriers->list[i]->first; copy; copy = copy->next) {
            struct warp *warp = copy->issuer;
            if (warp && warp->block != block)
                warp_report(
                    warp, SIM_FINDING_CLUSTER_LIFETIME, &warp->code[copy->pc], NULL, copy->lane,
                    "{op} writes to shared memory of block (%u,%u,%u), which exits without waiting for the copy "
                    "[cluster-early-exit]",
                    block->index.x, block->index.y, block->index.z);
        }
    }
}
