// The order of blocks and warps, and the budget of launches: see order.h and simulator.h.
#include "order.h"

#include "launch.h"

#include "../simulator.h"

#define WARPGROUP_WARPS 4

static unsigned long cut_launches;

// The finaliser of splitmix64.
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

// Backwards, or with steps of any width: a permutation of 0 .. count - 1.
static uint64_t permuted(uint64_t chance, uint64_t number, uint64_t count) {
    if (count < 2 || chance % 2)
        return number;
    if (chance % 4 == 0)
        return count - 1 - number;
    uint64_t step = 1 + (chance >> 8) % (count - 1);
    while (common_divisor(step, count) != 1)
        step--;
    return (uint64_t)(((unsigned __int128)number * step + (chance >> 40)) % count);
}

void order_begin(struct run *run) {
    uint64_t most = run->options.sample / 2 * 2;
    run->to_run = most && most < run->units ? most : run->units;
    run->stands_for = (run->units + run->to_run / 2) / run->to_run;
}

// Pairs of blocks as far from the first as from the last: where work grows with the row, a pair has twice the mean. The
// golden ratio spreads them.
static uint64_t sampled(const struct run *run, uint64_t number) {
    double part = 0.618033988749895 * (double)(number / 2 + 1);
    uint64_t block = (uint64_t)((part - (double)(uint64_t)part) * (double)run->units);
    return number % 2 ? run->units - 1 - block : block;
}

uint64_t order_block(const struct run *run, uint64_t number) {
    if (run->to_run < run->units)
        return sampled(run, number);
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

// Of four blocks three hold back one of their warpgroups, or one warp where they have no more.
static uint32_t held_back(const struct block *block, uint64_t chance) {
    unsigned width = block->warps > WARPGROUP_WARPS ? WARPGROUP_WARPS : 1, groups = (block->warps + width - 1) / width;
    if (chance % 4 == 0 || groups < 2)
        return 0;
    return ((1u << width) - 1) << width * ((chance >> 8) % groups);
}

void order_start(struct block *block) {
    uint64_t seed = block->run->options.order;
    uint64_t chance = seed && !block->run->recording ? mix(mix(~seed) + block->number) : 0;
    block->held = chance ? held_back(block, chance) : 0;
    block->any_turn = chance >> 32 & 1;
    block->any_landing = chance >> 33 & 1;
    block->chance = chance | 1;
}

bool order_spent(const struct run *run) {
    return run->options.budget && atomic_load(&run->warp_instructions) >= run->options.budget_left;
}

void order_end(const struct run *run) {
    struct sim_options *options = sim_options();
    uint64_t executed = atomic_load(&run->warp_instructions);
    cut_launches += order_spent(run);
    options->budget_left = executed < options->budget_left ? options->budget_left - executed : 0;
}

void simulator_order(uint64_t seed) {
    sim_options()->order = seed;
}

void simulator_budget(uint64_t warp_instructions) {
    struct sim_options *options = sim_options();
    options->budget = warp_instructions;
    options->budget_left = warp_instructions;
}

unsigned long simulator_cut_launches(void) {
    return cut_launches;
}
