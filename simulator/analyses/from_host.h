// Tracks bytes that the program has copied from the host to the device since simulator_set_input_stream() and that no
// kernel has written since; and bytes that it has copied to the host.
#ifndef SIMULATOR_ANALYSES_FROM_HOST_H
#define SIMULATOR_ANALYSES_FROM_HOST_H

#include "../machine/allocation.h"

void from_host_begin(void);
void from_host_note_copy(const struct sim_allocation *allocation, size_t offset, size_t bytes);
void to_host_note_copy(const struct sim_allocation *allocation, size_t offset, size_t bytes);

#endif
