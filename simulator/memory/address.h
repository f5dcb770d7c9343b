// An operand that is an address, of an instruction that has several of them or looks at lanes one by one.
#ifndef SIMULATOR_MEMORY_ADDRESS_H
#define SIMULATOR_MEMORY_ADDRESS_H

#include "../machine/binder.h"
#include "../machine/warp.h"

struct operand_address {
    place base;
    int cell; // bytes of a lane of base, 0: there is no register
    int64_t offset;
};

// false where the operand is no address.
bool address_bind(struct binder *binder, const struct ptx_operand *operand, struct operand_address *address);

uint64_t address_of_lane(const struct warp *warp, const struct operand_address *address, int lane);

// The same for an address in shared memory, generic or not: its offset there, and above it the rank of its block where
// it names one (machine/cluster.h). UINT64_MAX: it is in another space.
uint64_t address_in_shared(const struct warp *warp, const struct operand_address *address, enum ptx_space space,
                           int lane);

// The block whose shared memory such an address is in, and its offset there. NULL where there is none, or no longer;
// it is reported, and *step is what the instruction has to return. cluster_access.c
struct block *address_block(struct warp *warp, const struct bound *bound, uint64_t *address, int lane, enum step *step);

#endif
