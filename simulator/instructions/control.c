// Control flow other than plain branches. Lanes that return to different instructions become different splits.
#include "control.h"
#include "barrier.h"
#include "cluster.h"
#include "families.h"
#include "sync.h"

#include "../machine/block.h"

#include <stdlib.h>
#include <string.h>

// The registers of a recursive function, which are saved per lane while another activation runs.
struct frame_layout {
    int slots;
    struct {
        int32_t offset; // in the register file
        uint8_t cell;   // bytes of a lane, 0: a predicate
    } slot[];
};

static void exit_lanes(struct warp *warp, uint32_t mask) {
    struct split *now = warp->now;
    warp->live &= ~mask;
    now->mask &= ~mask;
    if (!now->mask)
        warp_remove_split(warp, now);
    sync_retry_waiting(warp);
    barrier_lanes_exited(warp);
    cluster_lanes_exited(warp);
}

static enum step run_exit(struct warp *warp, const struct bound *bound, uint32_t mask) {
    struct split *now = warp->now;
    (void)bound;
    now->pc++;
    exit_lanes(warp, mask);
    return STEP_MOVED;
}

static enum step run_brx(struct warp *warp, const struct bound *bound, uint32_t mask) {
    const uint32_t *index = cells32(warp, bound->a);
    struct split *now = warp->now;
    if (mask != now->mask)
        warp_add_split(warp, now->mask & ~mask, now->pc + 1);
    uint32_t left = mask;
    while (left) {
        uint32_t wanted = index[first_lane(left)], same = 0;
        for (uint32_t rest = left; rest; rest &= rest - 1)
            same |= (uint32_t)(index[first_lane(rest)] == wanted) << first_lane(rest);
        if (wanted >= bound->extra) {
            warp_report(warp, SIM_FINDING_TRAP, bound, NULL, first_lane(left),
                        "a switch jumps to entry %u of a table of %u entries", wanted, bound->extra);
            return warp_fatal(warp, SIM_TRAP);
        }
        int32_t target = (int32_t)bound->elements[wanted];
        warp->turn_budget -= target <= pc_of(warp, bound);
        left &= ~same;
        if (left)
            warp_add_split(warp, same, target);
        else
            now->pc = target;
    }
    return STEP_MOVED;
}

bool bind_brx(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    const struct ptx_operand *targets = &ptx->src[1];
    if (targets->kind != PTX_OPERAND_VECTOR || targets->count < 1)
        return false;
    operand_ref *table = bind_allocate(binder, (size_t)targets->count * sizeof *table);
    for (int i = 0; table && i < targets->count; i++)
        table[i] = (operand_ref)targets->elements[i].target;
    bound->kind = BOUND_RUN;
    bound->run = run_brx;
    bound->a = bind_source(binder, &ptx->src[0], PTX_U32);
    bound->extra = (uint32_t)targets->count;
    bound->elements = table;
    return bound->a != NO_OPERAND;
}

bool bind_branch(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    (void)binder;
    bound->kind = BOUND_BRANCH;
    bound->target = ptx->src[0].target;
    return ptx->src[0].kind == PTX_OPERAND_TARGET;
}

static bool make_room(struct warp *warp, int depth) {
    if (depth < warp->frames)
        return true;
    int room = warp->frames ? 2 * warp->frames : 8;
    struct call_frame *grown = realloc(warp->frame, (size_t)room * sizeof *grown);
    if (!grown)
        return false;
    warp->frame = grown;
    warp->frames = room;
    return true;
}

// Copies the lanes of mask between the register file and the saved registers of depth's caller.
static bool save_registers(struct warp *warp, const struct frame_layout *layout, int depth, uint32_t mask,
                           bool restore) {
    if (!warp->saved_registers)
        warp->saved_registers = calloc(MAX_CALL_DEPTH, sizeof *warp->saved_registers);
    if (warp->saved_registers && !warp->saved_registers[depth])
        warp->saved_registers[depth] = calloc(1, warp->run->kernel->register_bytes);
    if (!warp->saved_registers || !warp->saved_registers[depth])
        return false;
    for (int i = 0; i < layout->slots; i++) {
        uint8_t *live = warp->base[0] + layout->slot[i].offset;
        uint8_t *kept = warp->saved_registers[depth] + layout->slot[i].offset;
        void *to = restore ? live : kept, *from = restore ? kept : live;
        if (layout->slot[i].cell == 8) {
            warp->lanes->blend64(to, from, mask);
        } else if (layout->slot[i].cell == 4) {
            warp->lanes->blend32(to, from, mask);
        } else {
            uint32_t *p = to, *q = from;
            *p = (*p & ~mask) | (*q & mask);
        }
    }
    return true;
}

// bound->offset: the caller's call_base. Indirect calls have their target in register a.
static enum step enter_function(struct warp *warp, const struct bound *bound, uint32_t mask,
                                const struct ptx_frame *callee, const struct frame_layout *layout) {
    struct split *now = warp->now;
    if (now->depth + 1 >= MAX_CALL_DEPTH || !make_room(warp, now->depth)) {
        warp_report(warp, SIM_FINDING_TRAP, bound, NULL, first_lane(mask), "stack overflow: calls are nested %d deep",
                    now->depth);
        return warp_fatal(warp, SIM_TRAP);
    }
    if (mask != now->mask)
        warp_add_split(warp, now->mask & ~mask, now->pc + 1);
    if (layout && !save_registers(warp, layout, now->depth, mask, false))
        return warp_fatal(warp, SIM_OUT_OF_HOST_MEMORY);
    struct call_frame *frame = &warp->frame[now->depth];
    for (uint32_t left = mask; left; left &= left - 1) {
        int lane = first_lane(left);
        frame->back[lane] = now->pc + 1;
        frame->parameter[lane] = warp->parameter_base[lane];
        warp->parameter_base[lane] += (uint32_t)bound->offset;
    }
    now->depth++;
    now->pc = callee->entry;
    warp->turn_budget--;
    return STEP_MOVED;
}

struct call_target {
    const struct ptx_frame *frame;
    const struct frame_layout *layout;
};

static enum step run_call(struct warp *warp, const struct bound *bound, uint32_t mask) {
    const struct call_target *target = operand_data(warp, bound->b);
    return enter_function(warp, bound, mask, target->frame, target->layout);
}

// The lanes may call different functions: the lanes of the first function go, the others execute this instruction
// again.
static enum step run_call_indirect(struct warp *warp, const struct bound *bound, uint32_t mask) {
    const struct ptx_kernel *ptx = warp->run->kernel->ptx;
    const struct call_target *targets = operand_data(warp, bound->b);
    const uint64_t *address = cells64(warp, bound->a);
    uint64_t wanted = address[first_lane(mask)];
    uint32_t same = 0;
    for (uint32_t left = mask; left; left &= left - 1)
        same |= (uint32_t)(address[first_lane(left)] == wanted) << first_lane(left);
    for (int i = 1; i < ptx->functions; i++) {
        if (ptx->function[i].address == wanted) {
            if (mask != warp->now->mask)
                warp_add_split(warp, warp->now->mask & ~mask, warp->now->pc + 1);
            if (same != mask)
                warp_add_split(warp, mask & ~same, warp->now->pc);
            return enter_function(warp, bound, same, targets[i].frame, targets[i].layout);
        }
    }
    warp_report(warp, SIM_FINDING_TRAP, bound, NULL, first_lane(mask),
                "a call through a pointer that is no function pointer (0x%llx)", (unsigned long long)wanted);
    return warp_fatal(warp, SIM_TRAP);
}

static enum step run_return(struct warp *warp, const struct bound *bound, uint32_t mask) {
    struct split *now = warp->now;
    if (now->depth == 0)
        return run_exit(warp, bound, mask);
    if (mask != now->mask)
        warp_add_split(warp, now->mask & ~mask, now->pc + 1);
    const struct frame_layout *layout =
        bound->b == NO_OPERAND ? NULL : ((struct call_target *)operand_data(warp, bound->b))->layout;
    const struct call_frame *frame = &warp->frame[now->depth - 1];
    if (layout && !save_registers(warp, layout, now->depth - 1, mask, true))
        return warp_fatal(warp, SIM_OUT_OF_HOST_MEMORY);
    now->depth--;
    for (uint32_t left = mask; left;) {
        int32_t back = frame->back[first_lane(left)];
        uint32_t same = 0;
        for (uint32_t rest = left; rest; rest &= rest - 1) {
            int lane = first_lane(rest);
            if (frame->back[lane] == back) {
                same |= 1u << lane;
                warp->parameter_base[lane] = frame->parameter[lane];
            }
        }
        left &= ~same;
        if (left)
            warp_add_split(warp, same, back);
        else
            now->pc = back;
    }
    return STEP_MOVED;
}

static void add_slot(struct frame_layout *layout, uint8_t *seen, const struct ptx_frame *frame, int32_t slot,
                     int cell) {
    if (slot < 0 || seen[slot / 4])
        return;
    seen[slot / 4] = 1;
    layout->slot[layout->slots].offset = slot + frame->register_base;
    layout->slot[layout->slots++].cell = (uint8_t)cell;
}

static void add_operand(struct frame_layout *layout, uint8_t *seen, const struct ptx_frame *frame,
                        const struct ptx_operand *operand) {
    bool address = operand->kind == PTX_OPERAND_ADDRESS && operand->slot >= 0;
    if (operand->kind == PTX_OPERAND_REGISTER || address) {
        int cell = operand->reg_type == PTX_PRED ? 0 : is_64_bit(operand->reg_type) ? 8 : 4;
        add_slot(layout, seen, frame, operand->slot, cell);
    }
    for (int i = 0; i < operand->count; i++)
        add_operand(layout, seen, frame, &operand->elements[i]);
}

static const struct frame_layout *layout_of(struct binder *binder, const struct ptx_frame *frame) {
    if (!frame->recursive)
        return NULL;
    size_t most = (size_t)frame->frame_bytes / 4 + 1;
    struct frame_layout *layout = bind_allocate(binder, sizeof *layout + most * sizeof layout->slot[0]);
    uint8_t *seen = calloc(most, 1);
    if (!layout || !seen) {
        binder->failed = true;
        free(seen);
        return NULL;
    }
    for (int i = 0; i < frame->instructions; i++) {
        const struct ptx_instruction *one = &binder->kernel->ptx->instruction[frame->entry + i];
        add_slot(layout, seen, frame, one->guard, 0);
        for (int k = 0; k < 2; k++)
            add_operand(layout, seen, frame, &one->dst[k]);
        for (int k = 0; k < PTX_MAX_SOURCES; k++)
            add_operand(layout, seen, frame, &one->src[k]);
    }
    free(seen);
    return layout;
}

bool bind_exit(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    (void)binder, (void)ptx;
    bound->kind = BOUND_RUN;
    bound->run = run_exit;
    return true;
}

bool bind_return(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    (void)ptx;
    bound->kind = BOUND_RUN;
    bound->run = run_return;
    bound->b = NO_OPERAND;
    if (binder->frame->recursive) {
        struct call_target own = {binder->frame, layout_of(binder, binder->frame)};
        bound->b = bind_data(binder, &own, sizeof own);
    }
    return true;
}

bool bind_call(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    const struct ptx_kernel *kernel = binder->kernel->ptx;
    bound->kind = BOUND_RUN;
    bound->b = NO_OPERAND;
    bound->offset = binder->frame->call_base;
    const struct ptx_operand *callee = &ptx->src[0];
    if (callee->kind == PTX_OPERAND_FUNCTION && callee->target < 0) {
        bound->run = run_builtin;
        return callee->builtin != PTX_BUILTIN_NONE;
    }
    if (callee->kind == PTX_OPERAND_FUNCTION) {
        const struct ptx_frame *frame = &kernel->function[callee->target];
        struct call_target target = {frame, layout_of(binder, frame)};
        bound->run = run_call;
        bound->b = bind_data(binder, &target, sizeof target);
        return true;
    }
    struct call_target *targets = calloc((size_t)kernel->functions, sizeof *targets);
    for (int i = 0; targets && i < kernel->functions; i++)
        targets[i] = (struct call_target){&kernel->function[i], layout_of(binder, &kernel->function[i])};
    bound->run = run_call_indirect;
    bound->a = bind_source(binder, callee, PTX_U64);
    bound->b = targets ? bind_data(binder, targets, (size_t)kernel->functions * sizeof *targets) : NO_OPERAND;
    binder->failed |= !targets;
    free(targets);
    return bound->a != NO_OPERAND;
}
