// Runs kernels from a PTX file without a CUDA runtime, for tests of the interpreter alone.
#ifndef TESTS_SIMULATOR_EXEC_DRIVER_H
#define TESTS_SIMULATOR_EXEC_DRIVER_H

#include "execution/launch.h"
#include "instructions/bind.h"
#include "machine/allocation.h"
#include "ptx/program.h"

struct driver {
    struct ptx_module *module;
    uint64_t *variable_address;
    uint64_t resident_blocks; // limit of driver_run's GPU; 0: any number
};

// Ends the test program with a message if the file cannot be used.
struct driver *driver_load(const char *path);
void driver_unload(struct driver *driver);

// Runs the entry function whose name contains `name`. parameters: 64-bit values, truncated to each parameter's size.
enum sim_status driver_run(struct driver *driver, const char *name, unsigned grid, unsigned block, size_t shared,
                           int parameters, const uint64_t *parameter, struct sim_counts *counts);

// The address of a module variable.
uint64_t driver_variable(const struct driver *driver, const char *name);

// Device memory.
uint64_t driver_alloc(size_t bytes);
uint64_t driver_upload(const void *from, size_t bytes);
void driver_download(void *to, uint64_t address, size_t bytes);
void driver_free(uint64_t address);

// The findings that the last driver_run printed on stderr.
const char *driver_findings(void);

#endif
