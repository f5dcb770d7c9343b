#include "estimate.h"

#include <math.h>

// What an H200 does, per SM and cycle where nothing else is said. SMs, lanes and products: NVIDIA's H100 white paper
// and the CUDA C++ Programming Guide; clock: that of all rows in fp32 of results/nvidia-h200; measured there:
// mma.sync's share of the tensor cores' rate and the bandwidth of device memory (ceilings.csv), that of L2 (bytes by
// the share that Nsight Compute gives them in profile.csv), and by how much the power limit lowers the clock where
// tensor cores work all the time (the cycles that Nsight Compute counts of lessons 08 to 14, beside their times).
static const struct gpu {
    double sms, clock, slowdown; // cycles a microsecond; the share of them that tensor cores may cost
    double schedulers, fma_warps, alu_warps, xu_warps, passes;
    double products, mma_share;      // multiply-adds in 16 bits
    double l2_bytes_sm, l1_bytes_sm; // from L2 to an SM, and from its L1
    double l2_bytes, dram_bytes;     // a microsecond, of the whole GPU
    double l1_bytes;                 // of an SM, shared memory included
} h200 = {
    .sms = 132,
    .clock = 1980,
    .slowdown = 0.2,
    .schedulers = 4,
    .fma_warps = 4,
    .alu_warps = 2,
    .xu_warps = 0.5,
    .passes = 1,
    .products = 2048,
    .mma_share = 0.655,
    .l2_bytes_sm = 64,
    .l1_bytes_sm = 128,
    .l2_bytes = 10.5e6,
    .dram_bytes = 4.15e6,
    .l1_bytes = 256 << 10,
};

// Chosen, not measured: so that lessons 01, 02, 05, 08, 10 and 13 come out. The others are the test.
static const double in_order = 1.15;      // the way through a block as ptxas orders it, of that by what waits for what
static const double turns_overlap = 1.25; // 1: what other blocks need comes behind that way; large: during it
static const double parts_overlap = 2;    // the same of that, of shared memory and of what loads bring
static const double block_cycles = 2000;  // of the way through a block, until it has its place and what it begins with
static const double launch_us = 4;        // until the first block begins, and from the last one's end

enum part { ISSUE, XU, SHARED, TENSOR, L2, DRAM, PARTS };
static const char *const part_name[PARTS] = {
    "issue slots", "exponentials and conversions", "shared memory", "tensor cores", "L2 cache", "device memory",
};

enum { SECTOR_BYTES = 32 };

// (a^p + b^p)^(1/p): between the sum and the larger one.
static double both(double a, double b, double power) {
    double larger = fmax(a, b), smaller = fmin(a, b);
    return larger > 0 ? larger * pow(1 + pow(smaller / larger, power), 1 / power) : 0;
}

// What one of so many blocks on an SM loads, in bytes.
static double loaded(const struct work *work) {
    return work->count[WORK_MISSED_SECTORS] / work->blocks_run * SECTOR_BYTES;
}

// What of it comes from L2: what the others have loaded is found in L1, as far as their shared memory leaves room.
static double from_l2(const struct gpu *gpu, const struct work *work, double blocks) {
    double others = blocks > 1 ? (blocks - 1) / blocks : 0;
    return loaded(work) * (1 - others * fmax(0, 1 - blocks * work->shared_bytes / gpu->l1_bytes));
}

// Cycles that each part of an SM works for one block; of L2: that L1 takes to hand on what it has, or waits for.
static void of_block(const struct gpu *gpu, const struct work *work, double blocks_on_sm, double cycles[PARTS]) {
    double one[WORK_COUNTS], l2 = from_l2(gpu, work, blocks_on_sm);
    for (int c = 0; c < WORK_COUNTS; c++)
        one[c] = work->count[c] / work->blocks_run;
    double units = fmax(one[WORK_FMA] / gpu->fma_warps, one[WORK_ALU] / gpu->alu_warps);
    cycles[ISSUE] = fmax(one[WORK_ISSUE] / gpu->schedulers, units);
    cycles[XU] = one[WORK_XU] / gpu->xu_warps;
    cycles[SHARED] = (one[WORK_PASSES] + one[WORK_WAVEFRONTS]) / gpu->passes;
    cycles[TENSOR] = one[WORK_MMA] / (gpu->products * gpu->mma_share) + one[WORK_WGMMA] / gpu->products;
    cycles[L2] = l2 / gpu->l2_bytes_sm + (loaded(work) - l2) / gpu->l1_bytes_sm;
    cycles[DRAM] = 0;
}

// Of so many blocks on an SM. On its way through one of them its own warps have taken turns already at all but shared
// memory and L1.
static double of_wave(double blocks, double way, const double cycles[PARTS]) {
    double own = fmax(fmax(cycles[ISSUE], cycles[XU]), cycles[TENSOR]);
    double turns = both(way, (blocks - 1) * own, turns_overlap);
    double memory = both(blocks * cycles[SHARED], blocks * cycles[L2], parts_overlap);
    return fmax(both(turns, memory, parts_overlap), blocks * own);
}

// Blocks come in waves, as many at a time as fit.
static double of_launch(const struct gpu *gpu, const struct work *work, double busy_us[PARTS]) {
    double fit = fmax(1, round(work->resident_blocks / gpu->sms)), cycles[PARTS];
    double waves = floor(work->blocks / (gpu->sms * fit)), rest = work->blocks - waves * gpu->sms * fit;
    of_block(gpu, work, fmin(fit, fmax(1, work->blocks / gpu->sms)), cycles);
    double way = block_cycles + in_order * work->count[WORK_CYCLES] / work->blocks_run;
    double time = waves * of_wave(fit, way, cycles);
    if (rest > 0)
        time += of_wave(ceil(rest / gpu->sms), way, cycles);
    double l2 = from_l2(gpu, work, fit) * work->blocks / gpu->l2_bytes;
    for (int p = 0; p < PARTS; p++)
        busy_us[p] += p == L2 ? l2 : cycles[p] * work->blocks / gpu->sms / gpu->clock;
    return fmax(time / gpu->clock, l2);
}

struct estimate estimate_of(const struct works *works, double bytes) {
    double busy[PARTS] = {0}, us = 0;
    int most = 0, next = -1;
    for (int i = 0; i < works->launches; i++)
        us += of_launch(&h200, &works->launch[i], busy);
    double slower = us > 0 ? 1 / (1 - h200.slowdown * busy[TENSOR] / us) : 1;
    us *= slower;
    for (int p = 0; p < PARTS; p++)
        busy[p] *= slower;
    busy[DRAM] = bytes / h200.dram_bytes;
    us = fmax(us, busy[DRAM]) + launch_us * works->launches;
    for (int p = 0; p < PARTS; p++)
        most = busy[p] > busy[most] ? p : most;
    for (int p = 0; p < PARTS; p++)
        if (p != most && busy[p] >= (1 - ESTIMATE_TIE) * busy[most])
            next = p;
    return (struct estimate){us, part_name[most], next < 0 ? NULL : part_name[next], busy[most] / us};
}
