// Loads, stores and atomics in shared memory of the cluster, where an address names the block that it is in.
#include "../analyses/race_cluster.h"
#include "address.h"
#include "spaces.h"

static enum step refuse(struct warp *warp, const struct bound *bound, int lane, uint64_t rank) {
    struct cluster *cluster = warp->block->cluster;
    warp_report(warp, SIM_FINDING_CLUSTER_ABSENT, bound, NULL, lane,
                "{here} reaches for shared memory of the block of rank %llu in a cluster of %u",
                (unsigned long long)rank, cluster ? cluster->blocks : 1);
    return warp_fatal(warp, SIM_ILLEGAL_ADDRESS);
}

struct block *address_block(struct warp *warp, const struct bound *bound, uint64_t *address, int lane,
                            enum step *step) {
    struct block *there = cluster_block_of(warp->block, *address);
    *step = STEP_NEXT;
    if (*address == UINT64_MAX)
        return warp->block; // not in shared memory: its own check says so
    if (!there) {
        *step = refuse(warp, bound, lane, (*address >> CLUSTER_SHIFT) - 1);
        return NULL;
    }
    if (!race_cluster_reach(warp, bound, lane, there)) {
        *step = STEP_STOP;
        return NULL;
    }
    *address &= CLUSTER_OFFSET;
    return there;
}

static bool may_reach(const struct bound *bound, const struct access *access) {
    bool plain = access->kind == ACCESS_LOAD || access->kind == ACCESS_STORE || access_is_atomic(access);
    return plain && (bound->space == PTX_GENERIC || bound->ptx->in_cluster);
}

// The lanes of mask are all in one block; the others repeat an address of theirs.
static struct access part_of(const struct access *access, uint32_t mask) {
    struct access part = *access;
    uint64_t repeated = access->address[first_lane(mask)] & CLUSTER_OFFSET, low = repeated, high = repeated;
    part.mask = mask;
    for (int i = 0; i < LANES; i++) {
        uint64_t at = mask >> i & 1 ? access->address[i] & CLUSTER_OFFSET : repeated;
        part.address[i] = at;
        low = at < low ? at : low;
        high = at > high ? at : high;
    }
    part.span.low = low;
    part.span.high = high;
    part.span.pattern = LANES_SCATTERED;
    return part;
}

static enum step beyond(struct warp *warp, const struct bound *bound, const struct access *part,
                        const struct block *there) {
    int lane = first_lane(part->mask);
    for (uint32_t left = part->mask; left; left &= left - 1)
        if (part->address[first_lane(left)] + part->bytes > warp->run->shared_bytes)
            lane = first_lane(left);
    warp_report(warp, SIM_FINDING_SHARED_OUT_OF_BOUNDS, bound, NULL, lane,
                "{here} reaches for %u bytes at byte %llu of the shared memory of block (%u,%u,%u), which has %zu",
                part->bytes, (unsigned long long)part->address[lane], there->index.x, there->index.y, there->index.z,
                warp->run->shared_bytes);
    return warp_fatal(warp, SIM_ILLEGAL_ADDRESS);
}

static enum step reach(struct warp *warp, const struct bound *bound, struct access *part, struct block *there,
                       access_action *action) {
    if (part->span.high + part->bytes > warp->run->shared_bytes)
        return beyond(warp, bound, part, there);
    if (there == warp->block)
        return access_in_own_shared(warp, bound, part, action);
    if (!race_cluster_reach(warp, bound, first_lane(part->mask), there))
        return STEP_STOP;
    if (warp->block->race.on)
        race_cluster_access(warp, bound, there, part);
    part->space = PTX_GENERIC; // for the action: not the warp's own shared memory
    action(warp, bound, part, there->shared);
    return STEP_NEXT;
}

enum step access_in_cluster(struct warp *warp, const struct bound *bound, struct access *access,
                            access_action *action) {
    enum step step = STEP_NEXT;
    access_fill(access);
    if (!may_reach(bound, access)) {
        warp_report(
            warp, SIM_FINDING_SHARED_OUT_OF_BOUNDS, bound, NULL, first_lane(access->mask),
            "{here} takes an address that mapa has made; this instruction reaches the block's own shared memory "
            "alone, .shared::cluster the cluster's");
        return warp_fatal(warp, SIM_ILLEGAL_ADDRESS);
    }
    for (uint32_t left = access->mask; left && step == STEP_NEXT;) {
        uint64_t first = access->address[first_lane(left)];
        struct block *there = cluster_block_of(warp->block, first);
        uint32_t same = 0;
        if (!there)
            return refuse(warp, bound, first_lane(left), (first >> CLUSTER_SHIFT) - 1);
        for (uint32_t rest = left; rest; rest &= rest - 1) {
            int lane = first_lane(rest);
            same |= (uint32_t)(cluster_block_of(warp->block, access->address[lane]) == there) << lane;
        }
        left &= ~same;
        struct access part = part_of(access, same);
        step = reach(warp, bound, &part, there, action);
    }
    return step;
}
