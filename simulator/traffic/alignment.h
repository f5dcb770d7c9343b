// Compile-time knowledge of a register's value: the number of its low bits that are certainly 0. The assembler merges
// neighbouring accesses only if it can prove that the merged access is aligned; this is the proof.
#ifndef SIMULATOR_TRAFFIC_ALIGNMENT_H
#define SIMULATOR_TRAFFIC_ALIGNMENT_H

#include "../ptx/program.h"

// Low zero bits of the address register of each memory instruction before it runs; 0 for other instructions. An address
// without a register counts as aligned to anything. The caller frees the array, [kernel->instructions]; NULL if the
// host has no memory left.
uint8_t *traffic_address_zero_bits(const struct ptx_kernel *kernel);

// Sets starts[n], [kernel->instructions], if instruction n is the target of a branch or call.
void traffic_mark_block_starts(const struct ptx_kernel *kernel, bool *starts);

#endif
