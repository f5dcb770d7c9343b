#include "address.h"

#include "../machine/access.h"

bool address_bind(struct binder *binder, const struct ptx_operand *operand, struct operand_address *address) {
    *address = (struct operand_address){.offset = operand->offset};
    if (operand->kind != PTX_OPERAND_ADDRESS)
        return false;
    if (operand->variable >= 0)
        address->offset += (int64_t)binder->kernel->variable_address[operand->variable];
    if (operand->slot >= 0) {
        address->base = bind_register(binder, operand->slot);
        address->cell = is_64_bit(operand->reg_type) ? 8 : 4;
    }
    return true;
}

uint64_t address_of_lane(const struct warp *warp, const struct operand_address *address, int lane) {
    switch (address->cell) {
    case 8:
        return cells64(warp, address->base)[lane] + (uint64_t)address->offset;
    case 4:
        return (uint32_t)(cells32(warp, address->base)[lane] + (uint32_t)address->offset);
    default:
        return (uint64_t)address->offset;
    }
}

uint64_t address_in_shared(const struct warp *warp, const struct operand_address *address, enum ptx_space space,
                           int lane) {
    uint64_t at = address_of_lane(warp, address, lane);
    if (space == PTX_GENERIC)
        return (at & WINDOW_MASK) == SIM_SHARED_WINDOW ? at & ~WINDOW_MASK : UINT64_MAX;
    return at & ~WINDOW_MASK;
}
