// What a run asks of the parts of a GPU, counted by the simulator on a sample of each launch's blocks
// (simulator/traffic/work.h): for an estimate of its time.
#ifndef WORK_H
#define WORK_H

#include "csv.h"

#include <stdbool.h>

// Of all blocks that were run. Slots and warp instructions of the schedulers' units; passes through shared memory, of
// shuffles and barriers and of accesses; multiply-adds of mma.sync and wgmma; sectors of 32 bytes that L1 does not
// hold; cycles of the longest way through a block, added up.
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

// A launch.
struct work {
    double blocks, blocks_run, resident_blocks; // of the grid; those that were run; as many as the GPU holds at a time
    double shared_bytes;                        // of a block
    double count[WORK_COUNTS];
};

enum { MOST_LAUNCHES = 16 };
struct works {
    char dtype[8], shape[64]; // "bf16"; "1,16,4096,64"
    bool causal;
    int launches;
    struct work launch[MOST_LAUNCHES];
};

// A row of a file that the simulator or scripts/record-work has written.
struct work work_of_row(const struct csv *csv, int row);

// Runs a kernel on the simulator, for so many seconds at most. The words are those of teach trace; a shape that they do
// not name is the operation's. 0, or the status of a run that failed, or that launched nothing.
int work_run(const char *seconds, int count, char **word, struct works *works);

// Bytes of the inputs, read once, and of the outputs, written once.
double work_bytes(const struct works *works);

#endif
