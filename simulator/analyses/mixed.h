// Plain reads that come before an atomic on the same place. mixed.c explains them.
#ifndef SIMULATOR_ANALYSES_MIXED_H
#define SIMULATOR_ANALYSES_MIXED_H

#include "../machine/bound.h"

// Looks through a kernel that is bound, but for its lines, and sets before_atomic.
void mixed_find(struct sim_kernel *kernel);

// Whether a conflict between a read and a write is only that the two are mixed: the read is a guess that an atomic of
// its own thread then tests, and the write is an atomic.
static inline bool is_mixed(const struct bound *read, const struct bound *write) {
    return read->before_atomic && (write->ptx->opcode == PTX_OP_ATOM || write->ptx->opcode == PTX_OP_RED);
}

#endif
