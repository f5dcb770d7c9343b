// Helpers to bind instructions of all families: references to operands in the warp's register file or among the
// kernel's constants, and memory that lives as long as the kernel.
#ifndef SIMULATOR_MACHINE_BINDER_H
#define SIMULATOR_MACHINE_BINDER_H

#include "bound.h"

struct binder {
    struct sim_kernel *kernel;
    const struct lanes *lanes;
    const struct ptx_frame *frame; // the function that contains the instruction
    bool failed;                   // out of memory
};

// Operands. A constant is truncated to the type.
operand_ref bind_register(struct binder *binder, int32_t slot);
operand_ref bind_source(struct binder *binder, const struct ptx_operand *operand, enum ptx_type type);
operand_ref bind_constant(struct binder *binder, uint64_t value, enum ptx_type type);
operand_ref bind_data(struct binder *binder, const void *data, size_t size); // a structure among the constants
operand_ref bind_result(struct binder *binder, const struct ptx_operand *operand);
const operand_ref *bind_operands(struct binder *binder, const struct ptx_operand *operand, enum ptx_type type,
                                 bool result);
void *bind_allocate(struct binder *binder, size_t size); // zeroed, freed with the kernel

// Binds an instruction that is one lane operation on up to three sources.
bool bind_lanes(struct binder *binder, struct bound *bound, lane_operation *lanes, enum ptx_type result,
                enum ptx_type a, enum ptx_type b, enum ptx_type c);

#endif
