// Binds a kernel to the interpreter: gives each of its instructions to the binder of its family.
#ifndef SIMULATOR_INSTRUCTIONS_BIND_H
#define SIMULATOR_INSTRUCTIONS_BIND_H

#include "../machine/launch.h"

// variable_address[i] is the device address of module->variable[i] (global and const ones). Returns NULL and one line
// in error where an instruction is not known to the interpreter: the line names the PTX and the .cu line.
struct sim_kernel *sim_kernel_bind(const struct ptx_kernel *kernel, const uint64_t *variable_address, char *error,
                                   size_t error_size);
// How many registers ptxas gave its threads.
void sim_kernel_registers(struct sim_kernel *kernel, int registers);
void sim_kernel_free(struct sim_kernel *kernel);

#endif
