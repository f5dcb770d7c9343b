// Conditional handles of graphs: values that kernels set and that decide which nodes a graph runs.
#ifndef SIMULATOR_MACHINE_CONDITION_H
#define SIMULATOR_MACHINE_CONDITION_H

#include <stdbool.h>
#include <stdint.h>

uint64_t sim_condition_add(uint32_t value); // its handle; 0: the host has no memory left
// false: there is no such handle.
bool sim_condition_set(uint64_t handle, uint32_t value);
bool sim_condition_get(uint64_t handle, uint32_t *value);

#endif
