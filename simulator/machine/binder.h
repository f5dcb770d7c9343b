// What binding an instruction needs whatever its family: places for its operands, in the warp's register file or among
// the kernel's constants, and memory that lives as long as the kernel.
#ifndef SIMULATOR_MACHINE_BINDER_H
#define SIMULATOR_MACHINE_BINDER_H

#include "bound.h"

struct binder {
    struct sim_kernel *kernel;
    const struct lanes *lanes;
    const struct ptx_frame *frame; // the function that the instruction is in
    bool failed;                   // out of memory
};

// Places of operands. A constant is cut to the type.
place bind_register(struct binder *binder, int32_t slot);
place bind_source(struct binder *binder, const struct ptx_operand *operand, enum ptx_type type);
place bind_constant(struct binder *binder, uint64_t value, enum ptx_type type);
place bind_data(struct binder *binder, const void *data, size_t size); // a structure among the constants
place bind_result(struct binder *binder, const struct ptx_operand *operand);
const place *bind_places(struct binder *binder, const struct ptx_operand *operand, enum ptx_type type, bool result);
void *bind_own(struct binder *binder, size_t size); // zeroed, freed with the kernel

// An instruction that is one lane operation on up to three sources.
bool bind_lanes(struct binder *binder, struct bound *bound, lane_operation *lanes, enum ptx_type result,
                enum ptx_type a, enum ptx_type b, enum ptx_type c);

#endif
