// Accesses to more bytes than the host can read or write at once, which are one access for blocks on other host
// threads.
#ifndef SIMULATOR_MEMORY_WHOLE_H
#define SIMULATOR_MEMORY_WHOLE_H

#include <stdbool.h>
#include <stdint.h>

// Copies 8, 16 or 32 bytes. shared: the one of the two that others may access.
void whole_move(uint8_t *to, const uint8_t *from, uint8_t *shared, unsigned bytes);

// Puts the 16 bytes of value at where; with expected only where they are equal to that. old: what was there. Returns
// whether what is there has changed.
bool whole_exchange(uint8_t *where, const uint64_t value[2], const uint64_t *expected, uint64_t old[2]);

#endif
