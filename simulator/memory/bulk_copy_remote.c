// Copies from a block to the shared memory of another block of its cluster: bulk copies and asynchronous stores of
// single threads. The bytes are read at once, and land when the other block waits on the mbarrier that they signal.
#include "../analyses/race_proxy.h"
#include "../machine/cluster.h"
#include "bind_memory.h"
#include "bulk.h"

#include <string.h>

enum step bulk_copy_remote(struct warp *warp, const struct bound *bound, int lane) {
    const struct bulk_operands *operands = operand_data(warp, bound->c);
    uint32_t bytes = cells32(warp, operands->size)[lane];
    uint64_t from = address_in_shared(warp, &operands->from, PTX_SHARED, lane);
    uint64_t to = address_in_shared(warp, &operands->to, PTX_SHARED, lane);
    enum step step;
    struct block *target = address_block(warp, bound, &to, lane, &step);
    if (target && cluster_block_of(warp->block, from) == warp->block)
        from &= CLUSTER_OFFSET; // without its rank the offset is checked against the block's own memory
    if (target)
        step = bulk_check_shared(warp, bound, lane, from, bytes, BULK_UNIT);
    if (step == STEP_NEXT)
        step = bulk_check_shared(warp, bound, lane, to, bytes, BULK_UNIT);
    if (step == STEP_NEXT && (bytes == 0 || bytes % BULK_UNIT))
        return bulk_misaligned(warp, bound, lane, "a size", bytes, BULK_UNIT);
    if (step != STEP_NEXT)
        return step;
    struct bulk_copy *copy = bulk_make(warp, bound, lane, bytes);
    if (!copy)
        return warp_fatal(warp, SIM_OUT_OF_HOST_MEMORY);
    memcpy(copy->data, warp->block->shared + from, bytes);
    copy->reduces = bound->ptx->type;
    copy->read_clock = bulk_begin_read(warp, bound, lane, (uint32_t)from, bytes, NULL);
    if (!bulk_note_remote_copy(warp, bound, lane, copy->read_clock)) {
        bulk_free(copy);
        return warp_fatal(warp, SIM_OUT_OF_HOST_MEMORY);
    }
    return bulk_issue(warp, bound, lane, copy, target, to, NULL,
                      address_in_shared(warp, &operands->barrier, PTX_SHARED, lane));
}

// ---- st.async, red.async -------------------------------------------------------------------------------------------

struct async_store {
    struct operand_address to, barrier;
};

static enum step store_lane(struct warp *warp, const struct bound *bound, int lane) {
    const struct async_store *operands = operand_data(warp, bound->c);
    enum ptx_space space = (enum ptx_space)bound->space;
    uint64_t to = address_in_shared(warp, &operands->to, space, lane);
    uint32_t bytes = (uint32_t)bound->bytes * bound->vector;
    enum step step;
    struct block *target = address_block(warp, bound, &to, lane, &step);
    if (target)
        step = bulk_check_shared(warp, bound, lane, to, bytes, bytes);
    if (step != STEP_NEXT)
        return step;
    struct bulk_copy *copy = bulk_make(warp, bound, lane, bytes);
    if (!copy)
        return warp_fatal(warp, SIM_OUT_OF_HOST_MEMORY);
    for (int k = 0; k < bound->vector; k++) {
        const void *from = bound->width > 32 ? (const void *)&cells64(warp, bound->elements[k])[lane]
                                             : (const void *)&cells32(warp, bound->elements[k])[lane];
        memcpy(copy->data + k * bound->bytes, from, bound->bytes);
    }
    if (bound->ptx->opcode == PTX_OP_RED_ASYNC)
        copy->reduces = bound->ptx->type;
    return bulk_issue(warp, bound, lane, copy, target, to, NULL,
                      address_in_shared(warp, &operands->barrier, space, lane));
}

static enum step run_async_store(struct warp *warp, const struct bound *bound, uint32_t mask) {
    enum step step = STEP_NEXT;
    for (uint32_t left = mask; left && step == STEP_NEXT; left &= left - 1)
        step = store_lane(warp, bound, first_lane(left));
    return step;
}

bool bind_async_store(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    const struct ptx_operand *data = &ptx->src[1];
    struct async_store operands;
    int vector = data->kind == PTX_OPERAND_VECTOR ? data->count : 1, bits = type_bits(ptx->type);
    bound->kind = BOUND_RUN;
    bound->run = run_async_store;
    bound->space = (uint8_t)ptx->space;
    bound->bytes = (uint8_t)(bits / 8);
    bound->vector = (uint8_t)vector;
    bound->width = (uint8_t)bits;
    bound->elements = bind_operands(binder, data, ptx->type, false);
    if ((bits != 32 && bits != 64) || vector > 4 || bits * vector > 128 || ptx->completion != PTX_BY_MBARRIER ||
        !address_bind(binder, &ptx->src[0], &operands.to) || !address_bind(binder, &ptx->src[2], &operands.barrier))
        return false;
    for (int i = 0; bound->elements && i < vector; i++)
        if (bound->elements[i] == NO_OPERAND)
            return false;
    bound->c = bind_data(binder, &operands, sizeof operands);
    return true;
}
