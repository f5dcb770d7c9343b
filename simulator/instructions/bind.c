#include "bind.h"
#include "../analyses/mixed.h"
#include "../memory/bind_memory.h"

#include "../machine/report.h"
#include "families.h"
#include "setmaxnreg.h"
#include "wgmma.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct ptx_frame *frame_of(const struct ptx_kernel *ptx, int32_t instruction) {
    for (int i = 0; i < ptx->functions; i++) {
        const struct ptx_frame *frame = &ptx->function[i];
        if (instruction >= frame->entry && instruction < frame->entry + frame->instructions)
            return frame;
    }
    return &ptx->function[0];
}

static bind_instruction *const binder_of[] = {
#define BINDER(opcode, function) [PTX_OP_##opcode] = function,
#include "binders.def"
#undef BINDER
};

// One line per opcode. The compiler rejects two lines for the same opcode: the second would override the first.
enum {
    BINDERS = 0
#define BINDER(opcode, function) +1
#include "binders.def"
#undef BINDER
};
_Static_assert(BINDERS == (int)PTX_OPCODES, "an opcode of ptx/opcodes.def has no line in binders.def");

static bool bind_one(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    bound->ptx = ptx;
    bound->guard = ptx->guard < 0 ? bind_constant(binder, 1, PTX_PRED) : bind_register(binder, ptx->guard);
    bound->guard_flip = ptx->guard_negated ? ALL_LANES : 0;
    return binder_of[ptx->opcode](binder, ptx, bound);
}

// The cells of shared memory's shadow are as small as the narrowest access to it.
static int shadow_shift(const struct sim_kernel *kernel) {
    int shift = 2;
    for (int i = 0; i < kernel->ptx->instructions; i++) {
        const struct bound *bound = &kernel->code[i];
        bool reaches =
            bound->kind == BOUND_RUN && bound->bytes && (bound->space == PTX_SHARED || bound->space == PTX_GENERIC);
        if (reaches && bound->bytes < 1 << shift)
            shift = bound->bytes == 1 ? 0 : 1;
    }
    return shift;
}

static void describe(const struct ptx_kernel *ptx, int instruction, char *error, size_t size) {
    const struct ptx_instruction *unknown = &ptx->instruction[instruction];
    char location[256];
    sim_report_location(ptx, instruction, location, sizeof location);
    snprintf(error, size, "%s: the simulator does not know the PTX instruction \"%s\" (PTX line %d of kernel %s)",
             location, unknown->text ? unknown->text : ptx_opcode_name(unknown->opcode), unknown->ptx_line, ptx->name);
}

struct sim_kernel *sim_kernel_bind(const struct ptx_kernel *ptx, const uint64_t *variable_address, char *error,
                                   size_t error_size) {
    struct sim_kernel *kernel = calloc(1, sizeof *kernel);
    struct binder binder = {.kernel = kernel, .lanes = lanes_table(), .frame = &ptx->function[0]};
    if (!kernel) {
        snprintf(error, error_size, "out of memory");
        return NULL;
    }
    kernel->ptx = ptx;
    kernel->lanes = binder.lanes;
    kernel->register_bytes = (ptx->register_bytes + 63) / 64 * 64;
    memset(kernel->special, -1, sizeof kernel->special);
    int variables = ptx->module->variables;
    kernel->variable_address = calloc((size_t)variables + 1, sizeof *kernel->variable_address);
    kernel->code = calloc((size_t)ptx->instructions + 1, sizeof *kernel->code);
    if (!kernel->code || !kernel->variable_address)
        binder.failed = true;
    if (!binder.failed && variables)
        memcpy(kernel->variable_address, variable_address, (size_t)variables * sizeof *variable_address);
    for (int i = 0; i < ptx->instructions && !binder.failed; i++) {
        binder.frame = frame_of(ptx, i);
        if (!bind_one(&binder, &ptx->instruction[i], &kernel->code[i])) {
            describe(ptx, i, error, error_size);
            sim_kernel_free(kernel);
            return NULL;
        }
    }
    if (binder.failed || !find_lines(kernel) || !wgmma_watch(&binder)) {
        snprintf(error, error_size, "out of memory while binding kernel %s", ptx->name);
        sim_kernel_free(kernel);
        return NULL;
    }
    kernel->shadow_shift = shadow_shift(kernel);
    setmaxnreg_begin(kernel, 0);
    mixed_mark_loads(kernel);
    return kernel;
}

void sim_kernel_registers(struct sim_kernel *kernel, int registers) {
    setmaxnreg_begin(kernel, registers);
}

void sim_kernel_free(struct sim_kernel *kernel) {
    if (!kernel)
        return;
    for (int i = 0; i < kernel->owned_count; i++)
        free(kernel->owned[i]);
    free(kernel->owned);
    free(kernel->constants);
    free(kernel->variable_address);
    free(kernel->code);
    free(kernel);
}
