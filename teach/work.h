// The work that a run gives to each unit of a GPU, counted by the simulator on a sample of each launch's blocks
// (simulator/traffic/work.h). The estimate of the time is made from it.
#ifndef WORK_H
#define WORK_H

#include "csv.h"

#include <stdbool.h>

// Sums over the blocks that were run: issue slots; warp instructions of the FMA, ALU and XU pipes; shared-memory
// cycles of shuffles and barriers (passes) and of accesses (wavefronts); multiply-adds of mma.sync and wgmma; 32-byte
// sectors that miss L1; cycles on the critical path of a block.
enum work_count {
    WORK_ISSUE,
    WORK_FMA,
    WORK_ALU,
    WORK_XU,
    WORK_PASSES,
    WORK_MMA,
    WORK_WGMMA,
    WORK_WAVEFRONTS,
    WORK_MISSED_SECTORS,
    WORK_CYCLES,
    WORK_COUNTS
};

// Of one launch.
struct work {
    double blocks, blocks_run, resident_blocks; // of the grid; simulated; resident on the GPU at a time
    double shared_bytes;                        // per block
    double count[WORK_COUNTS];
};

enum { MAX_LAUNCHES = 16 };
struct run_work {
    char dtype[8], shape[64]; // "bf16"; "1,16,4096,64"
    bool causal;
    int launches;
    struct work launch[MAX_LAUNCHES];
};

// From a row of a CSV file of the simulator or of scripts/record-work.
struct work work_from_row(const struct csv *csv, int row);

// Runs a kernel on the simulator, for at most `seconds`. The arguments are those of teach trace; the default shape is
// the one that the operation names for this. Returns 0, or a nonzero status if the run failed or launched nothing.
int work_run(const char *seconds, int count, char **word, struct run_work *run_work);

// Compulsory traffic: each input read once, each output written once.
double work_bytes(const struct run_work *run_work);

#endif
