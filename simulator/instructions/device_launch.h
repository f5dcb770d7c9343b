// Launches by a kernel.
#ifndef SIMULATOR_INSTRUCTIONS_DEVICE_LAUNCH_H
#define SIMULATOR_INSTRUCTIONS_DEVICE_LAUNCH_H

#include "../machine/warp.h"

// Device address of memory for the parameters of a launch; 0 if there is none.
uint64_t device_launch_buffer(struct warp *warp, uint64_t kernel, const uint32_t grid[3], const uint32_t block[3],
                              uint32_t dynamic_shared_bytes);

// Launches the kernel whose parameters are in buffer, or copies, after the grid has ended and in the order of the
// requests. Returns a cudaError_t: cudaSuccess or cudaErrorMemoryAllocation for a copy.
uint32_t device_copy(struct warp *warp, uint64_t to, uint64_t from, uint64_t bytes, uint64_t stream);

uint32_t device_launch(struct warp *warp, uint64_t buffer, uint64_t stream);

#endif
