// An operand that is an address, of an instruction that has several addresses or processes lanes one by one.
#ifndef SIMULATOR_MEMORY_ADDRESS_H
#define SIMULATOR_MEMORY_ADDRESS_H

#include "../machine/binder.h"
#include "../machine/warp.h"

struct operand_address {
    operand_ref base;
    int cell; // bytes of a lane of base, 0: there is no register
    int64_t offset;
};

// false if the operand is not an address.
bool address_bind(struct binder *binder, const struct ptx_operand *operand, struct operand_address *address);

uint64_t address_of_lane(const struct warp *warp, const struct operand_address *address, int lane);

// The same for an address in shared memory, generic or not: its offset, and above it the rank of its block if it has
// one (machine/cluster.h). UINT64_MAX: the address is in another space.
uint64_t address_in_shared(const struct warp *warp, const struct operand_address *address, enum ptx_space space,
                           int lane);

// Returns the block whose shared memory contains such an address, and reduces *address to the offset. NULL: there is no
// such block, or it has exited; this is reported, and *step is the return value of the instruction. cluster_access.c
struct block *address_block(struct warp *warp, const struct bound *bound, uint64_t *address, int lane, enum step *step);

#endif
