// Blocks of a cluster run in turn, each until it needs the others. If none of them can continue, the cluster is in a
// deadlock, because no block outside can help.
#include "cluster.h"

#include "../machine/cluster.h"
#include "deadlock.h"
#include "order.h"

#include <stdlib.h>
#include <string.h>

unsigned unit_blocks(const struct run *run) {
    return (unsigned)sim_dim_size(run->launch->cluster);
}

static bool is_clustered(const struct run *run) {
    return unit_blocks(run) > 1 || run->kernel->clusters;
}

static void free_cluster(struct cluster *cluster) {
    for (unsigned r = 0; r < cluster->blocks; r++)
        if (cluster->block[r])
            block_free(cluster->block[r]);
    free(cluster->arriving);
    free(cluster->completed);
    free(cluster->clocks);
    free(cluster->reached);
    free(cluster);
}

// Assigns each warp its clocks, and each block its rank.
static bool join_blocks(struct cluster *cluster) {
    size_t clocks = cluster_clocks(cluster);
    unsigned warps = cluster->block[0]->warps;
    cluster->arriving = calloc(clocks, sizeof *cluster->arriving);
    cluster->completed = calloc(clocks, sizeof *cluster->completed);
    cluster->clocks = calloc(2 * clocks * warps * cluster->blocks, sizeof *cluster->clocks);
    cluster->reached = calloc((size_t)cluster->blocks * cluster->blocks * warps, sizeof *cluster->reached);
    if (!cluster->arriving || !cluster->completed || !cluster->clocks || !cluster->reached)
        return false;
    uint32_t *next = cluster->clocks;
    for (unsigned r = 0; r < cluster->blocks; r++) {
        struct block *block = cluster->block[r];
        block->cluster = cluster;
        block->rank = r;
        for (unsigned w = 0; w < warps; w++, next += 2 * clocks) {
            cluster->warp[r][w].known = next;
            cluster->warp[r][w].fenced = next + clocks;
            block->warp[w].cluster = &cluster->warp[r][w];
        }
    }
    return true;
}

struct block *unit_create(struct run *run) {
    if (!is_clustered(run))
        return block_create(run);
    struct cluster *cluster = calloc(1, sizeof *cluster);
    if (!cluster)
        return NULL;
    bool good = true;
    cluster->run = run;
    cluster->blocks = unit_blocks(run);
    for (unsigned r = 0; r < cluster->blocks && good; r++)
        good = (cluster->block[r] = block_create(run));
    if (!good || !join_blocks(cluster)) {
        free_cluster(cluster);
        return NULL;
    }
    return cluster->block[0];
}

void unit_free(struct block *first) {
    if (first->cluster)
        free_cluster(first->cluster);
    else
        block_free(first);
}

// The linear index in the grid of a cluster's block; blocks are numbered by x, then y, then z.
static uint64_t number_of(const struct cluster *cluster, unsigned rank) {
    const struct sim_launch *launch = cluster->run->launch;
    struct sim_dim size = launch->cluster, at = cluster->index;
    uint64_t x = (uint64_t)at.x * size.x + rank % size.x;
    uint64_t y = (uint64_t)at.y * size.y + rank / size.x % size.y;
    uint64_t z = (uint64_t)at.z * size.z + rank / size.x / size.y;
    return x + launch->grid.x * (y + launch->grid.y * z);
}

void unit_start(struct block *first, uint64_t number) {
    struct cluster *cluster = first->cluster;
    if (!cluster) {
        block_start(first, number);
        return;
    }
    const struct sim_launch *launch = cluster->run->launch;
    unsigned width = launch->grid.x / launch->cluster.x, height = launch->grid.y / launch->cluster.y;
    size_t clocks = cluster_clocks(cluster);
    cluster->number = number;
    cluster->index = (struct sim_dim){(unsigned)(number % width), (unsigned)(number / width % height),
                                      (unsigned)(number / width / height)};
    cluster->phase = 0;
    memset(cluster->arriving, 0, clocks * sizeof *cluster->arriving);
    memset(cluster->completed, 0, clocks * sizeof *cluster->completed);
    memset(cluster->clocks, 0, 2 * clocks * first->warps * cluster->blocks * sizeof *cluster->clocks);
    memset(cluster->reached, 0, (size_t)cluster->blocks * cluster->blocks * first->warps * sizeof *cluster->reached);
    for (unsigned r = 0; r < cluster->blocks; r++) {
        for (unsigned w = 0; w < first->warps; w++) {
            struct cluster_warp *warp = &cluster->warp[r][w];
            warp->arrived = warp->due = warp->waited = 0;
        }
        block_start(cluster->block[r], number_of(cluster, r));
    }
}

struct block *unit_block(struct block *first, unsigned i) {
    return first->cluster ? first->cluster->block[i] : first;
}

struct block *unit_first_running(struct block *first) {
    for (unsigned r = 0; first->cluster && r < first->cluster->blocks; r++)
        if (!first->cluster->block[r]->ended)
            return first->cluster->block[r];
    return first;
}

// One turn for each block that has threads left. *stands: none of them could execute anything.
static enum turn run_round(struct cluster *cluster, bool *stands) {
    enum turn all = TURN_DONE;
    *stands = true;
    for (unsigned i = 0; i < cluster->blocks; i++) {
        struct block *block = cluster->block[order_in_cluster(cluster, i)];
        uint64_t before = block->warp_instructions;
        if (block->ended)
            continue;
        enum turn turn = block_turn(block);
        if (turn == TURN_STOPPED)
            return turn;
        if (block->aborted) {
            for (unsigned r = 0; r < cluster->blocks; r++)
                cluster->block[r]->aborted = true;
            return TURN_DONE;
        }
        cluster->block[0]->changed |= block->changed;
        block->ended = turn == TURN_DONE;
        *stands &= turn == TURN_BLOCKED && block->warp_instructions == before;
        if (turn != TURN_DONE)
            all = all == TURN_WAITING || block->polls ? TURN_WAITING : TURN_BLOCKED;
    }
    return all;
}

enum turn unit_turn(struct block *first) {
    struct cluster *cluster = first->cluster;
    enum turn turn;
    bool stands, changed = false;
    if (!cluster)
        return block_turn(first);
    do {
        first->changed = false;
        turn = run_round(cluster, &stands);
        changed |= first->changed;
        if (turn == TURN_BLOCKED && stands) {
            deadlock_report(first);
            return TURN_STOPPED;
        }
    } while (turn == TURN_BLOCKED && !order_budget_spent(cluster->run));
    first->changed = changed;
    return turn == TURN_BLOCKED ? TURN_WAITING : turn;
}
