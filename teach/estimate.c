#include "estimate.h"

#include <math.h>

// What an H200 does, per SM and cycle where nothing else is said. SMs, lanes and products: NVIDIA's H100 white paper
// and the CUDA C++ Programming Guide; clock: that of all rows of results/nvidia-h200; measured there: mma.sync's share
// of the tensor cores' rate and the bandwidth of device memory (ceilings.csv), that of L2 (bytes by the share that
// Nsight Compute gives them in profile.csv).
static const struct gpu {
    double sms, clock; // cycles a microsecond
    double schedulers, fma_warps, alu_warps, xu_warps, passes;
    double products, mma_share;  // multiply-adds in 16 bits
    double l2_bytes_sm;          // from L2 to an SM
    double l2_bytes, dram_bytes; // a microsecond, of the whole GPU
} h200 = {
    .sms = 132,
    .clock = 1980,
    .schedulers = 4,
    .fma_warps = 4,
    .alu_warps = 2,
    .xu_warps = 0.5,
    .passes = 1,
    .products = 2048,
    .mma_share = 0.655,
    .l2_bytes_sm = 64,
    .l2_bytes = 10.5e6,
    .dram_bytes = 4.15e6,
};

// Chosen, not measured: so that lessons 01, 02, 05, 08, 10 and 13 come out. The others are the test.
static const double parts_overlap = 2;   // 1: what parts need adds up; large: all of it overlaps
static const double waits_overlap = 1.6; // the same of what all parts need and of the longest way through a block
static const double shared_in_l1 = 0.5;  // of what the blocks of an SM all load, found there by those that come later
static const double block_cycles = 2000; // of the way through a block, until it has its place and what it begins with
static const double launch_us = 4;       // until the first block begins, and from the last one's end

enum part { ISSUE, XU, SHARED, TENSOR, L2, DRAM, PARTS };
static const char *const part_name[PARTS] = {
    "issue slots", "exponentials and conversions", "shared memory", "tensor cores", "L2 cache", "device memory",
};

enum { SECTOR_BYTES = 32 };

// (a^p + b^p + ...)^(1/p): between the sum and the largest.
static double combined(const double *part, int parts, double power) {
    double largest = 0, sum = 0;
    for (int i = 0; i < parts; i++)
        largest = fmax(largest, part[i]);
    for (int i = 0; i < parts && largest > 0; i++)
        sum += pow(part[i] / largest, power);
    return largest * pow(sum, 1 / power);
}

static double both(double a, double b, double power) {
    return combined((const double[]){a, b}, 2, power);
}

// Sectors that come from L2 where so many blocks are on an SM.
static double from_l2(const struct work *work, double blocks) {
    double others = blocks > 1 ? (blocks - 1) / blocks : 0;
    return work->count[WORK_MISSED_SECTORS] / work->blocks_run * SECTOR_BYTES * (1 - shared_in_l1 * others);
}

// Cycles that each part of an SM works for one block.
static void of_block(const struct gpu *gpu, const struct work *work, double blocks_on_sm, double cycles[PARTS]) {
    double one[WORK_COUNTS];
    for (int c = 0; c < WORK_COUNTS; c++)
        one[c] = work->count[c] / work->blocks_run;
    double units = fmax(one[WORK_FMA] / gpu->fma_warps, one[WORK_ALU] / gpu->alu_warps);
    cycles[ISSUE] = fmax(one[WORK_ISSUE] / gpu->schedulers, units);
    cycles[XU] = one[WORK_XU] / gpu->xu_warps;
    cycles[SHARED] = (one[WORK_PASSES] + one[WORK_WAVEFRONTS]) / gpu->passes;
    cycles[TENSOR] = one[WORK_MMA] / (gpu->products * gpu->mma_share) + one[WORK_WGMMA] / gpu->products;
    cycles[L2] = from_l2(work, blocks_on_sm) / gpu->l2_bytes_sm;
    cycles[DRAM] = 0;
}

// Blocks come in waves, as many at a time as fit. What each part needs for an SM's blocks of a wave overlaps in part,
// and so does that with the longest way through one of them.
static double of_launch(const struct gpu *gpu, const struct work *work, double busy_us[PARTS]) {
    double fit = fmax(1, round(work->resident_blocks / gpu->sms)), cycles[PARTS];
    double waves = floor(work->blocks / (gpu->sms * fit)), rest = work->blocks - waves * gpu->sms * fit;
    of_block(gpu, work, fmin(fit, fmax(1, work->blocks / gpu->sms)), cycles);
    double all = combined(cycles, PARTS, parts_overlap),
           way = block_cycles + work->count[WORK_CYCLES] / work->blocks_run;
    double time = waves * both(fit * all, way, waits_overlap);
    if (rest > 0)
        time += both(ceil(rest / gpu->sms) * all, way, waits_overlap);
    double l2 = from_l2(work, fit) * work->blocks / gpu->l2_bytes;
    for (int p = 0; p < PARTS; p++)
        busy_us[p] += p == L2 ? l2 : cycles[p] * work->blocks / gpu->sms / gpu->clock;
    return both(time / gpu->clock, l2, parts_overlap);
}

struct estimate estimate_of(const struct works *works, double bytes) {
    double busy[PARTS] = {0}, us = 0;
    int most = 0;
    for (int i = 0; i < works->launches; i++)
        us += of_launch(&h200, &works->launch[i], busy);
    busy[DRAM] = bytes / h200.dram_bytes;
    us = both(us, busy[DRAM], parts_overlap) + launch_us * works->launches;
    for (int p = 0; p < PARTS; p++)
        most = busy[p] > busy[most] ? p : most;
    return (struct estimate){us, part_name[most], busy[most] / us};
}
