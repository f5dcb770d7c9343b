// Moves that are not plain copies: packing, clocks, addresses.
#ifndef SIMULATOR_INSTRUCTIONS_MOVE_H
#define SIMULATOR_INSTRUCTIONS_MOVE_H

#include "../machine/binder.h"

bool bind_pack(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound);
bool bind_clock(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound);
bool bind_local_address(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound);
bool bind_cvta(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound);
bool bind_isspacep(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound);

// Special registers that are evaluated at each read.
bool special_changes(enum ptx_special special);

#endif
