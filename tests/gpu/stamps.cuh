// What a solution's stamps.patch puts into its kernel: the threads that compute read their clock at the points of a
// step (stamps.h) and keep the sums in registers; one thread of each warpgroup writes them at the end.
#pragma once

#include "stamps.h"
#include "variant.cuh"
#include "warpgroup_rows.cuh"

static __device__ struct stamps stamps_of_launch;

struct Stamps {
    struct stamp_sums sums = {};

    // counts: whether the step is one of those that are summed up. The sum has a predicate, since behind a branch ptxas
    // would end each wgmma before the next; there is no sum of a time and the one before, which would be a register
    // more.
    __device__ inline void take(int point, bool counts = true) {
        asm volatile("{.reg .pred counts;\n .reg .u32 now;\n setp.ne.u32 counts, %1, 0;\n mov.u32 now, %%clock;\n"
                     "@counts add.u32 %0, %0, now;}"
                     : "+r"(sums.clock[point])
                     : "r"((int)counts)
                     : "memory");
        if (point == STAMP_END)
            sums.steps += counts;
    }

    __device__ inline void write(int warpgroup) const {
        if (threadIdx.x % WARPGROUP == 0 && blockIdx.x < STAMP_BLOCKS)
            stamps_of_launch.of[blockIdx.x][warpgroup] = sums;
    }
};

static cudaError_t read_stamps(const struct Variant *v, struct stamps *stamps, struct stamp_tile *tile) {
    static const struct stamps none = {}; // the next launch may have fewer blocks
    *tile = {v->threads / WARPGROUP - 1, v->queries, v->keys};
    cudaError_t error = cudaMemcpyFromSymbol(stamps, stamps_of_launch, sizeof none);
    return error == cudaSuccess ? cudaMemcpyToSymbol(stamps_of_launch, &none, sizeof none) : error;
}
