// Accesses wider than the host's widest atomic access, which are single accesses for blocks on other host threads.
#ifndef SIMULATOR_MEMORY_WIDE_ATOMIC_H
#define SIMULATOR_MEMORY_WIDE_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

// Copies 8, 16 or 32 bytes. shared: the one of the two that other threads may access.
void wide_atomic_copy(uint8_t *to, const uint8_t *from, uint8_t *shared, unsigned bytes);

// Stores the 16 bytes of value at where; with expected only if *where equals it. old: the previous value. Returns
// whether the value has changed.
bool wide_atomic_exchange(uint8_t *where, const uint64_t value[2], const uint64_t *expected, uint64_t old[2]);

#endif
