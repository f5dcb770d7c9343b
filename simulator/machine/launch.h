// What a launch is: a kernel, a grid, a device, and what is analysed.
#ifndef SIMULATOR_MACHINE_LAUNCH_H
#define SIMULATOR_MACHINE_LAUNCH_H

#include "../ptx/program.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_dim {
    unsigned x, y, z;
};

// What the simulated GPU is. See runtime/device.c for the table of them.
struct sim_device {
    const char *name;
    int compute_capability; // 90
    int sms;
    size_t global_bytes, shared_per_block, shared_per_block_optin, shared_per_sm, reserved_shared, l2_bytes,
        const_bytes;
    int registers_per_sm, registers_per_block, max_threads_per_sm, max_threads_per_block, max_blocks_per_sm;
    int clock_khz, memory_clock_khz, memory_bus_bits;
};

// A kernel bound to this process: decoded for the interpreter, module variables placed in device memory.
struct sim_kernel;

static inline uint64_t sim_dim_size(struct sim_dim dim) {
    return (uint64_t)dim.x * dim.y * dim.z;
}

struct sim_children;

struct sim_launch {
    struct sim_kernel *kernel;
    struct sim_dim grid, block;
    size_t dynamic_shared_bytes;
    const void *parameters; // parameter block, laid out as ptx_kernel.param says
    const struct sim_device *device;
    uint64_t grid_workspace;       // device address of what a cooperative launch synchronises by; 0: it is none
    struct sim_dim cluster;        // blocks of one; a divisor of the grid
    bool explicit_cluster;         // the kernel or the launch says so
    uint64_t resident_blocks;      // as many as the device holds at a time; 0: all of the grid
    struct sim_children *children; // what the kernel launches; NULL: it cannot
};

enum sim_status {
    SIM_OK,
    SIM_ILLEGAL_ADDRESS, // out of bounds, host pointer
    SIM_MISALIGNED_ADDRESS,
    SIM_ILLEGAL_INSTRUCTION, // one that a GPU refuses for its operands
    SIM_LAUNCH_FAILURE,      // race, uninitialised read, divergent barrier, deadlock, absent lanes, missing wait
    SIM_ASSERT,
    SIM_TRAP,           // trap, illegal instruction
    SIM_LAUNCH_TIMEOUT, // the limit on instructions
    SIM_OUT_OF_HOST_MEMORY,
};

// What is analysed. All on by default; the environment variable SIMULATOR_ANALYSES=off turns them off (for timing).
struct sim_options {
    bool races, uninitialised, traffic;
    uint64_t instruction_limit; // warp instructions a block; 0: none
    int host_threads;           // 0: as many as the host has cores
    uint64_t order;             // seed of the order of blocks and warps, 0: in their order; see execution/order.h
    uint64_t budget;            // warp instructions of a launch that is cut off, 0: none is; see analyses/partly.h
    uint64_t sample;            // blocks of a launch that are run, 0: all; see execution/order.h
};

#endif
