// Multiplications that are fused with an addition. PTX lets ptxas fuse a mul with an add or sub if neither specifies a
// rounding (PTX ISA, "Floating Point Instructions: add"), and it does so if no other instruction needs the product.
#include "work.h"

#include "../ptx/linker.h"

#include <stdlib.h>

enum { UNIT = 4, NO_WRITER = -1 };

// Slots are reused, but in program order the value in a slot belongs to its last writer.
struct uses {
    int32_t *writer; // [slots]
    int32_t *reads;  // [instructions]: the number of reads of its result
    int32_t base, instruction;
};

static void note_use(void *context, int32_t slot, bool written, bool always) {
    struct uses *uses = context;
    int32_t *writer = &uses->writer[(slot + uses->base) / UNIT];
    if (*writer != NO_WRITER && (!written || !always)) // if some lanes are excluded, the old value remains
        uses->reads[*writer]++;
    if (written)
        *writer = uses->instruction;
}

static bool may_fuse(const struct ptx_instruction *i, enum ptx_type type) {
    bool floats = i->type == PTX_F32 || i->type == PTX_F64;
    return floats && i->type == type && i->rounding == PTX_ROUND_NONE && !(i->flags & PTX_SAT) && i->guard < 0;
}

// The mul whose product the add i reads and can be fused with, NO_WRITER: none. Of two it takes one.
static int32_t multiplication_of(const struct ptx_kernel *kernel, const struct uses *uses,
                                 const struct ptx_instruction *i) {
    if ((i->opcode != PTX_OP_ADD && i->opcode != PTX_OP_SUB) || !may_fuse(i, i->type))
        return NO_WRITER;
    for (int s = 0; s < 2; s++) {
        if (i->src[s].kind != PTX_OPERAND_REGISTER)
            continue;
        int32_t writer = uses->writer[(i->src[s].slot + uses->base) / UNIT];
        if (writer != NO_WRITER && kernel->instruction[writer].opcode == PTX_OP_MUL &&
            may_fuse(&kernel->instruction[writer], i->type))
            return writer;
    }
    return NO_WRITER;
}

bool work_find_fused(const struct ptx_kernel *kernel, const struct ptx_frame *frame, bool *fused) {
    size_t slots = kernel->register_bytes / UNIT + 1;
    int32_t *taken = calloc((size_t)kernel->instructions + 1, sizeof *taken);
    struct uses uses = {.writer = malloc(slots * sizeof *uses.writer),
                        .reads = calloc((size_t)kernel->instructions + 1, sizeof *uses.reads),
                        .base = frame->register_base};
    bool made = taken && uses.writer && uses.reads;
    for (size_t s = 0; made && s < slots; s++)
        uses.writer[s] = NO_WRITER;
    for (int32_t i = frame->entry; made && i < frame->entry + frame->instructions; i++) {
        int32_t mul = multiplication_of(kernel, &uses, &kernel->instruction[i]);
        if (mul != NO_WRITER)
            taken[mul]++;
        uses.instruction = i;
        visit_registers(&kernel->instruction[i], note_use, &uses);
    }
    for (int32_t i = frame->entry; made && i < frame->entry + frame->instructions; i++)
        fused[i] = taken[i] && taken[i] == uses.reads[i];
    free(taken);
    free(uses.writer);
    free(uses.reads);
    return made;
}
