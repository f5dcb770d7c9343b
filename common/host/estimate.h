// The remaining time of a bench, from its measurements so far and the rest of its plan.
#ifndef HOST_ESTIMATE_H
#define HOST_ESTIMATE_H

#include "arguments.h"

// Units of a group take time in proportion to each other: the ceilings are one, each operation in each type another.
enum { GROUP_CEILINGS, GROUPS = 32, MOST_UNITS = 320 };

// A shape, or another step of the plan. A kernel takes time in proportion to the work of a unit.
struct estimate_unit {
    int group;
    double work;   // FLOPs or bytes, > 0
    double budget; // seconds that are meant for its timings
    int passes;    // how often each kernel is timed: 2 where cold and warm
    bool done;
};

struct estimate {
    struct estimate_unit unit[MOST_UNITS]; // [units], in the order in which they are taken
    int units, current;                    // current == units: none
    struct {
        double rate[MAX_KERNELS]; // [kernels], seconds that a launch takes for each unit of work
        int kernels, seen;        // of the last unit that is done, of the current one
        double overhead;          // seconds of the last unit beside its launches
        bool known;
    } group[GROUPS];
    double taken, budget; // of the units that were timed here
};

// False if the plan is full.
bool estimate_add(struct estimate *estimate, struct estimate_unit unit);

// Unit i begins.
void estimate_begin(struct estimate *estimate, int i);

// A launch of the next kernel of the current unit takes so long; kernels come in the order of the list.
void estimate_kernel(struct estimate *estimate, double seconds);

// The current unit is done, after this time.
void estimate_done(struct estimate *estimate, double seconds);

// The remaining seconds, after `elapsed` in the current unit; below 0 if nothing was measured yet.
double estimate_remaining(const struct estimate *estimate, double elapsed);

// The number of units that are done.
int estimate_finished(const struct estimate *estimate);

#endif
