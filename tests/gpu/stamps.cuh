// Time stamps for a kernel with a solution's stamps.patch: consumer threads read the clock at the points of an
// iteration (stamps.h) and keep the sums in registers; one thread of each warpgroup writes them at the end.
#pragma once

#include "accumulator_layout.cuh"
#include "kernel_config.cuh"
#include "stamps.h"

static __device__ struct stamps stamps_of_launch;

struct Stamps {
    struct stamp_sums sums = {};

    // counts: whether the iteration is added to the sums. The addition is predicated, since ptxas would serialize
    // wgmmas around a branch. Sums of clocks, not of differences, save one register.
    __device__ inline void record(int point, bool counts = true) {
        asm volatile("{.reg .pred counts;\n .reg .u32 now;\n setp.ne.u32 counts, %1, 0;\n mov.u32 now, %%clock;\n"
                     "@counts add.u32 %0, %0, now;}"
                     : "+r"(sums.clock[point])
                     : "r"((int)counts)
                     : "memory");
        if (point == STAMP_END)
            sums.steps += counts;
    }

    __device__ inline void write(int warpgroup) const {
        if (threadIdx.x % WARPGROUP_SIZE == 0 && blockIdx.x < STAMP_BLOCKS)
            stamps_of_launch.of[blockIdx.x][warpgroup] = sums;
    }
};

static cudaError_t read_stamps(const struct KernelConfig *config, struct stamps *stamps, struct stamp_tile *tile) {
    static const struct stamps none = {}; // the next launch may have fewer blocks
    *tile = {config->threads / WARPGROUP_SIZE - 1, config->queries, config->keys};
    cudaError_t error = cudaMemcpyFromSymbol(stamps, stamps_of_launch, sizeof none);
    return error == cudaSuccess ? cudaMemcpyToSymbol(stamps_of_launch, &none, sizeof none) : error;
}
