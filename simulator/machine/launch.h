// A launch: a kernel, a grid, a device, and the enabled analyses.
#ifndef SIMULATOR_MACHINE_LAUNCH_H
#define SIMULATOR_MACHINE_LAUNCH_H

#include "../ptx/program.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_dim {
    unsigned x, y, z;
};

// Properties of the simulated GPU. runtime/device.c has a table of GPUs.
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
    const void *parameters; // parameter block with the layout of ptx_kernel.param
    const struct sim_device *device;
    int ordinal;                   // of the device, from 0 on
    uint64_t grid_workspace;       // device address of the workspace by which a cooperative launch synchronizes; 0: the
                                   // launch is not cooperative
    struct sim_dim cluster;        // blocks of a cluster; a divisor of the grid
    bool explicit_cluster;         // the kernel or the launch specifies it
    uint64_t resident_blocks;      // the number that the device holds at a time; 0: the whole grid
    unsigned timeline;             // of its stream, see timeline.h
    bool programmatic;             // it may start before the launch preceding it in the stream has ended
    struct sim_children *children; // launches that the kernel requests; NULL: not possible
};

enum sim_status {
    SIM_OK,
    SIM_ILLEGAL_ADDRESS, // out of bounds, host pointer
    SIM_MISALIGNED_ADDRESS,
    SIM_ILLEGAL_INSTRUCTION, // one that a GPU rejects because of its operands
    SIM_LAUNCH_FAILURE, // race, uninitialized read, divergent barrier, deadlock, inactive lanes, missing wait and so on
    SIM_ASSERT,
    SIM_TRAP,           // trap, illegal instruction
    SIM_LAUNCH_TIMEOUT, // the instruction limit
    SIM_OUT_OF_HOST_MEMORY,
};

// The enabled analyses, all of them by default; the environment variable SIMULATOR_ANALYSES=off disables them (for
// timing).
struct sim_options {
    bool races, uninitialized, traffic;
    uint64_t instruction_limit; // warp instructions per block; 0: none
    int host_threads;           // 0: the number of the host's cores
    uint64_t order;             // seed of the order of blocks and warps, 0: ascending order; see execution/order.h
    uint64_t budget; // warp instructions after which a launch is cut off, 0: no limit; see analyses/partial.h
    uint64_t sample; // blocks of a launch that are run, 0: all; see execution/order.h
};

#endif
