// Time stamps of the iterations of a main loop, as a kernel with a solution's stamps.patch passes them to stamps.c.
#pragma once

#include "attention.h"

#include <stdint.h>

// The points of an iteration. A segment is the time between a point and the next one. A kernel has no STAMP_PV_WAIT if
// no exponentials come before the wait for P V, and no STAMP_EXPONENTIATED if weights are rounded between exponentials.
enum stamp_point {
    STAMP_BEGIN,         // of the iteration
    STAMP_PINGPONG,      // K of the tile has arrived, and the ping-pong barrier has been passed
    STAMP_ISSUED,        // Q K^T and P V are issued
    STAMP_QK_DONE,       // Q K^T is complete
    STAMP_VOTED,         // the warp vote is known, and the row maxima are updated if necessary
    STAMP_PV_WAIT,       // the exponentials before the wait for P V are computed
    STAMP_PV_DONE,       // P V of the previous tile is complete
    STAMP_EXPONENTIATED, // all exponentials are computed
    STAMP_END,           // all weights are rounded; the next iteration follows
    STAMP_POINTS
};

enum { STAMP_BLOCKS = 512, STAMP_WARPGROUPS = 4 }; // at most

// Per warpgroup: the sum of the clock at each point, modulo 2^32, over `steps` iterations; 0 if the kernel lacks the
// point. The difference of two sums is the time of the segment between the two points.
struct stamp_sums {
    uint32_t clock[STAMP_POINTS], steps;
};

struct stamps {
    struct stamp_sums of[STAMP_BLOCKS][STAMP_WARPGROUPS]; // of absent blocks and warpgroups: 0 steps
};

// The tile of scores that a block computes in an iteration.
struct stamp_tile {
    int warpgroups, queries, keys;
};

// The additional export of such a kernel: the stamps of the last launch, and the tile for a problem.
typedef cudaError_t attention_stamps_function(const struct attention_problem *p, struct stamps *stamps,
                                              struct stamp_tile *tile);
