// Runs one kernel launch to its end, on host threads, with every analysis that is on.
#ifndef SIMULATOR_EXEC_LAUNCH_H
#define SIMULATOR_EXEC_LAUNCH_H

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

// variable_address[i] is the device address of module->variable[i] (global and const ones). Returns NULL and one line
// in error where an instruction is not known to the interpreter: the line names the PTX and the .cu line.
struct sim_kernel *sim_kernel_bind(const struct ptx_kernel *kernel, const uint64_t *variable_address, char *error,
                                   size_t error_size);
void sim_kernel_free(struct sim_kernel *kernel);

struct sim_launch {
    struct sim_kernel *kernel;
    struct sim_dim grid, block;
    size_t dynamic_shared_bytes;
    const void *parameters; // parameter block, laid out as ptx_kernel.param says
    const struct sim_device *device;
};

enum sim_status {
    SIM_OK,
    SIM_ILLEGAL_ADDRESS, // out of bounds, host pointer
    SIM_MISALIGNED_ADDRESS,
    SIM_LAUNCH_FAILURE, // race, uninitialised read, divergent barrier, deadlock, absent lanes, missing wait
    SIM_ASSERT,
    SIM_TRAP,           // trap, illegal instruction
    SIM_LAUNCH_TIMEOUT, // the limit on instructions
    SIM_OUT_OF_HOST_MEMORY,
};

struct sim_counts { // of one launch, or summed
    uint64_t warp_instructions, lane_instructions;
    double seconds; // of this host, never a statement about a GPU
};

// The caller has checked grid, block and shared memory against the device. Runs to the end or to the first fatal
// finding; findings that are not fatal (races, uninitialised reads) let the launch go on, are reported once each
// when it ends, and make it return SIM_LAUNCH_FAILURE.
enum sim_status sim_launch_run(const struct sim_launch *launch, struct sim_counts *counts);

// What is analysed. All on by default; the environment variable SIMULATOR_ANALYSES=off turns them off (for timing).
struct sim_options {
    bool races, uninitialised, traffic;
    uint64_t instruction_limit; // warp instructions a block; 0: none
    int host_threads;           // 0: as many as the host has cores
};
struct sim_options *sim_options(void);

#endif
