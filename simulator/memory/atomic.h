// Atomic updates of many elements at once, for bulk reductions.
#ifndef SIMULATOR_MEMORY_ATOMIC_H
#define SIMULATOR_MEMORY_ATOMIC_H

#include "../ptx/program.h"

// Combines bytes / size elements of a type with those in memory. flushes: subnormal sums of fp32 become 0.
void atomic_apply(uint8_t *to, const uint8_t *from, uint32_t bytes, enum ptx_variant what, enum ptx_type type,
                  bool flushes);

#endif
