// The device runtime for a kernel that launches others: a buffer for the parameters, the launch, and streams, which are
// all equivalent.
#include "device_launch.h"

#include "../machine/allocation.h"
#include "../machine/block.h"
#include "../machine/children.h"

#include <driver_types.h>

#define PARAMETER_BYTES 32768 // the maximum of any kernel

uint64_t device_launch_buffer(struct warp *warp, uint64_t kernel, const uint32_t grid[3], const uint32_t block[3],
                              uint32_t dynamic_shared_bytes) {
    struct sim_children *children = warp->run->launch->children;
    struct sim_allocation *buffer = children ? sim_memory_allocate(PARAMETER_BYTES, SIM_ALLOCATION_HEAP, NULL) : NULL;
    if (!buffer)
        return 0;
    sim_memory_mark_written(buffer, 0, PARAMETER_BYTES); // also what the kernel has no parameter for
    struct sim_child child = {.kernel = kernel,
                              .grid = {grid[0], grid[1], grid[2]},
                              .block = {block[0], block[1], block[2]},
                              .dynamic_shared_bytes = dynamic_shared_bytes,
                              .buffer = buffer->address};
    if (sim_children_add(children, &child))
        return buffer->address;
    sim_memory_free(buffer->address);
    return 0;
}

#define TAIL_STREAM 3 // cudaStreamTailLaunch

uint32_t device_copy(struct warp *warp, uint64_t to, uint64_t from, uint64_t bytes, uint64_t stream) {
    struct sim_children *children = warp->run->launch->children;
    struct sim_child copy = {.to = to, .from = from, .bytes = bytes, .launched = true, .tail = stream == TAIL_STREAM};
    if (bytes == 0)
        return cudaSuccess;
    return children && sim_children_add(children, &copy) ? cudaSuccess : cudaErrorMemoryAllocation;
}

uint32_t device_launch(struct warp *warp, uint64_t buffer, uint64_t stream) {
    struct sim_children *children = warp->run->launch->children;
    return children && sim_children_launch(children, buffer, stream == TAIL_STREAM) ? cudaSuccess
                                                                                    : cudaErrorInvalidValue;
}
