// Loads, stores and atomics to shared memory of the cluster, whose addresses name a block.
#include "../analyses/race_cluster.h"
#include "address.h"
#include "spaces.h"

static enum step report_mapped_address(struct warp *warp, const struct bound *bound, int lane, uint64_t rank) {
    const struct cluster *cluster = warp->block->cluster;
    warp_report(warp, SIM_FINDING_CLUSTER_ADDRESS, bound, NULL, lane,
                "{op} accesses shared memory of cluster rank %llu, but the largest rank in the cluster is %u",
                (unsigned long long)rank, cluster ? cluster->blocks - 1 : 0);
    return warp_fatal(warp, SIM_ILLEGAL_ADDRESS);
}

struct block *address_block(struct warp *warp, const struct bound *bound, uint64_t *address, int lane,
                            enum step *step) {
    struct block *target = cluster_block_of(warp->block, *address);
    *step = STEP_NEXT;
    if (*address == UINT64_MAX)
        return warp->block; // not in shared memory: reported by the check of its space
    if (!target) {
        *step = report_mapped_address(warp, bound, lane, (*address >> CLUSTER_SHIFT) - 1);
        return NULL;
    }
    if (!race_cluster_check_alive(warp, bound, lane, target)) {
        *step = STEP_STOP;
        return NULL;
    }
    *address &= CLUSTER_OFFSET;
    return target;
}

static bool check_remote_access(const struct bound *bound, const struct access *access) {
    bool plain = access->kind == ACCESS_LOAD || access->kind == ACCESS_STORE || access_is_atomic(access);
    return plain && (bound->space == PTX_GENERIC || bound->ptx->in_cluster);
}

// Restricts the access to lanes whose addresses are in one block; the other lanes repeat one of these addresses.
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

static enum step report_remote_out_of_bounds(struct warp *warp, const struct bound *bound, const struct access *part,
                                             const struct block *target) {
    int lane = first_lane(part->mask);
    for (uint32_t left = part->mask; left; left &= left - 1)
        if (part->address[first_lane(left)] + part->bytes > warp->run->shared_bytes)
            lane = first_lane(left);
    warp_report(warp, SIM_FINDING_SHARED_OUT_OF_BOUNDS, bound, NULL, lane,
                "{here} accesses %u bytes at byte %llu of the shared memory of block (%u,%u,%u), which has %zu bytes",
                part->bytes, (unsigned long long)part->address[lane], target->index.x, target->index.y, target->index.z,
                warp->run->shared_bytes);
    return warp_fatal(warp, SIM_ILLEGAL_ADDRESS);
}

static enum step check_lanes_alive(struct warp *warp, const struct bound *bound, struct access *part,
                                   struct block *target, access_action *action) {
    if (part->span.high + part->bytes > warp->run->shared_bytes)
        return report_remote_out_of_bounds(warp, bound, part, target);
    if (target == warp->block)
        return access_in_own_shared(warp, bound, part, action);
    if (!race_cluster_check_alive(warp, bound, first_lane(part->mask), target))
        return STEP_STOP;
    if (warp->block->race.on)
        race_cluster_access(warp, bound, target, part);
    part->space = PTX_GENERIC; // for the action: not the warp's own shared memory
    action(warp, bound, part, target->shared);
    return STEP_NEXT;
}

enum step access_in_cluster(struct warp *warp, const struct bound *bound, struct access *access,
                            access_action *action) {
    enum step step = STEP_NEXT;
    access_fill(access);
    if (!check_remote_access(bound, access)) {
        warp_report(warp, SIM_FINDING_SHARED_OUT_OF_BOUNDS, bound, NULL, first_lane(access->mask),
                    "{op} uses an address that mapa has returned, but accesses only the block's own shared memory "
                    "(.shared::cta); the address needs the .shared::cluster form [shared-cta-address]");
        return warp_fatal(warp, SIM_ILLEGAL_ADDRESS);
    }
    for (uint32_t left = access->mask; left && step == STEP_NEXT;) {
        uint64_t first = access->address[first_lane(left)];
        struct block *target = cluster_block_of(warp->block, first);
        uint32_t same = 0;
        if (!target)
            return report_mapped_address(warp, bound, first_lane(left), (first >> CLUSTER_SHIFT) - 1);
        for (uint32_t rest = left; rest; rest &= rest - 1) {
            int lane = first_lane(rest);
            same |= (uint32_t)(cluster_block_of(warp->block, access->address[lane]) == target) << lane;
        }
        left &= ~same;
        struct access part = part_of(access, same);
        step = check_lanes_alive(warp, bound, &part, target, action);
    }
    return step;
}
