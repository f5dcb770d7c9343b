// cp.async and its queue: see async.h. Source bytes are read when the copy is issued; they are written to shared memory
// when a wait requires them.
#include "async.h"

#include "../analyses/race_shared.h"
#include "../recording/recording.h"
#include "address.h"
#include "bind_memory.h"
#include "spaces.h"

#include <stdlib.h>
#include <string.h>

struct copy {
    uint32_t offset; // in shared memory
    uint32_t group;  // of its thread
    int32_t pc;      // of the cp.async
    uint8_t lane, bytes;
    uint8_t data[16];
};

struct copies {
    struct copy *list; // [count], in order of issue
    int count, room;
    uint32_t committed[LANES]; // groups that the thread has committed
};

struct async_queue {
    struct copies of[MAX_WARPS]; // by the warp that issued them
    uint8_t stage[LANES][16];    // source bytes of the current instruction
};

// The two addresses of cp.async, and the operand with the size of the source.
struct async_operands {
    struct operand_address to, from;
    operand_ref size;
    bool ignores, negated; // size is a predicate: true reads nothing
};

void async_start(struct block *block) {
    for (unsigned w = 0; block->async && w < block->warps; w++) {
        block->async->of[w].count = 0;
        memset(block->async->of[w].committed, 0, sizeof block->async->of[w].committed);
    }
}

void async_free(struct block *block) {
    for (unsigned w = 0; block->async && w < block->warps; w++)
        free(block->async->of[w].list);
    free(block->async);
}

static bool make_queue(struct block *block) {
    if (!block->async)
        block->async = calloc(1, sizeof *block->async);
    return block->async;
}

static bool make_room(struct copies *copies) {
    if (copies->count + LANES <= copies->room)
        return true;
    int room = copies->room ? 2 * copies->room : 8 * LANES;
    struct copy *grown = realloc(copies->list, (size_t)room * sizeof *grown);
    if (!grown)
        return false;
    copies->list = grown;
    copies->room = room;
    return true;
}

bool async_in_flight(const struct block *block, unsigned warp) {
    return block->async && block->async->of[warp].count;
}

bool async_commit(struct block *block, unsigned warp, uint32_t lanes) {
    if (!make_queue(block))
        return false;
    for (uint32_t left = lanes; left; left &= left - 1)
        block->async->of[warp].committed[first_lane(left)]++;
    return true;
}

void async_land(struct block *block, unsigned warp, uint32_t lanes, uint32_t kept, uint32_t epoch) {
    if (!block->async)
        return;
    struct copies *copies = &block->async->of[warp];
    int remaining = 0;
    for (int i = 0; i < copies->count; i++) {
        const struct copy *copy = &copies->list[i];
        bool due = kept == ASYNC_ALL || copy->group + kept < copies->committed[copy->lane];
        if (lanes >> copy->lane & 1 && due) {
            memcpy(block->shared + copy->offset, copy->data, copy->bytes);
            race_async_land(block, epoch, copy->pc, copy->lane, copy->offset, copy->bytes);
        } else {
            copies->list[remaining++] = *copy;
        }
    }
    copies->count = remaining;
}

static void read_source(struct warp *warp, const struct bound *bound, const struct access *access, uint8_t *origin) {
    struct access filled = *access;
    (void)bound;
    access_fill(&filled);
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int lane = first_lane(left);
        memcpy(warp->block->async->stage[lane], origin + filled.address[lane], access->bytes);
    }
}

static void queue(struct warp *warp, const struct bound *bound, const struct access *access, uint8_t *origin) {
    struct async_queue *async = warp->block->async;
    struct copies *copies = &async->of[warp->index];
    struct access filled = *access;
    (void)origin;
    access_fill(&filled);
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int lane = first_lane(left);
        struct copy *copy = &copies->list[copies->count++];
        *copy = (struct copy){(uint32_t)filled.address[lane],
                              copies->committed[lane],
                              pc_of(warp, bound),
                              (uint8_t)lane,
                              bound->bytes,
                              {0}};
        memcpy(copy->data, async->stage[lane], bound->bytes);
    }
}

// The number of bytes that a lane reads; the rest of its cp-size is filled with zeros.
static uint32_t source_size(const struct warp *warp, const struct bound *bound, const struct async_operands *operands,
                            int lane) {
    if (operands->size == NO_OPERAND)
        return bound->bytes;
    if (operands->ignores) {
        uint32_t ignored = *predicate(warp, operands->size) ^ (operands->negated ? ALL_LANES : 0);
        return ignored >> lane & 1 ? 0 : bound->bytes;
    }
    uint32_t size = cells32(warp, operands->size)[lane];
    return size < bound->bytes ? size : bound->bytes;
}

// The group that the first of the lanes has not committed yet.
static int64_t open_group(const struct warp *warp, uint32_t mask) {
    const struct async_queue *async = warp->block->async;
    return async ? async->of[warp->index].committed[first_lane(mask)] : 0;
}

static enum step run_copy(struct warp *warp, const struct bound *bound, uint32_t mask) {
    const struct async_operands *operands = operand_data(warp, bound->c);
    if (!make_queue(warp->block) || !make_room(&warp->block->async->of[warp->index]))
        return warp_fatal(warp, SIM_OUT_OF_HOST_MEMORY);
    struct access to = {.space = PTX_SHARED, .kind = ACCESS_ASYNC_COPY, .mask = mask, .bytes = bound->bytes};
    struct access from = {.space = PTX_GLOBAL, .kind = ACCESS_ASYNC_COPY, .mask = mask, .bytes = bound->bytes};
    access_find(warp, &to, operands->to.base, operands->to.cell, operands->to.offset);
    access_find(warp, &from, operands->from.base, operands->from.cell, operands->from.offset);
    enum step step = access_check_alignment(warp, bound, &to);
    step = step == STEP_NEXT ? access_check_alignment(warp, bound, &from) : step;
    memset(warp->block->async->stage, 0, sizeof warp->block->async->stage);
    // Lanes that read the same number of bytes are one access.
    access_fill(&from);
    if (warp->block->traced) {
        access_fill(&to);
        from.to = to.address;
    }
    for (uint32_t left = mask; left && step == STEP_NEXT;) {
        uint32_t size = source_size(warp, bound, operands, first_lane(left)), same = 0;
        for (uint32_t rest = left; rest; rest &= rest - 1) {
            int lane = first_lane(rest);
            same |= (uint32_t)(source_size(warp, bound, operands, lane) == size) << lane;
        }
        left &= ~same;
        if (same == ALL_LANES && size == bound->bytes) {
            step = access_run_at(warp, bound, &from, read_source);
        } else if (size) {
            struct access part = from;
            part.mask = same;
            part.bytes = size;
            for (int i = 0; i < LANES; i++)
                part.address[i] = from.address[same >> i & 1 ? i : first_lane(same)];
            part.span = warp->lanes->span64(part.address, bound->bytes);
            part.span.pattern = part.span.pattern == LANES_CONTIGUOUS ? LANES_SCATTERED : part.span.pattern;
            step = access_run_at(warp, bound, &part, read_source);
        }
    }
    if (step == STEP_NEXT)
        recording_event(warp, bound, RECORDING_COPY, open_group(warp, mask), __builtin_popcount(mask) * bound->bytes);
    return step == STEP_NEXT ? access_run_at(warp, bound, &to, queue) : step;
}

static enum step run_commit(struct warp *warp, const struct bound *bound, uint32_t mask) {
    recording_event(warp, bound, RECORDING_COMMIT, open_group(warp, mask), 0);
    return async_commit(warp->block, warp->index, mask) ? STEP_NEXT : warp_fatal(warp, SIM_OUT_OF_HOST_MEMORY);
}

// bound->extra: the number of a thread's latest groups that may remain in flight, or ASYNC_ALL.
static enum step run_wait(struct warp *warp, const struct bound *bound, uint32_t mask) {
    const int64_t open = open_group(warp, mask);
    recording_event(warp, bound, RECORDING_WAIT, bound->extra == ASYNC_ALL ? open : open - 1 - (int64_t)bound->extra,
                    0);
    async_land(warp->block, warp->index, mask, bound->extra, race_epoch(warp));
    return STEP_NEXT;
}

bool bind_async(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    struct async_operands operands = {.size = NO_OPERAND};
    bound->kind = BOUND_RUN;
    switch (ptx->variant) {
    case PTX_V_COMMIT_GROUP:
        bound->run = run_commit;
        return true;
    case PTX_V_WAIT_GROUP:
        bound->run = run_wait;
        bound->extra = (uint32_t)ptx->src[0].bits;
        return ptx->src[0].kind == PTX_OPERAND_IMMEDIATE;
    case PTX_V_WAIT_ALL:
        bound->run = run_wait;
        bound->extra = ASYNC_ALL;
        return true;
    default:
        break;
    }
    const struct ptx_operand *size = &ptx->src[3];
    if (size->kind != PTX_OPERAND_NONE) {
        operands.ignores = size->kind == PTX_OPERAND_REGISTER && size->reg_type == PTX_PRED;
        operands.negated = size->negated;
        operands.size = bind_source(binder, size, operands.ignores ? PTX_PRED : PTX_U32);
    }
    bound->run = run_copy;
    bound->bytes = (uint8_t)ptx->src[2].bits;
    bound->vector = 1;
    bound->space = PTX_SHARED;
    if (!address_bind(binder, &ptx->src[0], &operands.to) || !address_bind(binder, &ptx->src[1], &operands.from))
        return false;
    bound->c = bind_data(binder, &operands, sizeof operands);
    return ptx->src[2].kind == PTX_OPERAND_IMMEDIATE;
}
