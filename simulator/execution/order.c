// The order of blocks and warps: see order.h.
#include "order.h"

#include "launch.h"

#include "../machine/control.h"

#include "../simulator.h"

#define WARPGROUP_WARPS 4
#define PAIRS 8
#define LEAST_APART 256

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

// Of a launch that is run in part, the grid of its blocks, or of its clusters.
static uint64_t width_of(const struct run *run) {
    return run->launch->grid.x / run->launch->cluster.x;
}

void order_begin(struct run *run) {
    uint64_t most = run->options.sample / 2 * 2, width = width_of(run), apart = LEAST_APART;
    while (2 * apart < width)
        apart *= 2;
    run->pairs_apart = run->options.budget && width > apart && sim_dim_size(run->launch->cluster) == 1 ? apart : 0;
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

// Neighbours stay together, PAIRS of them, and the last ones come first.
static uint64_t in_groups(uint64_t chance, uint64_t number, uint64_t count) {
    uint64_t rest = count % PAIRS;
    if (number < rest)
        return count - rest + number;
    number -= rest;
    return permuted(chance, number / PAIRS, count / PAIRS) * PAIRS + number % PAIRS;
}

// Which column of the grid is the number-th: the last ones, each with the one pairs_apart before it, then the others.
static uint64_t column(const struct run *run, uint64_t number, uint64_t width) {
    uint64_t chance = mix(run->options.order), apart = run->pairs_apart;
    uint64_t pairs = width - apart < PAIRS ? width - apart : PAIRS;
    if (!apart)
        return in_groups(chance, number, width);
    if (number < 2 * pairs)
        return width - 1 - number / 2 - (number % 2 ? apart : 0);
    uint64_t other = in_groups(chance, number - 2 * pairs, width - 2 * pairs);
    return other < width - pairs - apart ? other : other + pairs;
}

// Blocks with equal blockIdx.x one after the other, in the order in which those of another launch with as many come.
static uint64_t in_part(const struct run *run, uint64_t number) {
    uint64_t width = width_of(run), others = run->units / width;
    return column(run, number / others, width) + width * in_groups(mix(run->options.order), number % others, others);
}

uint64_t order_block(const struct run *run, uint64_t number) {
    if (run->to_run < run->units)
        return sampled(run, number);
    if (run->options.budget)
        return in_part(run, number);
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
    return run->options.budget && atomic_load(&run->warp_instructions) >= run->options.budget;
}

void simulator_order(uint64_t seed) {
    if (control_is_open())
        sim_options()->order = seed;
}
