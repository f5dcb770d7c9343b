// Registers that a wgmma still writes, or reads as a fragment of A. The instructions that can access one are found when
// the kernel is bound: those that name the storage of an accumulator, or of a copy of one, or write a fragment. They
// are checked before and after they run; all other instructions, and all of a kernel without wgmma, run at full speed.
// A copy of a register in flight is also in flight: in PTX the compiler may copy a value that stays in one register in
// machine code.
//
// A write to a register in flight is reported only for the same register number: another register may share its
// storage, for which the wgmma's access is no use in program order.
#include "wgmma.h"

#include "../machine/block.h"

#include <stdlib.h>
#include <string.h>

struct checked_registers {
    bound_run *run; // NULL: a lane operation
    int reads, writes;
    operand_ref *operand; // [reads + writes]
    int32_t *number;      // the same
    bool copies;
};

static enum step run_watched(struct warp *warp, const struct bound *bound, uint32_t mask) {
    const struct checked_registers *checked = bound->checked;
    uint32_t in_flight = 0;
    for (int i = 0; i < checked->reads && !in_flight; i++)
        in_flight = wgmma_in_flight(warp, checked->operand[i]);
    if (in_flight && !checked->copies)
        wgmma_report_in_flight(warp, bound, in_flight, "reads", "writing");
    for (int i = checked->reads; i < checked->reads + checked->writes; i++) {
        uint32_t written = wgmma_still_writes(warp, checked->operand[i], checked->number[i]);
        uint32_t read = wgmma_still_reads(warp, checked->operand[i], checked->number[i]);
        if (written && !in_flight)
            wgmma_report_in_flight(warp, bound, written, "writes", "writing");
        if (read)
            wgmma_report_in_flight(warp, bound, read, "writes", "reading");
    }
    enum step step = STEP_NEXT;
    if (checked->run)
        step = checked->run(warp, bound, mask);
    else
        warp_run_lanes(warp, bound, mask);
    for (int i = 0; i < checked->writes && warp->block->wgmma && step == STEP_NEXT; i++)
        if (mask == ALL_LANES && (in_flight || wgmma_in_flight(warp, checked->operand[checked->reads + i])))
            wgmma_writes(warp, checked->operand[checked->reads + i], checked->number[checked->reads + i],
                         checked->copies ? in_flight : 0);
    return step;
}

struct places {
    struct binder *binder;
    operand_ref list[2 * PTX_MAX_SOURCES + 16];
    int32_t number[2 * PTX_MAX_SOURCES + 16];
    int count;
};

static void add(struct places *places, const struct ptx_operand *operand) {
    bool full = places->count == (int)(sizeof places->list / sizeof *places->list);
    if (operand->kind == PTX_OPERAND_REGISTER && operand->reg_type != PTX_PRED && !full) {
        places->number[places->count] = operand->register_index;
        places->list[places->count++] = bind_register(places->binder, operand->slot);
    }
    for (int i = 0; i < operand->count && operand->count <= 8; i++)
        add(places, &operand->elements[i]);
}

static bool is_copy(const struct ptx_instruction *ptx) {
    return ptx->opcode == PTX_OP_MOV && ptx->type != PTX_PRED && ptx->src[0].kind == PTX_OPERAND_REGISTER &&
           ptx->dst[0].kind == PTX_OPERAND_REGISTER;
}

// Instructions that check their lanes themselves, or whose accesses are checked by the code that they run.
static bool is_apart(const struct bound *bound) {
    enum ptx_opcode opcode = bound->ptx->opcode;
    return bound->kind == BOUND_BRANCH || opcode == PTX_OP_BAR_WARP_SYNC || opcode == PTX_OP_BAR ||
           opcode == PTX_OP_WGMMA_MMA_ASYNC || opcode == PTX_OP_MBARRIER_TRY_WAIT ||
           opcode == PTX_OP_MBARRIER_TEST_WAIT || opcode == PTX_OP_CALL || opcode == PTX_OP_RET;
}

static bool any(const uint8_t *marked, const operand_ref *list, int count) {
    for (int i = 0; i < count; i++)
        if (marked[(list[i] >> 1) / 64])
            return true;
    return false;
}

// Marks accumulators and the destinations of their copies.
static bool mark(struct binder *binder, uint8_t *marked) {
    const struct sim_kernel *kernel = binder->kernel;
    bool found = false, changed = true;
    for (int i = 0; i < kernel->ptx->instructions; i++) {
        const struct bound *bound = &kernel->code[i];
        for (int k = 0; bound->ptx->opcode == PTX_OP_WGMMA_MMA_ASYNC && k < bound->ptx->dst[0].count; k++)
            marked[(bound->elements[4 + k] >> 1) / 64] = 1;
        found |= bound->ptx->opcode == PTX_OP_WGMMA_MMA_ASYNC;
    }
    while (found && changed) {
        changed = false;
        for (int i = 0; i < kernel->ptx->instructions; i++) {
            const struct bound *bound = &kernel->code[i];
            if (!is_copy(bound->ptx) || bound->d == NO_OPERAND || bound->a & 1)
                continue;
            uint8_t *to = &marked[(bound->d >> 1) / 64];
            if (marked[(bound->a >> 1) / 64] && !*to) {
                *to = 1;
                changed = true;
            }
        }
    }
    return found;
}

// The numbers of a function's registers that are fragments of A.
struct fragments {
    uint8_t *is;
    int32_t count;
};

static bool find_fragments(const struct sim_kernel *kernel, const struct ptx_frame *frame,
                           struct fragments *fragments) {
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t i = frame->entry; i < frame->entry + frame->instructions; i++) {
            const struct ptx_instruction *ptx = &kernel->ptx->instruction[i];
            const struct ptx_operand *a = &ptx->src[0];
            for (int k = 0; ptx->opcode == PTX_OP_WGMMA_MMA_ASYNC && k < a->count; k++) {
                int32_t number = a->elements[k].register_index;
                if (a->elements[k].kind == PTX_OPERAND_REGISTER && pass)
                    fragments->is[number] = 1;
                else if (number >= fragments->count)
                    fragments->count = number + 1;
            }
        }
        if (pass == 0 && !(fragments->is = calloc((size_t)fragments->count + 1, 1)))
            return false;
    }
    return true;
}

static bool writes_fragment(const struct fragments *fragments, const int32_t *number, int count) {
    for (int i = 0; i < count; i++)
        if (number[i] < fragments->count && fragments->is[number[i]])
            return true;
    return false;
}

static bool watch(struct binder *binder, struct bound *bound, const uint8_t *marked,
                  const struct fragments *fragments) {
    struct places places = {.binder = binder};
    const struct ptx_instruction *ptx = bound->ptx;
    for (int i = 0; i < ptx->nsrc; i++)
        add(&places, &ptx->src[i]);
    int reads = places.count;
    for (int i = 0; i < 2; i++)
        add(&places, &ptx->dst[i]);
    if (is_apart(bound) || !(any(marked, places.list, places.count) ||
                             writes_fragment(fragments, places.number + reads, places.count - reads)))
        return true;
    struct checked_registers *checked = bind_allocate(binder, sizeof *checked);
    operand_ref *list = bind_allocate(binder, (size_t)places.count * sizeof *list);
    int32_t *number = bind_allocate(binder, (size_t)places.count * sizeof *number);
    if (!checked || !list || !number)
        return false;
    memcpy(list, places.list, (size_t)places.count * sizeof *list);
    memcpy(number, places.number, (size_t)places.count * sizeof *number);
    *checked = (struct checked_registers){
        bound->kind == BOUND_LANES ? NULL : bound->run, reads, places.count - reads, list, number, is_copy(ptx)};
    bound->kind = BOUND_RUN;
    bound->run = run_watched;
    bound->checked = checked;
    return true;
}

bool wgmma_watch(struct binder *binder) {
    struct sim_kernel *kernel = binder->kernel;
    uint8_t *marked = calloc(kernel->register_bytes / 64 + 1, 1);
    bool done = marked;
    if (marked && mark(binder, marked)) {
        for (int f = 0; f < kernel->ptx->functions && done; f++) {
            struct fragments fragments = {0};
            binder->frame = &kernel->ptx->function[f];
            int32_t end = binder->frame->entry + binder->frame->instructions;
            done = find_fragments(kernel, binder->frame, &fragments);
            for (int32_t i = binder->frame->entry; i < end && done; i++)
                done = watch(binder, &kernel->code[i], marked, &fragments);
            free(fragments.is);
        }
    }
    free(marked);
    return done;
}
