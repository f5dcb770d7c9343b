// Runs one kernel launch on host threads, with the enabled analyses.
#ifndef SIMULATOR_EXECUTION_LAUNCH_H
#define SIMULATOR_EXECUTION_LAUNCH_H

#include "../machine/launch.h"

struct sim_counts { // of one launch, or summed
    uint64_t warp_instructions, lane_instructions;
    double seconds; // on this host; unrelated to the time on a GPU
};

// The caller has checked grid, block and shared memory against the device. Runs to the end or to the first fatal
// finding; other findings (races, uninitialized reads) let the launch continue, are reported once each when it ends,
// and make it return SIM_LAUNCH_FAILURE.
enum sim_status sim_launch_run(const struct sim_launch *launch, struct sim_counts *counts);

struct sim_options *sim_options(void);

#endif
