// Time stamps of the steps of a main loop, as a kernel with a solution's stamps.patch gives them to stamps.c.
#pragma once

#include "attention.h"

#include <stdint.h>

// The points of a step. A segment of it is what lies between a point and the next one. A kernel has no STAMP_WAITING
// where no exponentials come before the wait, and no STAMP_WEIGHED where weights are rounded between exponentials.
enum stamp_point {
    STAMP_BEGIN,    // of the step
    STAMP_TURN,     // the tile's keys are there, and it is the warpgroup's turn
    STAMP_ASKED,    // both products are asked for
    STAMP_SCORES,   // the scores are there
    STAMP_VOTED,    // it is known whether maxima have to be raised, and they are
    STAMP_WAITING,  // the exponentials before the wait for the products are computed
    STAMP_PRODUCTS, // the products of the tile before are there
    STAMP_WEIGHED,  // all exponentials are computed
    STAMP_END,      // all weights are rounded; the next step follows
    STAMP_POINTS
};

enum { STAMP_BLOCKS = 512, STAMP_WARPGROUPS = 4 }; // at most

// Of a warpgroup: the sum of its clock at each point, modulo 2^32, over so many steps; 0 where there is no such point.
// The difference of two sums is the time of the segment between the two points.
struct stamp_sums {
    uint32_t clock[STAMP_POINTS], steps;
};

struct stamps {
    struct stamp_sums of[STAMP_BLOCKS][STAMP_WARPGROUPS]; // of those that there are not: 0 steps
};

// The scores that a block works on in a step.
struct stamp_tile {
    int warpgroups, queries, keys;
};

// What such a kernel exports beside attention_forward: the stamps of the last launch, and the tile for a problem.
typedef cudaError_t attention_stamps_function(const struct attention_problem *p, struct stamps *stamps,
                                              struct stamp_tile *tile);
