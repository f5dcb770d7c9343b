// Finds plain reads that precede an atomic on the same address. mixed.c explains them.
#ifndef SIMULATOR_ANALYSES_MIXED_H
#define SIMULATOR_ANALYSES_MIXED_H

#include "../machine/bound.h"

// Sets before_atomic in a bound kernel whose lines are not known yet.
void mixed_mark_loads(struct sim_kernel *kernel);

// Returns whether the read is a guess that an atomic of its own thread tests, and the write is an atomic.
static inline bool is_mixed_access(const struct bound *read, const struct bound *write) {
    return read->before_atomic && (write->ptx->opcode == PTX_OP_ATOM || write->ptx->opcode == PTX_OP_RED);
}

#endif
