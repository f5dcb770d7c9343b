// cp.async.bulk and cp.async.bulk.tensor: see bulk.h. A copy to shared memory reads its source when it is issued and
// lands when the barrier is waited for, or by chance at once; one to global memory reads shared memory when it is
// issued and lands when its group is waited for, or with the end of the block.
#include "../analyses/race_proxy.h"
#include "../analyses/race_shared.h"
#include "../recording/recording.h"
#include "../traffic/traffic.h"
#include "../traffic/work.h"
#include "address.h"
#include "bind_memory.h"
#include "bulk.h"
#include "mbarrier.h"
#include "tensor_box.h"

#include <stdlib.h>
#include <string.h>

#define BULK_UNIT 16
#define TENSOR_ALIGNMENT 128 // of a box in shared memory
#define RECORDED_ROWS 256    // of a box: its most, but for more than two dimensions
#define RECORDED_UNITS 4096  // of a box of 256 bytes a row

struct bulk_operands {
    struct operand_address to, from, barrier;
    place size;
    place coordinate[TENSOR_MOST_DIMENSIONS];
};

// Of a thread's copies to global memory.
struct bulk_store {
    struct bulk_store *next;
    struct bulk_copy *copy;
    uint64_t to; // plain copies: device address
    unsigned warp;
    int lane;
    uint32_t group; // of its thread
    uint32_t clock; // of the agent that reads shared memory
    bool read;      // somebody has waited for that
    struct sim_allocation *allocation;
};

struct bulk_stores {
    struct bulk_store *first;
    uint32_t committed[MAX_WARPS][LANES];
};

void bulk_free(struct bulk_copy *copy) {
    if (copy)
        free(copy->piece);
    free(copy);
}

void bulk_free_list(struct bulk_copy *first) {
    while (first) {
        struct bulk_copy *next = first->next;
        bulk_free(first);
        first = next;
    }
}

static struct bulk_copy *make_copy(struct warp *warp, const struct bound *bound, uint32_t bytes) {
    struct bulk_copy *copy = calloc(1, sizeof *copy + bytes);
    if (!copy)
        return NULL;
    copy->bytes = bytes;
    copy->pc = pc_of(warp, bound);
    return copy;
}

// The pieces of a box that begins at offset of shared memory.
static bool spread(struct bulk_copy *copy, uint32_t offset, unsigned swizzle) {
    uint32_t unit = swizzle ? BULK_UNIT : copy->bytes;
    copy->pieces = copy->bytes / unit;
    copy->piece = malloc(copy->pieces * sizeof *copy->piece);
    for (uint32_t i = 0; copy->piece && i < copy->pieces; i++)
        copy->piece[i] = (struct bulk_piece){tensor_swizzle(offset + i * unit, swizzle), unit};
    return copy->piece;
}

static uint32_t first_byte(const struct bulk_copy *copy) {
    uint32_t first = UINT32_MAX;
    for (uint32_t i = 0; i < copy->pieces; i++)
        first = copy->piece[i].offset < first ? copy->piece[i].offset : first;
    return first;
}

void bulk_land(struct block *block, const struct bulk_copy *copy, uint32_t key) {
    const uint8_t *from = copy->data;
    for (uint32_t i = 0; i < copy->pieces; i++) {
        memcpy(block->shared + copy->piece[i].offset, from, copy->piece[i].bytes);
        race_proxy_land(block, key, copy->pc, copy->piece[i].offset, copy->piece[i].bytes);
        from += copy->piece[i].bytes;
    }
}

static void fill(uint8_t *to, const struct box *box) {
    memset(to, 0, box->row_bytes);
    for (uint32_t i = box->map.element_bytes; box->map.nan_fill && i <= box->row_bytes; i += box->map.element_bytes) {
        memset(to + i - box->map.element_bytes, 0xff, box->map.element_bytes);
        to[i - 1] = 0x7f;
    }
}

static enum step load_box(struct warp *warp, const struct bound *bound, int lane, const struct box *box,
                          struct bulk_copy *copy) {
    for (uint32_t row = 0; row < box->rows; row++) {
        uint64_t address;
        uint32_t first, end;
        struct sim_allocation *allocation;
        uint8_t *to = copy->data + (size_t)row * box->row_bytes;
        fill(to, box);
        if (!tensor_row_inside(box, row, &address, &first, &end))
            continue;
        enum step step = bulk_check_global(warp, bound, lane, address, end - first, false, true, &allocation);
        if (step != STEP_NEXT)
            return step;
        memcpy(to + first, allocation->bytes + (address - allocation->address), end - first);
    }
    return STEP_NEXT;
}

// ---- To shared memory ----------------------------------------------------------------------------------------------

static enum step issue_load(struct warp *warp, const struct bound *bound, int lane, struct bulk_copy *copy,
                            uint64_t offset, unsigned swizzle) {
    const struct bulk_operands *operands = at(warp, bound->c);
    enum step step;
    struct mbarrier *barrier =
        mbarrier_use(warp, bound, address_in_shared(warp, &operands->barrier, PTX_SHARED, lane), lane, &step);
    if (!barrier) {
        bulk_free(copy);
        return step;
    }
    if (!barrier->fenced && warp->block->race.on)
        warp_report(warp, SIM_FINDING_MBARRIER, bound, &warp->code[barrier->init_pc], lane,
                    "{here} lets a bulk copy signal the barrier at byte %u of shared memory, which {there} sets up; no "
                    "fence.mbarrier_init or fence.proxy.async makes that visible to the asynchronous proxy",
                    barrier->offset);
    if (!spread(copy, (uint32_t)offset, swizzle)) {
        bulk_free(copy);
        return warp_fatal(warp, SIM_OUT_OF_HOST_MEMORY);
    }
    copy->phase = barrier->phase;
    if (warp->work)
        copy->time = work_copy(warp->work, copy->bytes);
    traffic_bulk(warp->block->traffic, copy->bytes);
    recording_event(warp, bound, RECORDING_BULK, barrier->offset, copy->bytes);
    race_proxy_issue(warp, bound, lane, first_byte(copy), copy->bytes);
    if (barrier->first)
        barrier->last->next = copy;
    else
        barrier->first = copy;
    barrier->last = copy;
    block_event(warp->block);
    mbarrier_settle_early(warp, barrier);
    return STEP_NEXT;
}

// Tells the recording of the rows of a box.
static void record_box(struct warp *warp, const struct bound *bound, bool stores, uint64_t offset,
                       const struct box *box) {
    uint64_t address[RECORDED_ROWS];
    int64_t unit[RECORDED_UNITS];
    const uint32_t rows = box->rows < RECORDED_ROWS ? box->rows : RECORDED_ROWS;
    const uint32_t units = rows * box->row_bytes / BULK_UNIT;
    const bool known = box->row_bytes % BULK_UNIT == 0 && units <= RECORDED_UNITS;
    if (!warp->record)
        return;
    for (uint32_t i = 0; i < units && known; i++)
        unit[i] = tensor_swizzle((uint32_t)offset + i * BULK_UNIT, box->map.swizzle);
    for (uint32_t row = 0; row < rows; row++) {
        uint32_t first, end;
        if (!tensor_row_inside(box, row, &address[row], &first, &end))
            address[row] = 0;
    }
    recording_box(warp, bound, stores, (uint32_t)offset, box->row_bytes, rows, address, known ? unit : NULL, units);
}

static enum step load_tensor(struct warp *warp, const struct bound *bound, int lane) {
    const struct bulk_operands *operands = at(warp, bound->c);
    struct box box;
    if (!tensor_map_read(warp, bound, lane, address_of_lane(warp, &operands->from, lane), &box.map))
        return STEP_STOP;
    tensor_box_find(warp, operands->coordinate, lane, &box);
    uint64_t offset = address_in_shared(warp, &operands->to, PTX_SHARED, lane);
    enum step step = bulk_check_shared(warp, bound, lane, offset, box.rows * box.row_bytes, TENSOR_ALIGNMENT);
    if (step != STEP_NEXT)
        return step;
    record_box(warp, bound, false, offset, &box);
    struct bulk_copy *copy = make_copy(warp, bound, box.rows * box.row_bytes);
    if (!copy)
        return warp_fatal(warp, SIM_OUT_OF_HOST_MEMORY);
    step = load_box(warp, bound, lane, &box, copy);
    if (step == STEP_NEXT)
        return issue_load(warp, bound, lane, copy, offset, box.map.swizzle);
    bulk_free(copy);
    return step;
}

static enum step check_plain(struct warp *warp, const struct bound *bound, int lane, uint64_t offset, uint64_t address,
                             uint32_t bytes, struct sim_allocation **allocation) {
    enum step step = bulk_check_shared(warp, bound, lane, offset, bytes, BULK_UNIT);
    if (step == STEP_NEXT && (bytes == 0 || bytes % BULK_UNIT))
        return bulk_misaligned(warp, bound, lane, "the number of bytes", bytes, BULK_UNIT);
    if (step == STEP_NEXT && address % BULK_UNIT)
        return bulk_misaligned(warp, bound, lane, "the address in global memory", address, BULK_UNIT);
    bool writes = bound->ptx->space == PTX_GLOBAL;
    return step == STEP_NEXT ? bulk_check_global(warp, bound, lane, address, bytes, writes, false, allocation) : step;
}

static enum step load_plain(struct warp *warp, const struct bound *bound, int lane) {
    const struct bulk_operands *operands = at(warp, bound->c);
    uint32_t bytes = cells32(warp, operands->size)[lane];
    uint64_t offset = address_in_shared(warp, &operands->to, PTX_SHARED, lane);
    uint64_t address = address_of_lane(warp, &operands->from, lane);
    struct sim_allocation *allocation;
    enum step step = check_plain(warp, bound, lane, offset, address, bytes, &allocation);
    if (step != STEP_NEXT)
        return step;
    if (warp->record)
        recording_box(warp, bound, false, (uint32_t)offset, bytes, 1, &address, NULL, 0);
    struct bulk_copy *copy = make_copy(warp, bound, bytes);
    if (!copy)
        return warp_fatal(warp, SIM_OUT_OF_HOST_MEMORY);
    memcpy(copy->data, allocation->bytes + (address - allocation->address), bytes);
    return issue_load(warp, bound, lane, copy, offset, 0);
}

// ---- To global memory ----------------------------------------------------------------------------------------------

static bool make_stores(struct block *block) {
    if (!block->stores)
        block->stores = calloc(1, sizeof *block->stores);
    return block->stores;
}

// Reads shared memory. A row of a box, or all of a plain copy, becomes a store of its own.
static enum step issue_store(struct warp *warp, const struct bound *bound, int lane, uint32_t offset, uint32_t skip,
                             uint32_t bytes, unsigned swizzle, uint64_t address, struct sim_allocation *allocation,
                             uint32_t clock) {
    struct bulk_store *store = calloc(1, sizeof *store);
    struct bulk_copy *copy = make_copy(warp, bound, bytes);
    if (!store || !copy || !make_stores(warp->block)) {
        free(store);
        bulk_free(copy);
        return warp_fatal(warp, SIM_OUT_OF_HOST_MEMORY);
    }
    for (uint32_t i = 0; i < bytes; i++)
        copy->data[i] = warp->block->shared[tensor_swizzle(offset + skip + i, swizzle)];
    *store = (struct bulk_store){
        .next = warp->block->stores->first,
        .copy = copy,
        .to = address,
        .warp = warp->index,
        .lane = lane,
        .group = warp->block->stores->committed[warp->index][lane],
        .clock = clock,
        .allocation = allocation,
    };
    warp->block->stores->first = store;
    return STEP_NEXT;
}

// The agent that reads begins; returns its clock.
static uint32_t begin_reading(struct warp *warp, const struct bound *bound, int lane, uint32_t offset, uint32_t bytes) {
    unsigned agent;
    if (!race_agent_of_bulk(warp->block, &agent)) {
        race_proxy_look(warp, bound, lane, offset, bytes);
        return 0;
    }
    uint32_t clock = race_agent_issue(warp->block, agent);
    race_proxy_read(warp, bound, lane, agent, clock, offset, bytes);
    return clock;
}

static enum step store_tensor(struct warp *warp, const struct bound *bound, int lane) {
    const struct bulk_operands *operands = at(warp, bound->c);
    struct box box;
    if (!tensor_map_read(warp, bound, lane, address_of_lane(warp, &operands->to, lane), &box.map))
        return STEP_STOP;
    tensor_box_find(warp, operands->coordinate, lane, &box);
    uint64_t offset = address_in_shared(warp, &operands->from, PTX_SHARED, lane);
    enum step step = bulk_check_shared(warp, bound, lane, offset, box.rows * box.row_bytes, TENSOR_ALIGNMENT);
    if (step != STEP_NEXT)
        return step;
    record_box(warp, bound, true, offset, &box);
    recording_event(warp, bound, RECORDING_BULK, -1, box.rows * box.row_bytes);
    uint32_t clock = 0;
    bool reading = false; // of a box beyond the tensor nothing is read, and no wait would end it
    for (uint32_t row = 0; row < box.rows && step == STEP_NEXT; row++) {
        uint64_t address;
        uint32_t first, end;
        struct sim_allocation *allocation;
        if (!tensor_row_inside(&box, row, &address, &first, &end))
            continue;
        if (!reading)
            clock = begin_reading(warp, bound, lane, (uint32_t)offset, box.rows * box.row_bytes);
        reading = true;
        step = bulk_check_global(warp, bound, lane, address, end - first, true, true, &allocation);
        if (step == STEP_NEXT)
            step = issue_store(warp, bound, lane, (uint32_t)offset, row * box.row_bytes + first, end - first,
                               box.map.swizzle, address, allocation, clock);
    }
    return step;
}

static enum step store_plain(struct warp *warp, const struct bound *bound, int lane) {
    const struct bulk_operands *operands = at(warp, bound->c);
    uint32_t bytes = cells32(warp, operands->size)[lane];
    uint64_t offset = address_in_shared(warp, &operands->from, PTX_SHARED, lane);
    uint64_t address = address_of_lane(warp, &operands->to, lane);
    struct sim_allocation *allocation;
    enum step step = check_plain(warp, bound, lane, offset, address, bytes, &allocation);
    if (step != STEP_NEXT)
        return step;
    if (warp->record)
        recording_box(warp, bound, true, (uint32_t)offset, bytes, 1, &address, NULL, 0);
    recording_event(warp, bound, RECORDING_BULK, -1, bytes);
    uint32_t clock = begin_reading(warp, bound, lane, (uint32_t)offset, bytes);
    return issue_store(warp, bound, lane, (uint32_t)offset, 0, bytes, 0, address, allocation, clock);
}

static void finish(struct bulk_store *store) {
    memcpy(store->allocation->bytes + (store->to - store->allocation->address), store->copy->data, store->copy->bytes);
    bulk_free(store->copy);
    free(store);
}

static enum step run_commit(struct warp *warp, const struct bound *bound, uint32_t mask) {
    if (!make_stores(warp->block))
        return warp_fatal(warp, SIM_OUT_OF_HOST_MEMORY);
    recording_event(warp, bound, RECORDING_BULK_COMMIT, warp->block->stores->committed[warp->index][first_lane(mask)],
                    0);
    for (uint32_t left = mask; left; left &= left - 1)
        warp->block->stores->committed[warp->index][first_lane(left)]++;
    return STEP_NEXT;
}

// bound->extra: how many of a thread's latest groups may still be on their way.
static enum step run_wait(struct warp *warp, const struct bound *bound, uint32_t mask) {
    struct bulk_stores *stores = warp->block->stores;
    uint32_t clock = 0;
    unsigned agent;
    recording_event(warp, bound, RECORDING_BULK_WAIT, bound->extra, 0);
    if (!stores)
        return STEP_NEXT;
    for (struct bulk_store **link = &stores->first; *link;) {
        struct bulk_store *store = *link;
        bool due = store->group + bound->extra < stores->committed[store->warp][store->lane];
        if (store->warp != warp->index || !(mask >> store->lane & 1) || !due) {
            link = &store->next;
            continue;
        }
        clock = store->clock > clock ? store->clock : clock;
        store->read = true;
        if (bound->ptx->flags & PTX_READ) {
            link = &store->next;
        } else {
            *link = store->next;
            finish(store);
        }
    }
    if (clock && race_agent_of_bulk(warp->block, &agent))
        race_agent_wait(warp, agent, clock);
    return STEP_NEXT;
}

void bulk_end(struct block *block) {
    while (block->stores && block->stores->first) {
        struct bulk_store *store = block->stores->first;
        struct warp *warp = &block->warp[store->warp];
        if (!store->read && block->race.on)
            warp_report(warp, SIM_FINDING_MISSING_WAIT, &warp->code[store->copy->pc], NULL, store->lane,
                        "the block ends while the copy at {here} may still read its shared memory");
        block->stores->first = store->next;
        finish(store);
    }
    if (block->stores)
        memset(block->stores->committed, 0, sizeof block->stores->committed);
}

void bulk_discard(struct block *block) {
    while (block->stores && block->stores->first) {
        struct bulk_store *store = block->stores->first;
        block->stores->first = store->next;
        bulk_free(store->copy);
        free(store);
    }
    free(block->stores);
}

// ---- Binding -------------------------------------------------------------------------------------------------------

static enum step run_bulk(struct warp *warp, const struct bound *bound, uint32_t mask) {
    bool stores = bound->ptx->space == PTX_GLOBAL, tensor = bound->ptx->opcode == PTX_OP_CP_ASYNC_BULK_TENSOR;
    enum step step = STEP_NEXT;
    for (uint32_t left = mask; left && step == STEP_NEXT; left &= left - 1) {
        int lane = first_lane(left);
        step = stores ? (tensor ? store_tensor(warp, bound, lane) : store_plain(warp, bound, lane))
                      : (tensor ? load_tensor(warp, bound, lane) : load_plain(warp, bound, lane));
    }
    return step;
}

bool bind_bulk(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    struct bulk_operands operands = {.size = NO_PLACE};
    bool stores = ptx->space == PTX_GLOBAL, tensor = ptx->opcode == PTX_OP_CP_ASYNC_BULK_TENSOR;
    const struct ptx_operand *map = &ptx->src[stores ? 0 : 1];
    bound->kind = BOUND_RUN;
    bound->run = run_bulk;
    bound->vector = (uint8_t)ptx->vector;
    if (ptx->flags & PTX_MULTICAST || !address_bind(binder, &ptx->src[0], &operands.to) ||
        !address_bind(binder, &ptx->src[1], &operands.from))
        return false;
    for (int i = 0; tensor && i < map->count; i++)
        operands.coordinate[i] = bind_source(binder, &map->elements[i], PTX_B32);
    if (!tensor)
        operands.size = bind_source(binder, &ptx->src[2], PTX_B32);
    if (!stores && !address_bind(binder, &ptx->src[tensor ? 2 : 3], &operands.barrier))
        return false;
    bound->c = bind_data(binder, &operands, sizeof operands);
    return true;
}

bool bind_bulk_group(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    (void)binder;
    bool waits = ptx->opcode == PTX_OP_CP_ASYNC_BULK_WAIT_GROUP;
    bound->kind = BOUND_RUN;
    bound->run = waits ? run_wait : run_commit;
    bound->extra = waits ? (uint32_t)ptx->src[0].bits : 0;
    return !waits || ptx->src[0].kind == PTX_OPERAND_IMMEDIATE;
}
