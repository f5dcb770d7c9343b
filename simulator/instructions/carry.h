// Instructions that do not fit "d = f(a, b, c)": the carry flag of extended-precision arithmetic, and four sources.
#ifndef SIMULATOR_INSTRUCTIONS_CARRY_H
#define SIMULATOR_INSTRUCTIONS_CARRY_H

#include "../machine/binder.h"

bool bind_carry(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound);  // add.cc ... madc
bool bind_insert(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound); // bfi
bool bind_lop3_predicate(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound);

#endif
