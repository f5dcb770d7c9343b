// Shared by mma and wmma.
#ifndef SIMULATOR_INSTRUCTIONS_MATRIX_H
#define SIMULATOR_INSTRUCTIONS_MATRIX_H

#include "../lanes/matrix.h"
#include "../machine/binder.h"

enum lane_element matrix_element(enum ptx_type type);

// The registers of an operand of mma, four at most; NO_OPERAND past its last one.
bool bind_fragment(struct binder *binder, const struct ptx_operand *operand, operand_ref places[4], bool result);

#endif
