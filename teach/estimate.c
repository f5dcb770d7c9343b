#include "estimate.h"

#include <math.h>

// Peak rates of an H200, per SM and cycle unless a comment says otherwise. The number of SMs, the pipe widths and the
// MMA rate come from NVIDIA's H100 white paper and the CUDA C++ Programming Guide; the clock from the fp32 rows of
// results/nvidia-h200. Measured there: the fraction of the tensor cores' peak that mma.sync reaches and the bandwidth
// of device memory (ceilings.csv), the bandwidth of L2 (profile.csv), and how far the power limit lowers the clock
// while the tensor cores are busy (the cycles of Nsight Compute compared with the times of lessons 09 to 20).
static const struct gpu {
    double sms, clock, tensor_slowdown; // cycles per microsecond; fraction of them lost at full tensor load
    double schedulers, fma_warps, alu_warps, xu_warps, shared_passes;
    double mma_rate, mma_sync_fraction; // 16-bit multiply-adds
    double l2_bytes_sm, l1_bytes_sm;    // from L2 to an SM, from its own L1
    double l2_bytes, dram_bytes;        // per microsecond, of the whole GPU
    double l1_bytes;                    // capacity of an SM, shared memory included
} h200 = {
    .sms = 132,
    .clock = 1980,
    .tensor_slowdown = 0.2,
    .schedulers = 4,
    .fma_warps = 4,
    .alu_warps = 2,
    .xu_warps = 0.5,
    .shared_passes = 1,
    .mma_rate = 2048,
    .mma_sync_fraction = 0.655,
    .l2_bytes_sm = 64,
    .l1_bytes_sm = 128,
    .l2_bytes = 10.5e6,
    .dram_bytes = 4.15e6,
    .l1_bytes = 256 << 10,
};

// Fitted, not measured: to lessons 01, 02, 05, 09, 13 and 19. The other lessons are the held-out test set.
static const double schedule_stretch =
    1.15; // critical path in the order of ptxas / critical path of the dependencies alone
static const double issue_overlap = 1.25; // 1: issue time of other blocks adds to the critical path; large: it overlaps
static const double memory_overlap = 2;   // the same for issue time, shared memory and L2
static const double prologue_cycles = 2000; // of the critical path: block launch and first loads
static const double launch_overhead_us = 4; // before the first block starts and after the last block ends

enum unit { ISSUE, XU, SHARED, TENSOR, L2, DRAM, UNITS };
static const char *const unit_name[UNITS] = {
    "issue slots", "exponentials and conversions", "shared memory", "tensor cores", "L2 cache", "device memory",
};

enum { SECTOR_BYTES = 32 };

// Time of two activities that overlap in part, (a^p + b^p)^(1/p): a + b for p = 1, the longer one for large p.
static double overlap(double a, double b, double power) {
    double larger = fmax(a, b), smaller = fmin(a, b);
    return larger > 0 ? larger * pow(1 + pow(smaller / larger, power), 1 / power) : 0;
}

// Bytes that one block loads, hits in its own L1 lines excluded.
static double bytes_loaded(const struct work *work) {
    return work->count[WORK_MISSED_SECTORS] / work->blocks_run * SECTOR_BYTES;
}

// The part of these bytes that L2 delivers: the rest was loaded by other blocks of the SM and hits in L1, whose size is
// what shared memory leaves.
static double bytes_from_l2(const struct gpu *gpu, const struct work *work, double blocks) {
    double others = blocks > 1 ? (blocks - 1) / blocks : 0;
    return bytes_loaded(work) * (1 - others * fmax(0, 1 - blocks * work->shared_bytes / gpu->l1_bytes));
}

// Cycles for which one block keeps each unit of an SM busy; for L2, the cycles of transfers from L2 and from L1.
static void block_unit_cycles(const struct gpu *gpu, const struct work *work, double blocks_on_sm,
                              double cycles[UNITS]) {
    double per_block[WORK_COUNTS], l2 = bytes_from_l2(gpu, work, blocks_on_sm);
    for (int c = 0; c < WORK_COUNTS; c++)
        per_block[c] = work->count[c] / work->blocks_run;
    double units = fmax(per_block[WORK_FMA] / gpu->fma_warps, per_block[WORK_ALU] / gpu->alu_warps);
    cycles[ISSUE] = fmax(per_block[WORK_ISSUE] / gpu->schedulers, units);
    cycles[XU] = per_block[WORK_XU] / gpu->xu_warps;
    cycles[SHARED] = (per_block[WORK_PASSES] + per_block[WORK_WAVEFRONTS]) / gpu->shared_passes;
    cycles[TENSOR] =
        per_block[WORK_MMA] / (gpu->mma_rate * gpu->mma_sync_fraction) + per_block[WORK_WGMMA] / gpu->mma_rate;
    cycles[L2] = l2 / gpu->l2_bytes_sm + (bytes_loaded(work) - l2) / gpu->l1_bytes_sm;
    cycles[DRAM] = 0;
}

// Cycles of `blocks` concurrent blocks on an SM. The critical path of a block already contains the issue time of its
// own warps, but neither shared memory nor L1.
static double wave_cycles(double blocks, double critical_path, const double cycles[UNITS]) {
    double busiest_unit_cycles = fmax(fmax(cycles[ISSUE], cycles[XU]), cycles[TENSOR]);
    double issue_cycles = overlap(critical_path, (blocks - 1) * busiest_unit_cycles, issue_overlap);
    double memory = overlap(blocks * cycles[SHARED], blocks * cycles[L2], memory_overlap);
    return fmax(overlap(issue_cycles, memory, memory_overlap), blocks * busiest_unit_cycles);
}

// Blocks run in waves of all resident blocks; the last wave may be partial.
static double launch_us(const struct gpu *gpu, const struct work *work, double busy_us[UNITS]) {
    double resident = fmax(1, round(work->resident_blocks / gpu->sms)), cycles[UNITS];
    double waves = floor(work->blocks / (gpu->sms * resident)),
           remaining_blocks = work->blocks - waves * gpu->sms * resident;
    block_unit_cycles(gpu, work, fmin(resident, fmax(1, work->blocks / gpu->sms)), cycles);
    double critical_path = prologue_cycles + schedule_stretch * work->count[WORK_CYCLES] / work->blocks_run;
    double time = waves * wave_cycles(resident, critical_path, cycles);
    if (remaining_blocks > 0)
        time += wave_cycles(ceil(remaining_blocks / gpu->sms), critical_path, cycles);
    double l2 = bytes_from_l2(gpu, work, resident) * work->blocks / gpu->l2_bytes;
    for (int p = 0; p < UNITS; p++)
        busy_us[p] += p == L2 ? l2 : cycles[p] * work->blocks / gpu->sms / gpu->clock;
    return fmax(time / gpu->clock, l2);
}

struct estimate estimate_time(const struct run_work *run_work, double bytes) {
    double busy[UNITS] = {0}, us = 0;
    int busiest = 0, tied = -1;
    for (int i = 0; i < run_work->launches; i++)
        us += launch_us(&h200, &run_work->launch[i], busy);
    double clock_factor = us > 0 ? 1 / (1 - h200.tensor_slowdown * busy[TENSOR] / us) : 1;
    us *= clock_factor;
    for (int p = 0; p < UNITS; p++)
        busy[p] *= clock_factor;
    busy[DRAM] = bytes / h200.dram_bytes;
    us = fmax(us, busy[DRAM]) + launch_overhead_us * run_work->launches;
    for (int p = 0; p < UNITS; p++)
        busiest = busy[p] > busy[busiest] ? p : busiest;
    for (int p = 0; p < UNITS; p++)
        if (p != busiest && busy[p] >= (1 - TIE_TOLERANCE) * busy[busiest])
            tied = p;
    return (struct estimate){us, unit_name[busiest], tied < 0 ? NULL : unit_name[tied], busy[busiest] / us};
}
