// Binds a kernel to the interpreter: passes each instruction to the binder of its family.
#ifndef SIMULATOR_INSTRUCTIONS_BIND_H
#define SIMULATOR_INSTRUCTIONS_BIND_H

#include "../machine/launch.h"

// variable_address[i] is the device address of module->variable[i] (global and const ones). Returns NULL and one line
// in error if the interpreter does not support an instruction: the line names the PTX and the .cu line.
struct sim_kernel *sim_kernel_bind(const struct ptx_kernel *kernel, const uint64_t *variable_address, char *error,
                                   size_t error_size);
// Sets the number of registers per thread by ptxas.
void sim_kernel_registers(struct sim_kernel *kernel, int registers);
void sim_kernel_free(struct sim_kernel *kernel);

#endif
