// The binders of all instructions, by families: integers (bind_arith.c), floating point (bind_float.c, bind_half.c),
// bits (bind_bits.c), parts of words (video.c), comparisons (bind_compare.c), moves and conversions (bind_move.c),
// matrices (matrix.c), values between lanes (shuffle.c), control flow (control.c), barriers, fences and hints
// (bind_control.c); memory has a room of its own. Which opcode goes to which is in binders.def.
#ifndef SIMULATOR_INSTRUCTIONS_FAMILIES_H
#define SIMULATOR_INSTRUCTIONS_FAMILIES_H

#include "../machine/binder.h"

// Makes bound of an instruction; everything that is not filled in is 0. false: it has a form that the binder does not
// know.
typedef bool bind_instruction(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound);

#define BINDER(opcode, function) bind_instruction function;
#include "binders.def"
#undef BINDER

// What several opcodes' binders are made of.
bind_instruction bind_arith, bind_float, bind_mma_double;

// fp16 and bf16 arithmetic, bind_half.c: the operation, and in *extra what it is told (lanes/half.h). NULL where there
// is none.
lane_operation *half_operation(const struct lanes *lanes, const struct ptx_instruction *ptx, uint32_t *extra);

// Fills in bound.line. false: out of memory. lines.c
bool find_lines(struct sim_kernel *kernel);

#endif
