// The device library that kernels call: printf, assert, malloc and free, launches, conditional handles of graphs.
#include "control.h"

#include "../machine/block.h"
#include "../machine/condition.h"
#include "device_launch.h"
#include "printf.h"

#include <driver_types.h>
#include <stdio.h>
#include <string.h>

static uint64_t argument64(const struct warp *warp, const struct bound *bound, int lane, uint32_t offset) {
    uint64_t value;
    const struct block *block = warp->block;
    size_t thread = warp->index * LANES + (size_t)lane;
    memcpy(&value,
           block->parameters + thread * block->parameter_stride + warp->parameter_base[lane] + bound->offset + offset,
           8);
    return value;
}

static void give_result(const struct warp *warp, const struct bound *bound, int lane, uint32_t offset,
                        const void *value, size_t size) {
    const struct block *block = warp->block;
    size_t thread = warp->index * LANES + (size_t)lane;
    memcpy(block->parameters + thread * block->parameter_stride + warp->parameter_base[lane] + bound->offset + offset,
           value, size);
}

// The host's bytes at a generic address, and their number; NULL if there are none.
static uint8_t *bytes_at(const struct warp *warp, int lane, uint64_t address, size_t *size) {
    const struct block *block = warp->block;
    uint8_t *from = NULL;
    size_t available = 0;
    uint64_t offset = address & ~WINDOW_MASK;
    if ((address & WINDOW_MASK) == SIM_LOCAL_WINDOW) {
        from = block->local + (warp->index * LANES + (size_t)lane) * block->local_stride + offset;
        available = offset < block->local_stride ? block->local_stride - offset : 0;
    } else if ((address & WINDOW_MASK) == SIM_SHARED_WINDOW) {
        from = block->shared + offset;
        available = offset < block->run->shared_bytes ? block->run->shared_bytes - offset : 0;
    } else {
        const struct sim_allocation *allocation = sim_memory_find(address, 1);
        if (allocation) {
            from = allocation->bytes + (address - allocation->address);
            available = allocation->size - (address - allocation->address);
        }
    }
    *size = available;
    return from;
}

size_t system_read(const struct warp *warp, int lane, uint64_t address, void *to, size_t size) {
    size_t available;
    const uint8_t *from = bytes_at(warp, lane, address, &available);
    size = size < available ? size : available;
    if (size)
        memcpy(to, from, size);
    return size;
}

static void system_write(const struct warp *warp, int lane, uint64_t address, const void *from, size_t size) {
    size_t available;
    uint8_t *to = bytes_at(warp, lane, address, &available);
    struct sim_allocation *allocation = sim_memory_find(address, size);
    if (available < size)
        return;
    memcpy(to, from, size);
    if (allocation)
        sim_memory_mark_written(allocation, address - allocation->address, size);
}

void system_read_text(const struct warp *warp, int lane, uint64_t address, char *text, size_t size) {
    size_t length = system_read(warp, lane, address, text, size - 1);
    text[length] = 0;
}

static enum step fail_assertion(struct warp *warp, const struct bound *bound, int lane) {
    char message[256], file[256];
    system_read_text(warp, lane, argument64(warp, bound, lane, 0), message, sizeof message);
    system_read_text(warp, lane, argument64(warp, bound, lane, 8), file, sizeof file);
    uint32_t line = (uint32_t)argument64(warp, bound, lane, 16);
    warp_report(warp, SIM_FINDING_ASSERT, bound, NULL, lane, "%s:%u: assert(%s) failed", file, line, message);
    return warp_fatal(warp, SIM_ASSERT);
}

static void allocate(struct warp *warp, const struct bound *bound, int lane) {
    struct sim_allocation *allocation =
        sim_memory_allocate(argument64(warp, bound, lane, 0), SIM_ALLOCATION_HEAP, NULL);
    uint64_t address = allocation ? allocation->address : 0;
    give_result(warp, bound, lane, 8, &address, 8);
}

// The same by the functions of the device runtime, which return an error instead of reporting a finding.
static void allocate_checked(struct warp *warp, const struct bound *bound, int lane) {
    size_t size = argument64(warp, bound, lane, 8);
    const struct sim_allocation *allocation = size ? sim_memory_allocate(size, SIM_ALLOCATION_HEAP, NULL) : NULL;
    uint64_t address = allocation ? allocation->address : 0;
    uint32_t error = size && !allocation ? cudaErrorMemoryAllocation : cudaSuccess;
    system_write(warp, lane, argument64(warp, bound, lane, 0), &address, sizeof address);
    give_result(warp, bound, lane, 16, &error, 4);
}

static void release_checked(struct warp *warp, const struct bound *bound, int lane) {
    uint64_t address = argument64(warp, bound, lane, 0);
    uint32_t error = address && !sim_memory_retire(address) ? cudaErrorInvalidValue : cudaSuccess;
    give_result(warp, bound, lane, 8, &error, 4);
}

// The error's number as text, in memory that is never freed: a kernel that requests it is about to give up.
static void give_error_text(struct warp *warp, const struct bound *bound, int lane) {
    char text[32];
    size_t size = (size_t)snprintf(text, sizeof text, "CUDA error %u", (uint32_t)argument64(warp, bound, lane, 0)) + 1;
    const struct sim_allocation *allocation = sim_memory_allocate(size, SIM_ALLOCATION_HEAP, NULL);
    uint64_t address = allocation ? allocation->address : 0;
    if (allocation)
        system_write(warp, lane, address, text, size);
    give_result(warp, bound, lane, 8, &address, 8);
}

static void copy_later(struct warp *warp, const struct bound *bound, int lane) {
    uint32_t error = device_copy(warp, argument64(warp, bound, lane, 0), argument64(warp, bound, lane, 8),
                                 argument64(warp, bound, lane, 16), argument64(warp, bound, lane, 32));
    give_result(warp, bound, lane, 40, &error, 4);
}

// Launches by a kernel, and the streams that it creates for them, which are all equivalent.
static void launch(struct warp *warp, const struct bound *bound, int lane) {
    uint64_t words[5], stream = 0x100;
    uint32_t error = 0;
    for (uint32_t i = 0; i < 5; i++)
        words[i] = argument64(warp, bound, lane, 8 * i);
    const uint32_t *dims = (const uint32_t *)&words[1]; // grid, block, bytes of shared memory
    switch (bound->ptx->src[0].builtin) {
    case PTX_BUILTIN_LAUNCH_BUFFER:
        words[0] = device_launch_buffer(warp, words[0], dims, dims + 3, dims[6]);
        give_result(warp, bound, lane, 40, &words[0], 8);
        break;
    case PTX_BUILTIN_LAUNCH:
        error = device_launch(warp, words[0], words[1]);
        give_result(warp, bound, lane, 16, &error, 4);
        break;
    case PTX_BUILTIN_STREAM_CREATE:
        system_write(warp, lane, words[0], &stream, sizeof stream);
        give_result(warp, bound, lane, 12, &error, 4);
        break;
    case PTX_BUILTIN_STREAM_DESTROY:
        give_result(warp, bound, lane, 8, &error, 4);
        break;
    default:
        give_result(warp, bound, lane, 0, &error, 4);
    }
}

static enum step report_condition(struct warp *warp, const struct bound *bound, int lane) {
    warp_report(warp, SIM_FINDING_OUT_OF_BOUNDS, bound, NULL, lane,
                "{here} sets 0x%llx, which is not a conditional handle of a graph [invalid-handle]",
                (unsigned long long)argument64(warp, bound, lane, 0));
    return warp_fatal(warp, SIM_ILLEGAL_ADDRESS);
}

enum step run_builtin(struct warp *warp, const struct bound *bound, uint32_t mask) {
    for (uint32_t left = mask; left; left &= left - 1) {
        int lane = first_lane(left);
        switch (bound->ptx->src[0].builtin) {
        case PTX_BUILTIN_VPRINTF: {
            int32_t printed =
                printf_lane(warp, lane, argument64(warp, bound, lane, 0), argument64(warp, bound, lane, 8));
            give_result(warp, bound, lane, 16, &printed, 4);
            break;
        }
        case PTX_BUILTIN_ASSERTFAIL:
            return fail_assertion(warp, bound, lane);
        case PTX_BUILTIN_MALLOC:
            allocate(warp, bound, lane);
            break;
        case PTX_BUILTIN_DEVICE_MALLOC:
            allocate_checked(warp, bound, lane);
            break;
        case PTX_BUILTIN_DEVICE_FREE:
            release_checked(warp, bound, lane);
            break;
        case PTX_BUILTIN_DEVICE_COPY:
            copy_later(warp, bound, lane);
            break;
        case PTX_BUILTIN_ERROR_TEXT:
            give_error_text(warp, bound, lane);
            break;
        case PTX_BUILTIN_SET_CONDITION:
            if (!sim_condition_set(argument64(warp, bound, lane, 0), (uint32_t)argument64(warp, bound, lane, 8)))
                return report_condition(warp, bound, lane);
            break;
        case PTX_BUILTIN_LAUNCH_BUFFER:
        case PTX_BUILTIN_LAUNCH:
        case PTX_BUILTIN_LAST_ERROR:
        case PTX_BUILTIN_STREAM_CREATE:
        case PTX_BUILTIN_STREAM_DESTROY:
            launch(warp, bound, lane);
            break;
        default: {
            uint64_t address = argument64(warp, bound, lane, 0);
            if (address && !sim_memory_retire(address)) {
                warp_report(warp, SIM_FINDING_OUT_OF_BOUNDS, bound, NULL, lane,
                            "{here} frees address 0x%llx, which malloc did not return [invalid-address]",
                            (unsigned long long)address);
            }
        }
        }
    }
    return STEP_NEXT;
}
