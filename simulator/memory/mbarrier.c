// The state of barriers in shared memory: see mbarrier.h.
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
    free(barrier->far_arriving);
    free(barrier->far_completed);
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

struct mbarrier *mbarrier_at(const struct block *block, uint64_t offset) {
    for (unsigned i = 0; block->mbarriers && i < block->mbarriers->count; i++)
        if (block->mbarriers->list[i]->offset == offset)
            return block->mbarriers->list[i];
    return NULL;
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

bool mbarrier_init(struct warp *warp, const struct bound *bound, uint32_t offset, uint32_t count) {
    mbarrier_remove(warp->block, offset);
    struct mbarrier *barrier = add(warp->block);
    if (!barrier)
        return false;
    barrier->owner = warp->block;
    barrier->offset = offset;
    barrier->count = barrier->pending = count;
    barrier->init_pc = barrier->expect_pc = pc_of(warp, bound);
    barrier->init_key = race_key(warp);
    return true;
}

void mbarrier_remove(struct block *block, uint32_t offset) {
    for (unsigned i = 0; block->mbarriers && i < block->mbarriers->count; i++) {
        struct mbarrier *barrier = block->mbarriers->list[i];
        if (barrier->offset != offset)
            continue;
        discard(barrier);
        block->mbarriers->list[i] = block->mbarriers->list[--block->mbarriers->count];
        return;
    }
}

// Whether the set-up is ordered before what the lane does. In a cluster fence.mbarrier_init makes it known to who waits
// at barrier.cluster later, though the arrival there may be relaxed.
static bool is_known(const struct warp *warp, const struct mbarrier *barrier, int lane) {
    bool own = barrier->owner == warp->block;
    if (own && race_shared_ordered(warp, barrier->init_key, (uint32_t)barrier->init_pc << 6 | SHADOW_ATOMIC, lane))
        return true;
    if (!own && race_cluster_knows(warp, barrier->owner, barrier->init_key))
        return true;
    return warp->cluster && barrier->fenced && warp->cluster->waited > barrier->fenced_phase;
}

struct mbarrier *mbarrier_use(struct warp *warp, const struct bound *bound, uint64_t offset, int lane,
                              enum step *step) {
    struct block *block = address_block(warp, bound, &offset, lane, step);
    struct mbarrier *barrier = block ? mbarrier_at(block, offset) : NULL;
    if (!block)
        return NULL;
    if (!barrier) {
        if (offset == UINT64_MAX || offset % 8 || offset + 8 > warp->run->shared_bytes)
            warp_report(warp, SIM_FINDING_MBARRIER, bound, NULL, lane,
                        "{here} uses a barrier at byte 0x%llx, which is no multiple of 8 in the block's shared memory",
                        (unsigned long long)offset);
        else
            warp_report(warp, SIM_FINDING_MBARRIER, bound, NULL, lane,
                        "{here} uses the barrier at byte %llu of shared memory before any mbarrier.init of it",
                        (unsigned long long)offset);
        *step = warp_fatal(warp, SIM_LAUNCH_FAILURE);
        return NULL;
    }
    if (warp->block->race.on && !is_known(warp, barrier, lane))
        warp_report(warp, SIM_FINDING_MBARRIER, bound, &warp->code[barrier->init_pc], lane,
                    "{here} uses the barrier at byte %u of shared memory that warp %u sets up at {there}, with nothing "
                    "between the two that makes it wait for that",
                    barrier->offset, barrier->init_key & 31);
    return barrier;
}

static void end_phase(struct mbarrier *barrier) {
    size_t clocks = barrier->far_arriving ? cluster_clocks(barrier->owner->cluster) * sizeof *barrier->far_arriving : 0;
    memcpy(barrier->completed, barrier->arriving, sizeof barrier->completed);
    if (clocks && !barrier->far_completed)
        barrier->far_completed = malloc(clocks);
    if (barrier->far_completed)
        memcpy(barrier->far_completed, barrier->far_arriving, clocks);
    barrier->phase++;
    barrier->end_time = barrier->last_time;
    barrier->pending = barrier->count;
    barrier->expected = 0;
    barrier->unready = 0;
    block_event(barrier->owner);
}

static void end_phase_if_complete(struct mbarrier *barrier) {
    if (barrier->pending == 0 && barrier->bytes == 0)
        end_phase(barrier);
}

bool mbarrier_arrive(struct warp *warp, const struct bound *bound, struct mbarrier *barrier, uint32_t count, int lane,
                     uint32_t mask) {
    if (count > barrier->pending) {
        warp_report(warp, SIM_FINDING_MBARRIER, bound, &warp->code[barrier->init_pc], lane,
                    "{here} arrives at the barrier at byte %u of shared memory, whose phase %u has had all of the %u "
                    "arrivals that {there} sets it up for and still lacks %lld bytes",
                    barrier->offset, barrier->phase, barrier->count, (long long)barrier->bytes);
        warp_fatal(warp, SIM_LAUNCH_FAILURE);
        return false;
    }
    if (warp->work && work_time(warp->work) > barrier->last_time)
        barrier->last_time = work_time(warp->work);
    uint32_t phase = barrier->phase;
    race_cluster_note(warp, bound, barrier->owner);
    race_cluster_tell(warp, &barrier->far_arriving);
    if (barrier->owner == warp->block)
        race_tell_by(warp, mask, barrier->arriving);
    barrier->pending -= count;
    end_phase_if_complete(barrier);
    mbarrier_settle_early(warp, barrier);
    if (warp->block->any_turn && barrier->phase != phase)
        warp->patience = 0; // those who wait may go first
    return true;
}

void mbarrier_expect(struct warp *warp, const struct bound *bound, struct mbarrier *barrier, uint32_t bytes) {
    race_cluster_note(warp, bound, barrier->owner);
    barrier->bytes += bytes;
    barrier->expected += bytes;
    barrier->expect_pc = pc_of(warp, bound);
    block_event(barrier->owner);
}

void mbarrier_arrived_bytes(struct warp *warp, struct mbarrier *barrier, uint32_t bytes) {
    (void)warp;
    barrier->bytes -= bytes;
    end_phase_if_complete(barrier);
}

static void report_bytes(struct warp *warp, const struct mbarrier *barrier, int32_t pc, int64_t arrived) {
    warp_report(warp, SIM_FINDING_BYTES, &warp->code[barrier->expect_pc], &warp->code[pc], first_lane(warp->now->mask),
                "{here} announces %lld bytes for phase %u of the barrier at byte %u of shared memory, and the copy at "
                "{there} makes them %lld",
                (long long)barrier->expected, barrier->phase, barrier->offset, (long long)arrived);
}

// Whether the phase ends if the copies that are on their way land.
static bool can_settle(const struct mbarrier *barrier) {
    int64_t queued = 0;
    if (barrier->pending > 0 || !barrier->first)
        return false;
    for (const struct bulk_copy *copy = barrier->first; copy && queued < barrier->bytes; copy = copy->next)
        queued += copy->bytes;
    return queued >= barrier->bytes;
}

// Who waits for the barrier knows from then on that the source of a copy within the cluster has been read.
static void tell_read(struct warp *warp, struct mbarrier *barrier, const struct bulk_copy *copy) {
    const struct block *from = copy->issuer->block;
    unsigned agent;
    if (!copy->read_clock || !race_agent_of_bulk(from, &agent))
        return;
    if (from == barrier->owner && barrier->arriving[agent] < copy->read_clock)
        barrier->arriving[agent] = copy->read_clock;
    race_cluster_raise(warp, &barrier->far_arriving, from->rank, agent, copy->read_clock);
}

static void land(struct warp *warp, struct mbarrier *barrier, uint32_t key) {
    uint32_t phase = barrier->phase;
    while (barrier->first && barrier->bytes > 0) {
        struct bulk_copy *copy = barrier->first;
        barrier->bytes -= copy->bytes;
        if (barrier->bytes < 0)
            report_bytes(warp, barrier, copy->pc, barrier->expected - barrier->bytes);
        tell_read(warp, barrier, copy);
        bulk_land(barrier->owner, copy, key);
        barrier->last_time = copy->time > barrier->last_time ? copy->time : barrier->last_time;
        barrier->first = copy->next;
        bulk_free(copy);
    }
    barrier->bytes = 0;
    for (struct bulk_copy *late = barrier->first; late && late->phase == phase; late = late->next)
        report_bytes(warp, barrier, late->pc, barrier->expected + late->bytes);
}

void mbarrier_settle(struct warp *warp, struct mbarrier *barrier) {
    if (!can_settle(barrier))
        return;
    // The warp that waits first is the one by which the others learn that the bytes are there.
    land(warp, barrier, race_key(warp));
    race_tell(warp, barrier->arriving);
    race_step(warp, false, true);
    end_phase(barrier);
}

void mbarrier_settle_early(struct warp *warp, struct mbarrier *barrier) {
    struct block *block = barrier->owner;
    unsigned agent;
    if (!block->any_landing || !race_agent_of_loads(block, &agent) || !can_settle(barrier) || block_random(block) % 2)
        return;
    uint32_t clock = race_agent_issue(block, agent);
    land(warp, barrier, clock << 5 | agent);
    barrier->arriving[agent] = clock;
    end_phase(barrier);
}

bool mbarrier_is_late(struct block *block, struct mbarrier *barrier) {
    bool late = block->any_landing && barrier->unready < MOST_UNREADY && can_settle(barrier) && block_random(block) % 2;
    barrier->unready += late;
    return late;
}

void mbarrier_fence(struct warp *warp) {
    for (unsigned i = 0; warp->block->mbarriers && i < warp->block->mbarriers->count; i++) {
        struct mbarrier *barrier = warp->block->mbarriers->list[i];
        if (barrier->fenced || !race_shared_ordered(warp, barrier->init_key, SHADOW_ATOMIC, 0))
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
                warp_report(warp, SIM_FINDING_CLUSTER_ABSENT, &warp->code[copy->pc], NULL, copy->lane,
                            "{here} copies to shared memory of block (%u,%u,%u), which exits without waiting for it",
                            block->index.x, block->index.y, block->index.z);
        }
    }
}
