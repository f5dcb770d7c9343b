// Addresses of memory instructions: see spaces.h.
#include "spaces.h"
#include "invalid_address.h"

#include "../analyses/race_shared.h"
#include "../analyses/stale.h"
#include "../recording/recording.h"
#include "../traffic/traffic.h"
#include "../traffic/work.h"

#include "../analyses/race_global.h"
#include "../machine/cluster.h"
#include "../machine/element_names.h"

#include <stdio.h>
#include <string.h>

static enum step report_misaligned(struct warp *warp, const struct bound *bound, struct access *access, uint32_t unit) {
    access_fill(access);
    for (int lane = 0; lane < LANES; lane++) {
        if (access->mask >> lane & 1 && access->address[lane] % unit) {
            warp_report(warp, SIM_FINDING_MISALIGNED, bound, NULL, lane,
                        "{here} %s %u bytes at address 0x%llx, which is not a multiple of %u bytes",
                        access_verb(access), access->bytes, (unsigned long long)access->address[lane], unit);
            return warp_fatal(warp, SIM_MISALIGNED_ADDRESS);
        }
    }
    return STEP_NEXT;
}

// For the memory of a block or a thread, with offsets from 0 to size.
static enum step report_out_of_bounds(struct warp *warp, const struct bound *bound, struct access *access,
                                      uint64_t size, const char *what, enum sim_finding_kind kind) {
    access_fill(access);
    for (int lane = 0; lane < LANES; lane++) {
        if (access->mask >> lane & 1 && access->address[lane] + access->bytes > size) {
            warp_report(warp, kind, bound, NULL, lane, "{here} %s %u bytes at byte %lld of %s, which has %llu bytes",
                        access_verb(access), access->bytes, (long long)(int32_t)access->address[lane], what,
                        (unsigned long long)size);
            return warp_fatal(warp, SIM_ILLEGAL_ADDRESS);
        }
    }
    return STEP_NEXT;
}

static enum step run_in_space(struct warp *warp, const struct bound *bound, struct access *access,
                              access_action *action);

// Executes the lanes one by one, as separate accesses, if the fast path does not cover the access.
static enum step run_lanes_separately(struct warp *warp, const struct bound *bound, struct access *access,
                                      access_action *action) {
    access_fill(access);
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int lane = first_lane(left);
        struct access one = *access;
        one.mask = 1u << lane;
        one.span = (struct lane_span){access->address[lane], access->address[lane], 0, LANES_UNIFORM};
        access_fill(&one);
        enum step step = run_in_space(warp, bound, &one, action);
        if (step != STEP_NEXT)
            return step;
    }
    return STEP_NEXT;
}

static inline void note_observed(struct warp *warp, const struct bound *bound, const struct access *access,
                                 bool shared) {
    if ((access_is_atomic(access) || bound->is_volatile) && !access_writes(access)) {
        warp->last_observed.address = access->span.low;
        warp->last_observed.bytes = access->bytes;
        warp->last_observed.shared = shared;
    }
}

enum step access_in_own_shared(struct warp *warp, const struct bound *bound, struct access *access,
                               access_action *action) {
    struct block *block = warp->block;
    if (access->span.high + access->bytes > block->run->shared_bytes) {
        if (access->span.high > CLUSTER_OFFSET)
            return access_in_cluster(warp, bound, access, action);
        return report_out_of_bounds(warp, bound, access, block->run->shared_bytes, "the block's shared memory",
                                    SIM_FINDING_SHARED_OUT_OF_BOUNDS);
    }
    if (block->race.on) {
        if (access->kind == ACCESS_ASYNC_COPY)
            race_async_issue(warp, bound, access);
        else if (access_is_atomic(access) || bound->is_volatile)
            race_shared_atomic(warp, bound, access);
        else if (access->span.low >= run_reserved_shared(block->run))
            ; // a library's own memory: lanes of cooperative groups' tiles exchange values without __syncwarp()
        else if (access_writes(access))
            race_shared_write(warp, bound, access);
        else
            race_shared_read(warp, bound, access);
    }
    if (block->race.on && bound->is_volatile && access_writes(access))
        stale_store(warp, bound, access);
    action(warp, bound, access, block->shared);
    if (block->race.on && bound->is_volatile && !access_writes(access))
        stale_load(warp, bound, access);
    note_observed(warp, bound, access, true);
    return STEP_NEXT;
}

// Finds the allocation that contains the whole access; the warp's most recent allocations are tried first.
static struct sim_allocation *find_allocation(struct warp *warp, const struct access *access) {
    uint64_t low = access->span.low, end = access->span.high + access->bytes;
    int index = 0;
    struct sim_allocation *found = NULL;
    for (; index < MAX_RECENT_ALLOCATIONS && !found; index++) {
        struct sim_allocation *one = warp->recent[index];
        found = one && low >= one->address && end <= one->address + one->size ? one : NULL;
    }
    if (!found)
        found = sim_memory_find(low, end - low);
    if (found && found != warp->recent[0]) {
        for (int i = index - 1; i > 0; i--)
            warp->recent[i] = warp->recent[i - 1];
        warp->recent[0] = found;
    }
    return found;
}

// A loop that waits for another block repeats an access to the same address. While the value stays the same, only
// another warp or block can end the loop, so that each such poll uses up a quarter of the turns of warp and block.
static void note_poll(struct warp *warp, const struct bound *bound, const struct access *access) {
    int32_t pc = pc_of(warp, bound);
    uint64_t value = 0;
    memcpy(&value, access->allocation->bytes + (access->span.low - access->allocation->address),
           access->bytes < sizeof value ? access->bytes : sizeof value);
    for (int i = 0; i < MAX_RECENT_POLLS; i++) {
        if (warp->poll[i].pc == pc && warp->poll[i].address == access->span.low) {
            bool in_vain = warp->poll[i].value == value;
            warp->block->polls += in_vain ? POLLS_A_TURN / 4 : 1;
            warp->turn_budget -= in_vain ? TURN_BRANCHES / 4 : 0;
            warp->block->poll_pc = pc;
            warp->poll[i].value = value;
            return;
        }
    }
    unsigned next = warp->next_poll++ % MAX_RECENT_POLLS;
    warp->poll[next].pc = pc;
    warp->poll[next].address = access->span.low;
    warp->poll[next].value = value;
}

static enum step in_global(struct warp *warp, const struct bound *bound, struct access *access, access_action *action) {
    struct sim_allocation *allocation = find_allocation(warp, access);
    if (!allocation && access->mask & (access->mask - 1))
        return run_lanes_separately(warp, bound, access, action);
    if (!allocation) {
        access_fill(access);
        return invalid_address_report(warp, bound, access, first_lane(access->mask));
    }
    bool writes = access_writes(access) || access_is_atomic(access);
    if (!sim_memory_is_reachable(warp->run->launch->ordinal, allocation))
        return peer_access_report(warp, bound, allocation, writes, first_lane(access->mask));
    if (writes && allocation->kind == SIM_ALLOCATION_CONST_VARIABLE) {
        warp_report(warp, SIM_FINDING_READ_ONLY, bound, NULL, first_lane(access->mask), "{here} writes to %s",
                    allocation->name);
        return warp_fatal(warp, SIM_ILLEGAL_ADDRESS);
    }
    access->allocation = allocation;
    race_global_access(warp, bound, access);
    if (warp->block->aborted)
        return STEP_STOP;
    action(warp, bound, access, allocation->bytes - allocation->address);
    race_global_accessed(warp, bound, access);
    note_observed(warp, bound, access, false);
    if (bound->is_volatile && !access_writes(access))
        note_poll(warp, bound, access);
    warp->block->changed |= access_writes(access);
    return STEP_NEXT;
}

// Memory of a single thread: the offset is converted to one in the block's storage for all threads.
static enum step in_own(struct warp *warp, const struct bound *bound, struct access *access, access_action *action,
                        uint8_t *storage, size_t stride, const char *what) {
    if (access->span.high + access->bytes > stride)
        return report_out_of_bounds(warp, bound, access, stride, what, SIM_FINDING_LOCAL_OUT_OF_BOUNDS);
    access_fill(access);
    for (uint64_t i = 0; i < LANES; i++)
        access->address[i] += (warp->index * LANES + i) * stride;
    access->span.pattern = LANES_SCATTERED;
    action(warp, bound, access, storage);
    return STEP_NEXT;
}

static enum step in_parameters(struct warp *warp, const struct bound *bound, struct access *access,
                               access_action *action) {
    const struct run *run = warp->run;
    if (access_writes(access) || access_is_atomic(access)) {
        warp_report(warp, SIM_FINDING_READ_ONLY, bound, NULL, first_lane(access->mask), "{here} writes to a parameter");
        return warp_fatal(warp, SIM_ILLEGAL_ADDRESS);
    }
    if (access->span.high + access->bytes > run->kernel->ptx->param_bytes) {
        return report_out_of_bounds(warp, bound, access, run->kernel->ptx->param_bytes, "the kernel's parameters",
                                    SIM_FINDING_OUT_OF_BOUNDS);
    }
    // The action only reads, because the instruction is a load.
    action(warp, bound, access, (uint8_t *)(uintptr_t)run->launch->parameters);
    return STEP_NEXT;
}

static enum ptx_space space_of(uint64_t address) {
    switch (address & WINDOW_MASK) {
    case SIM_SHARED_WINDOW:
        return PTX_SHARED;
    case SIM_LOCAL_WINDOW:
        return PTX_LOCAL;
    case PARAM_WINDOW:
        return PTX_PARAM;
    default:
        return PTX_GLOBAL;
    }
}

// The window of a generic address determines its space.
static enum step in_generic(struct warp *warp, const struct bound *bound, struct access *access,
                            access_action *action) {
    enum ptx_space space = space_of(access->span.low);
    if (space_of(access->span.high) != space)
        return run_lanes_separately(warp, bound, access, action);
    if (space == PTX_GLOBAL && access->span.pattern == LANES_SCATTERED && access->span.low < SIM_GLOBAL_WINDOW &&
        access->mask & (access->mask - 1))
        return run_lanes_separately(warp, bound, access,
                                    action); // another window may be between the lowest and the highest address
    if (space != PTX_GLOBAL) {
        for (int i = 0; i < LANES && access->span.pattern == LANES_SCATTERED; i++)
            access->address[i] &= ~WINDOW_MASK;
        access->span.low &= ~WINDOW_MASK;
        access->span.high &= ~WINDOW_MASK;
    }
    access->space = space;
    return run_in_space(warp, bound, access, action);
}

static enum step run_in_space(struct warp *warp, const struct bound *bound, struct access *access,
                              access_action *action) {
    struct block *block = warp->block;
    switch (access->space) {
    case PTX_GENERIC:
        return in_generic(warp, bound, access, action);
    case PTX_SHARED:
        return access_in_own_shared(warp, bound, access, action);
    case PTX_LOCAL:
        return in_own(warp, bound, access, action, block->local, block->local_stride, "the thread's local memory");
    case PTX_CALL_PARAM:
        return in_own(warp, bound, access, action, block->parameters, block->parameter_stride, "the call's parameters");
    case PTX_PARAM:
        return in_parameters(warp, bound, access, action);
    default:
        return in_global(warp, bound, access, action);
    }
}

static void record_in(struct warp *warp, const struct bound *bound, const struct access *access, enum ptx_space space,
                      uint32_t mask) {
    if (warp->block->traffic &&
        !traffic_record(warp->block->traffic,
                        &(struct traffic_access){
                            .instruction = pc_of(warp, bound),
                            .space = space,
                            .kind = access->kind,
                            .bytes = access->bytes,
                            .mask = mask,
                            .address = access->address,
                            .to = access->to,
                        }) &&
        warp->work)
        work_hit(warp->work);
    if (warp->record)
        recording_access(warp, pc_of(warp, bound), space, access->kind, access->bytes, mask, access->address,
                         access->to);
}

// Counts the access as one request, or as one per space if its generic addresses are in several.
static void record_traffic(struct warp *warp, const struct bound *bound, struct access *access) {
    static const enum ptx_space counted[] = {PTX_GLOBAL, PTX_SHARED, PTX_LOCAL};
    access_fill(access);
    for (size_t s = 0; s < sizeof counted / sizeof counted[0]; s++) {
        uint32_t mask = 0;
        for (uint32_t left = access->mask; left; left &= left - 1) {
            int lane = first_lane(left);
            enum ptx_space space = access->space == PTX_GENERIC ? space_of(access->address[lane]) : access->space;
            mask |= (uint32_t)(space == counted[s]) << lane;
        }
        if (mask)
            record_in(warp, bound, access, counted[s], mask);
    }
}

enum step access_run_at(struct warp *warp, const struct bound *bound, struct access *access, access_action *action) {
    if (warp->block->traced)
        record_traffic(warp, bound, access);
    return run_in_space(warp, bound, access, action);
}

enum step access_run_uncounted(struct warp *warp, const struct bound *bound, struct access *access,
                               access_action *action) {
    return run_in_space(warp, bound, access, action);
}

// Lanes that do not take part repeat the address of one that does, so that they change nothing.
static void repeat32(uint32_t *address, uint32_t mask) {
    uint32_t first = address[first_lane(mask)];
    for (int i = 0; i < LANES; i++)
        address[i] = mask >> i & 1 ? address[i] : first;
}

static void repeat64(uint64_t *address, uint32_t mask) {
    uint64_t first = address[first_lane(mask)];
    for (int i = 0; i < LANES; i++)
        address[i] = mask >> i & 1 ? address[i] : first;
}

void access_find(struct warp *warp, struct access *access, operand_ref base, int cell, int64_t offset) {
    const struct lanes *lanes = warp->lanes;
    if (cell == 8) {
        lanes->offset64(access->address, cells64(warp, base), (uint64_t)offset);
        if (access->mask != ALL_LANES)
            repeat64(access->address, access->mask);
        access->span = lanes->span64(access->address, access->bytes);
    } else if (cell == 4) {
        uint32_t address[LANES];
        lanes->offset32(address, cells32(warp, base), (uint32_t)offset);
        if (access->mask != ALL_LANES)
            repeat32(address, access->mask);
        access->span = lanes->span32(address, access->bytes);
        for (int i = 0; i < LANES && access->span.pattern == LANES_SCATTERED; i++)
            access->address[i] = address[i];
    } else {
        uint64_t address = (uint64_t)offset;
        access->span = (struct lane_span){address, address, (uint32_t)address & (access->bytes - 1), LANES_UNIFORM};
    }
}

// Addresses that are known when the kernel is bound, except those in a thread's stack of parameters or locals.
static void find_addresses_fixed(struct warp *warp, const struct bound *bound, struct access *access) {
    uint64_t address = (uint64_t)bound->offset;
    if (access->space == PTX_LOCAL && bound->extra)
        address += (uint64_t)warp->now->depth * warp->run->kernel->ptx->local_bytes;
    access_find(warp, access, 0, 0, (int64_t)address);
    if (access->space == PTX_CALL_PARAM) {
        uint64_t high = 0;
        for (int i = 0; i < LANES; i++) {
            access->address[i] = address + (access->mask >> i & 1 ? warp->parameter_base[i] : 0);
            high = access->address[i] > high ? access->address[i] : high;
        }
        access->span.high = high;
        access->span.pattern = LANES_SCATTERED;
    }
}

enum step access_check_alignment(struct warp *warp, const struct bound *bound, struct access *access) {
    if (!access->span.unaligned)
        return STEP_NEXT;
    if (warp->record)
        record_traffic(warp, bound, access);
    return report_misaligned(warp, bound, access, access->bytes);
}

enum step access_run(struct warp *warp, const struct bound *bound, uint32_t mask, enum access_kind kind,
                     access_action *action) {
    struct access access;
    access.space = (enum ptx_space)bound->space;
    access.kind = kind;
    access.to = NULL;
    access.mask = mask;
    access.bytes = (uint32_t)bound->bytes * bound->vector;
    if (bound->address_cell)
        access_find(warp, &access, bound->a, bound->address_cell, bound->offset);
    else
        find_addresses_fixed(warp, bound, &access);
    enum step step = access_check_alignment(warp, bound, &access);
    if (step != STEP_NEXT)
        return step;
    return access_run_at(warp, bound, &access, action);
}
