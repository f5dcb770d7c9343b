// The cluster barrier and the cluster's addresses: see cluster.h.
#include "cluster.h"

#include "../analyses/race_cluster.h"
#include "../analyses/race_shared.h"
#include "../machine/access.h"
#include "families.h"

#include <stdio.h>
#include <string.h>

// The number of a block's threads that have neither arrived at the barrier nor exited.
static unsigned missing(const struct cluster *cluster, unsigned rank) {
    unsigned threads = 0;
    for (unsigned w = 0; w < cluster->block[rank]->warps; w++)
        threads += (unsigned)__builtin_popcount(cluster->block[rank]->warp[w].live & ~cluster->warp[rank][w].arrived);
    return threads;
}

static void complete(struct cluster *cluster) {
    cluster->phase++;
    if (cluster->completed && cluster->arriving)
        memcpy(cluster->completed, cluster->arriving, cluster_clocks(cluster) * sizeof *cluster->completed);
    for (unsigned r = 0; r < cluster->blocks; r++) {
        for (unsigned w = 0; w < cluster->block[r]->warps; w++)
            cluster->warp[r][w].arrived = 0;
        block_event(cluster->block[r]);
    }
}

static void complete_if_due(struct cluster *cluster) {
    bool any = false;
    for (unsigned r = 0; r < cluster->blocks; r++) {
        if (missing(cluster, r))
            return;
        for (unsigned w = 0; w < cluster->block[r]->warps; w++)
            any |= cluster->warp[r][w].arrived != 0;
    }
    if (any)
        complete(cluster);
}

void cluster_lanes_exited(struct warp *warp) {
    if (warp->cluster)
        complete_if_due(warp->block->cluster);
}

static enum step misuse(struct warp *warp, const struct bound *bound, const struct bound *other, uint32_t lanes,
                        const char *what) {
    warp_report(warp, SIM_FINDING_CLUSTER_BARRIER, bound, other, first_lane(lanes), "%s", what);
    return warp_fatal(warp, SIM_LAUNCH_FAILURE);
}

// The default order is release; a relaxed arrival releases only what a fence before it covers.
static enum step run_arrive(struct warp *warp, const struct bound *bound, uint32_t mask) {
    struct cluster *cluster = warp->block->cluster;
    struct cluster_warp *mine = warp->cluster;
    bool relaxed = bound->ptx->flags & PTX_VOLATILE && !(bound->ptx->flags & PTX_RELEASE);
    if (mine->due & mask)
        return misuse(warp, bound, &warp->code[mine->arrive_pc], mine->due & mask,
                      "the thread executes the {op} after the {other}, with no barrier.cluster.wait between the two "
                      "arrivals [barrier-cluster-arrive]");
    mine->arrived |= mask;
    mine->due |= mask;
    mine->arrive_pc = pc_of(warp, bound);
    if (relaxed)
        race_cluster_release_fenced(warp, &cluster->arriving);
    else
        race_cluster_release(warp, &cluster->arriving);
    race_advance_clock(warp, false, true);
    complete_if_due(cluster);
    return STEP_NEXT;
}

static enum step run_wait(struct warp *warp, const struct bound *bound, uint32_t mask) {
    const struct cluster *cluster = warp->block->cluster;
    struct cluster_warp *mine = warp->cluster;
    if (mask & ~mine->due)
        return misuse(warp, bound, NULL, mask & ~mine->due,
                      "the thread executes the {op} without a preceding barrier.cluster.arrive "
                      "[barrier-cluster-wait]");
    if (mine->arrived & mask)
        return warp_wait(warp, mask);
    mine->due &= ~mask;
    mine->waited = cluster->phase;
    race_cluster_acquire(warp, cluster->completed, true);
    race_sync_lanes(warp, mask);
    return STEP_NEXT;
}

bool cluster_describe(const struct warp *warp, const struct split *split, char *text, size_t size) {
    const struct cluster *cluster = warp->block->cluster;
    size_t length = 0;
    if (warp->code[split->pc].ptx->opcode != PTX_OP_BARRIER_CLUSTER_WAIT || split->state != SPLIT_AT_EVENT)
        return false;
    length += (size_t)snprintf(text, size, "barrier.cluster; missing arrivals:");
    for (unsigned r = 0; r < cluster->blocks && length < size; r++) {
        const struct sim_dim *at = &cluster->block[r]->index;
        if (missing(cluster, r))
            length += (size_t)snprintf(text + length, size - length, " %u threads of block (%u,%u,%u)",
                                       missing(cluster, r), at->x, at->y, at->z);
    }
    return true;
}

bool bind_cluster_barrier(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    bound->kind = BOUND_RUN;
    bound->run = ptx->opcode == PTX_OP_BARRIER_CLUSTER_WAIT ? run_wait : run_arrive;
    binder->kernel->clusters = true;
    return true;
}

// ---- Addresses -----------------------------------------------------------------------------------------------------

static uint64_t source_of(const struct warp *warp, const struct bound *bound, int lane) {
    return bound->width == 64 ? cells64(warp, bound->a)[lane] : cells32(warp, bound->a)[lane];
}

// A generic address has to be in the window of shared memory.
static bool is_shared(struct warp *warp, const struct bound *bound, uint64_t address, int lane) {
    if (bound->ptx->space != PTX_GENERIC || (address & WINDOW_MASK) == SIM_SHARED_WINDOW)
        return true;
    warp_report(warp, SIM_FINDING_CLUSTER_ADDRESS, bound, NULL, lane,
                "{op} maps address 0x%llx to another block of the cluster, but the address is not in shared memory",
                (unsigned long long)address);
    warp_fatal(warp, SIM_ILLEGAL_ADDRESS);
    return false;
}

// A rank that the cluster does not have is reported when the address is used.
static enum step run_mapa(struct warp *warp, const struct bound *bound, uint32_t mask) {
    uint64_t wide[LANES] = {0};
    uint32_t narrow[LANES] = {0};
    for (uint32_t left = mask; left; left &= left - 1) {
        int lane = first_lane(left);
        uint64_t address = source_of(warp, bound, lane), rank = cells32(warp, bound->b)[lane];
        if (!is_shared(warp, bound, address, lane))
            return STEP_STOP;
        rank = rank < UINT8_MAX - 1 ? rank : UINT8_MAX - 1;
        wide[lane] = (address & (WINDOW_MASK | CLUSTER_OFFSET)) | (rank + 1) << CLUSTER_SHIFT;
        narrow[lane] = (uint32_t)wide[lane];
    }
    if (bound->width == 64)
        warp_write64(warp, bound->d, wide, mask);
    else
        warp_write32(warp, bound->d, narrow, mask);
    return STEP_NEXT;
}

static enum step run_rank(struct warp *warp, const struct bound *bound, uint32_t mask) {
    uint32_t rank[LANES] = {0};
    for (uint32_t left = mask; left; left &= left - 1) {
        int lane = first_lane(left);
        uint64_t address = source_of(warp, bound, lane), of = (address & ~WINDOW_MASK) >> CLUSTER_SHIFT;
        if (!is_shared(warp, bound, address, lane))
            return STEP_STOP;
        rank[lane] = of ? (uint32_t)of - 1 : warp->block->rank;
    }
    warp_write32(warp, bound->d, rank, mask);
    return STEP_NEXT;
}

static bool bind_address(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound,
                         bound_run *run) {
    bound->kind = BOUND_RUN;
    bound->run = run;
    bound->width = is_64_bit(ptx->type) ? 64 : 32;
    bound->a = bind_source(binder, &ptx->src[0], ptx->type);
    bound->d = bind_result(binder, &ptx->dst[0]);
    bound->space = PTX_PARAM; // not an access: keeps it out of shared memory's shadow
    return bound->a != NO_OPERAND && (ptx->space == PTX_SHARED || (ptx->space == PTX_GENERIC && bound->width == 64)) &&
           (ptx->type == PTX_U32 || ptx->type == PTX_U64);
}

bool bind_mapa(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    bound->b = bind_source(binder, &ptx->src[1], PTX_U32);
    return bind_address(binder, ptx, bound, run_mapa) && bound->b != NO_OPERAND;
}

bool bind_rank(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    return bind_address(binder, ptx, bound, run_rank);
}
