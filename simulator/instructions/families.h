// The binders of all instructions, by family: integers (bind_arith.c), floating point (bind_float.c, bind_half.c), bits
// (bind_bits.c), parts of words (video.c), comparisons (bind_compare.c), moves and conversions (bind_move.c), matrices
// (matrix.c), exchanges between lanes (shuffle.c), control flow (control.c), barriers, fences and hints
// (bind_control.c); memory has its own folder. binders.def maps opcodes to binders.
#ifndef SIMULATOR_INSTRUCTIONS_FAMILIES_H
#define SIMULATOR_INSTRUCTIONS_FAMILIES_H

#include "../machine/binder.h"

// Binds an instruction; all fields that are not filled in are 0. false: the binder does not support the form.
typedef bool bind_instruction(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound);

#define BINDER(opcode, function) bind_instruction function;
#include "binders.def"
#undef BINDER

// Shared by several opcodes' binders.
bind_instruction bind_arith, bind_float, bind_mma_double;

// fp16 and bf16 arithmetic, bind_half.c: the operation, and its flags in *extra (lanes/half.h). NULL if there is none.
lane_operation *half_operation(const struct lanes *lanes, const struct ptx_instruction *ptx, uint32_t *extra);

// Fills in bound.line. false: out of memory. lines.c
bool find_lines(struct sim_kernel *kernel);

#endif
