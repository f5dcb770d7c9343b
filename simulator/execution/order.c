// The order of blocks and warps: see order.h.
#include "order.h"

#include "launch.h"

#include "../machine/control.h"

#include "../simulator.h"

#define WARPGROUP_WARPS 4
#define PAIRS 8
#define LEAST_APART 256
#define PAUSES 2 // of a block that has just taken a lock or raised a flag

// The finalizer of splitmix64.
static uint64_t mix(uint64_t x) {
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

static uint64_t common_divisor(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

// A permutation of 0 .. count - 1: descending, or with a random stride.
static uint64_t permuted(uint64_t random, uint64_t number, uint64_t count) {
    if (count < 2 || random % 2)
        return number;
    if (random % 4 == 0)
        return count - 1 - number;
    uint64_t step = 1 + (random >> 8) % (count - 1);
    while (common_divisor(step, count) != 1)
        step--;
    return (uint64_t)(((unsigned __int128)number * step + (random >> 40)) % count);
}

// The width of the grid of blocks, or of clusters, of a launch that is run partially.
static uint64_t width_of(const struct run *run) {
    return run->launch->grid.x / run->launch->cluster.x;
}

void order_begin(struct run *run) {
    uint64_t most = run->options.sample / 2 * 2, width = width_of(run), apart = LEAST_APART;
    while (2 * apart < width)
        apart *= 2;
    run->pair_distance = run->options.budget && width > apart && sim_dim_size(run->launch->cluster) == 1 ? apart : 0;
    run->units_to_run = most && most < run->units ? most : run->units;
    run->represented_blocks = (run->units + run->units_to_run / 2) / run->units_to_run;
}

// Pairs of blocks at the same distance from the first and from the last one: if work grows with the row, each pair has
// twice the mean. The golden ratio spreads the pairs.
static uint64_t sampled(const struct run *run, uint64_t number) {
    double part = 0.618033988749895 * (double)(number / 2 + 1);
    uint64_t block = (uint64_t)((part - (double)(uint64_t)part) * (double)run->units);
    return number % 2 ? run->units - 1 - block : block;
}

// Keeps groups of PAIRS neighbours together, and starts with the last ones.
static uint64_t permuted_groups(uint64_t random, uint64_t number, uint64_t count) {
    uint64_t rest = count % PAIRS;
    if (number < rest)
        return count - rest + number;
    number -= rest;
    return permuted(random, number / PAIRS, count / PAIRS) * PAIRS + number % PAIRS;
}

// The column of the grid that is the number-th in the order: the last columns, each with the one pair_distance before
// it, then the others.
static uint64_t column_of(const struct run *run, uint64_t number, uint64_t width) {
    uint64_t random = mix(run->options.order), apart = run->pair_distance;
    uint64_t pairs = width - apart < PAIRS ? width - apart : PAIRS;
    if (!apart)
        return permuted_groups(random, number, width);
    if (number < 2 * pairs)
        return width - 1 - number / 2 - (number % 2 ? apart : 0);
    uint64_t other = permuted_groups(random, number - 2 * pairs, width - 2 * pairs);
    return other < width - pairs - apart ? other : other + pairs;
}

// Blocks with equal blockIdx.x one after the other, in the same order as in another launch of this size.
static uint64_t column_major(const struct run *run, uint64_t number) {
    uint64_t width = width_of(run), others = run->units / width;
    return column_of(run, number / others, width) +
           width * permuted_groups(mix(run->options.order), number % others, others);
}

uint64_t order_block(const struct run *run, uint64_t number) {
    if (run->units_to_run < run->units)
        return sampled(run, number);
    if (run->options.budget)
        return column_major(run, number);
    uint64_t seed = run->options.order;
    return seed && !run->recording ? permuted(mix(seed), number, run->units) : number;
}

unsigned order_warp(const struct block *block, unsigned number) {
    uint64_t seed = block->run->options.order;
    return seed && !block->run->recording ? (unsigned)permuted(mix(mix(seed) + block->number), number, block->warps)
                                          : number;
}

unsigned order_in_cluster(const struct cluster *cluster, unsigned number) {
    uint64_t seed = cluster->run->options.order;
    return seed ? (unsigned)permuted(mix(mix(seed) + ~cluster->number), number, cluster->blocks) : number;
}

// In three of four blocks, defers one warpgroup, or one warp if the block has no more than one warpgroup.
static uint32_t choose_deferred(const struct block *block, uint64_t random) {
    unsigned width = block->warps > WARPGROUP_WARPS ? WARPGROUP_WARPS : 1, groups = (block->warps + width - 1) / width;
    if (random % 4 == 0 || groups < 2)
        return 0;
    return ((1u << width) - 1) << width * ((random >> 8) % groups);
}

void order_start(struct block *block) {
    uint64_t seed = block->run->options.order;
    uint64_t random = seed && !block->run->recording ? mix(mix(~seed) + block->number) : 0;
    block->deferred = random ? choose_deferred(block, random) : 0;
    block->random_turns = random >> 32 & 1;
    block->random_landing = random >> 33 & 1;
    block->pauses = random >> 34 & 3 ? PAUSES : 0;
    block->paused = false;
    block->random_state = random | 1;
}

bool order_budget_spent(const struct run *run) {
    return run->options.budget && atomic_load(&run->warp_instructions) >= run->options.budget;
}

void simulator_set_order(uint64_t seed) {
    if (control_is_open())
        sim_options()->order = seed;
}
