// Registers that a wgmma still writes, or reads as a fragment of A. Which instructions can meet one is found when the
// kernel is bound: those that name the place of an accumulator, or of a copy of one, or write a fragment. They get a
// step before and after their own; all others, and all of a kernel without wgmma, run as ever. A copy of a register in
// flight is in flight, too: in PTX the compiler may copy what it keeps in one register in machine code.
//
// A register that is written while it is in flight is one of the same number: another one may share its place, since
// what wgmma still does to it is no use of it in the order of the program.
#include "wgmma.h"

#include "../machine/block.h"

#include <stdlib.h>
#include <string.h>

struct watched {
    bound_run *run; // NULL: a lane operation
    int reads, writes;
    place *place;    // [reads + writes]
    int32_t *number; // the same
    bool copies;
};

static enum step run_watched(struct warp *warp, const struct bound *bound, uint32_t mask) {
    const struct watched *watched = bound->watched;
    uint32_t in_flight = 0;
    for (int i = 0; i < watched->reads && !in_flight; i++)
        in_flight = wgmma_in_flight(warp, watched->place[i]);
    if (in_flight && !watched->copies)
        wgmma_report_early(warp, bound, in_flight, "reads", "writing");
    for (int i = watched->reads; i < watched->reads + watched->writes; i++) {
        uint32_t written = wgmma_still_writes(warp, watched->place[i], watched->number[i]);
        uint32_t read = wgmma_still_reads(warp, watched->place[i], watched->number[i]);
        if (written && !in_flight)
            wgmma_report_early(warp, bound, written, "writes", "writing");
        if (read)
            wgmma_report_early(warp, bound, read, "writes", "reading");
    }
    enum step step = STEP_NEXT;
    if (watched->run)
        step = watched->run(warp, bound, mask);
    else
        warp_run_lanes(warp, bound, mask);
    for (int i = 0; i < watched->writes && warp->block->wgmma && step == STEP_NEXT; i++)
        if (mask == ALL_LANES && (in_flight || wgmma_in_flight(warp, watched->place[watched->reads + i])))
            wgmma_writes(warp, watched->place[watched->reads + i], watched->number[watched->reads + i],
                         watched->copies ? in_flight : 0);
    return step;
}

struct places {
    struct binder *binder;
    place list[2 * PTX_MAX_SOURCES + 16];
    int32_t number[2 * PTX_MAX_SOURCES + 16];
    int count;
};

static void add(struct places *places, const struct ptx_operand *operand) {
    bool full = places->count == (int)(sizeof places->list / sizeof *places->list);
    if (operand->kind == PTX_OPERAND_REGISTER && operand->reg_type != PTX_PRED && !full) {
        places->number[places->count] = operand->number;
        places->list[places->count++] = bind_register(places->binder, operand->slot);
    }
    for (int i = 0; i < operand->count && operand->count <= 8; i++)
        add(places, &operand->elements[i]);
}

static bool is_copy(const struct ptx_instruction *ptx) {
    return ptx->opcode == PTX_OP_MOV && ptx->type != PTX_PRED && ptx->src[0].kind == PTX_OPERAND_REGISTER &&
           ptx->dst[0].kind == PTX_OPERAND_REGISTER;
}

// What looks at its lanes itself, or is found by what it runs.
static bool is_apart(const struct bound *bound) {
    enum ptx_opcode opcode = bound->ptx->opcode;
    return bound->kind == BOUND_BRANCH || opcode == PTX_OP_BAR_WARP_SYNC || opcode == PTX_OP_BAR ||
           opcode == PTX_OP_WGMMA_MMA_ASYNC || opcode == PTX_OP_MBARRIER_TRY_WAIT ||
           opcode == PTX_OP_MBARRIER_TEST_WAIT || opcode == PTX_OP_CALL || opcode == PTX_OP_RET;
}

static bool any(const uint8_t *marked, const place *list, int count) {
    for (int i = 0; i < count; i++)
        if (marked[(list[i] >> 1) / 64])
            return true;
    return false;
}

// Accumulators, and where copies take them.
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
            if (!is_copy(bound->ptx) || bound->d == NO_PLACE || bound->a & 1)
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
                int32_t number = a->elements[k].number;
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
    struct watched *watched = bind_own(binder, sizeof *watched);
    place *list = bind_own(binder, (size_t)places.count * sizeof *list);
    int32_t *number = bind_own(binder, (size_t)places.count * sizeof *number);
    if (!watched || !list || !number)
        return false;
    memcpy(list, places.list, (size_t)places.count * sizeof *list);
    memcpy(number, places.number, (size_t)places.count * sizeof *number);
    *watched = (struct watched){
        bound->kind == BOUND_LANES ? NULL : bound->run, reads, places.count - reads, list, number, is_copy(ptx)};
    bound->kind = BOUND_RUN;
    bound->run = run_watched;
    bound->watched = watched;
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
