// wgmma.mma_async and its groups.
//
// The simulator computes a wgmma when a warp issues it. Until wgmma.wait_group its registers are in flight, and its
// reads of shared memory are noted with the clock of the warpgroup's agent (analyses/race_proxy.c). The four warps of a
// warpgroup issue the same instructions; a warp that waits for a group waits until all four have issued it, so that one
// warp may signal for all of them that a tile has been read.
#include "wgmma.h"

#include "../analyses/race_proxy.h"
#include "../analyses/race_tile.h"
#include "../lanes/wgmma.h"
#include "../machine/block.h"
#include "../recording/recording.h"
#include "../traffic/overlap.h"
#include "families.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WARPGROUP 4
#define MOST_IN_FLIGHT 1024 // wgmma by which one warp may be ahead of another
#define GROUPS 64           // committed and not waited for

// The wgmma that writes a register, and the one that reads it as a fragment of A; 0: none.
struct in_flight {
    uint32_t written, read;
    int32_t written_number, read_number; // of the registers
};

struct wgmma_warp {
    uint32_t issued, retired;    // wgmma
    uint32_t committed, waited;  // groups
    uint32_t group_end[GROUPS];  // number of wgmma issued at the commit, by group
    bool fenced;                 // it has executed a wgmma.fence
    struct in_flight *in_flight; // [register_bytes / 64], by the register's offset
};

struct wgmma_b_tile { // B, as the first warp has checked it
    uint64_t descriptor;
    struct race_copies copied;
};

struct wgmma_unit {
    struct wgmma_warp warp[MAX_WARPS];
    struct {
        uint32_t most; // number issued by the warp that is ahead
        uint32_t clock[MOST_IN_FLIGHT];
        int32_t pc[MOST_IN_FLIGHT];
        struct wgmma_b_tile b_tile[MOST_IN_FLIGHT];
    } group[MAX_WARPS / WARPGROUP];
};

struct wgmma_operands {
    struct lane_wgmma what;
    struct wgmma_tile a, b; // the instruction's part of them; the rest is in the descriptors
    operand_ref a_descriptor, b_descriptor, keeps, metadata; // metadata: NO_OPERAND if A is dense
    bool a_in_shared, keeps_flipped;
};

void wgmma_start(struct block *block) {
    struct wgmma_unit *unit = block->wgmma;
    for (unsigned w = 0; unit && w < block->warps; w++) {
        struct in_flight *in_flight = unit->warp[w].in_flight;
        if (in_flight)
            memset(in_flight, 0, block->run->kernel->register_bytes / 64 * sizeof *in_flight);
        unit->warp[w] = (struct wgmma_warp){.in_flight = in_flight};
        unit->group[w / WARPGROUP].most = 0;
    }
}

void wgmma_free(struct block *block) {
    for (unsigned w = 0; block->wgmma && w < block->warps; w++)
        free(block->wgmma->warp[w].in_flight);
    free(block->wgmma);
}

static bool make_unit(struct warp *warp) {
    struct block *block = warp->block;
    if (!block->wgmma)
        block->wgmma = calloc(1, sizeof *block->wgmma);
    if (!block->wgmma)
        return false;
    struct in_flight **in_flight = &block->wgmma->warp[warp->index].in_flight;
    if (!*in_flight)
        *in_flight = calloc(warp->run->kernel->register_bytes / 64, sizeof **in_flight);
    return *in_flight;
}

// NULL: the warp has no wgmma in flight.
static struct in_flight *in_flight_at(const struct warp *warp, operand_ref where) {
    const struct wgmma_unit *unit = warp->block->wgmma;
    struct in_flight *all = unit && where != NO_OPERAND && !(where & 1) ? unit->warp[warp->index].in_flight : NULL;
    return all ? &all[(where >> 1) / 64] : NULL;
}

void wgmma_writes(struct warp *warp, operand_ref where, int32_t number, uint32_t n) {
    struct in_flight *of = in_flight_at(warp, where);
    if (of) {
        of->written = n;
        of->written_number = number;
    }
}

void wgmma_reads(struct warp *warp, operand_ref where, int32_t number, uint32_t n) {
    struct in_flight *of = in_flight_at(warp, where);
    if (of) {
        of->read = n;
        of->read_number = number;
    }
}

static uint32_t unless_retired(const struct warp *warp, uint32_t n) {
    return n && n > warp->block->wgmma->warp[warp->index].retired ? n : 0;
}

uint32_t wgmma_in_flight(const struct warp *warp, operand_ref where) {
    const struct in_flight *of = in_flight_at(warp, where);
    return of ? unless_retired(warp, of->written) : 0;
}

uint32_t wgmma_still_writes(const struct warp *warp, operand_ref where, int32_t number) {
    const struct in_flight *of = in_flight_at(warp, where);
    return of && of->written_number == number ? unless_retired(warp, of->written) : 0;
}

uint32_t wgmma_still_reads(const struct warp *warp, operand_ref where, int32_t number) {
    const struct in_flight *of = in_flight_at(warp, where);
    return of && of->read_number == number ? unless_retired(warp, of->read) : 0;
}

void wgmma_report_in_flight(struct warp *warp, const struct bound *bound, uint32_t n, const char *does,
                            const char *doing) {
    int32_t pc = warp->block->wgmma->group[warp->index / WARPGROUP].pc[n % MOST_IN_FLIGHT];
    warp_report(warp, SIM_FINDING_WGMMA_REGISTERS, bound, &warp->code[pc], first_lane(warp->now->mask),
                "{here} %s a register that the wgmma at {there} may still be %s", does, doing);
}

static enum step diverged(struct warp *warp, const struct bound *bound, const struct bound *other, int lane,
                          const char *what) {
    warp_report(warp, SIM_FINDING_DIVERGENT_WARPGROUP, bound, other, lane,
                "{op} must be executed by all 128 threads of warpgroup %u, but %s", warp->index / WARPGROUP, what);
    return warp_fatal(warp, SIM_LAUNCH_FAILURE);
}

// All lanes of the warp, and all four warps, have to execute the instruction.
static enum step check_warpgroup(struct warp *warp, const struct bound *bound, uint32_t mask) {
    char active[LANE_LIST_TEXT + 40];
    if (mask != ALL_LANES) {
        int length = snprintf(active, sizeof active, "in warp %u only ", warp->index);
        lane_list(mask, active + length);
        strcat(active, mask & (mask - 1) ? " are active" : " is active");
        return diverged(warp, bound, NULL, first_lane(mask), active);
    }
    if (warp->index / WARPGROUP * WARPGROUP + WARPGROUP > warp->block->warps)
        return diverged(warp, bound, NULL, 0, "the block has no such threads");
    return STEP_NEXT;
}

static struct wgmma_tile tile_of(struct wgmma_tile tile, uint64_t descriptor) {
    static const uint8_t swizzle[4] = {0, 3, 2, 1}; // none, 128, 64, 32 bytes
    tile.start = (uint32_t)(descriptor & 0x3fff) << 4;
    tile.leading = (uint32_t)(descriptor >> 16 & 0x3fff) << 4;
    tile.stride = (uint32_t)(descriptor >> 32 & 0x3fff) << 4;
    tile.base = descriptor >> 49 & 7;
    tile.swizzle = swizzle[descriptor >> 62];
    return tile;
}

// A tile that a tensor copy has written with one swizzle mode has the wrong order for a descriptor with another mode.
static void check_swizzle(struct warp *warp, const struct bound *bound, const struct wgmma_tile *tile, uint32_t at,
                          const char *name) {
    static const char *const order[] = {"no swizzle", "32-byte swizzle", "64-byte swizzle", "128-byte swizzle"};
    int32_t pc;
    int swizzle = race_proxy_swizzle(warp->block, at, &pc);
    if (swizzle >= 0 && swizzle != tile->swizzle)
        warp_report(warp, SIM_FINDING_WGMMA_OPERAND, bound, &warp->code[pc], 0,
                    "the descriptor of %s of the {op} specifies %s, but the {other} wrote byte %u of shared memory "
                    "with %s [wgmma-swizzle]",
                    name, order[tile->swizzle], at, order[swizzle]);
}

// Checks a read of rows [first, first + rows): they are within the block's shared memory, and written.
static enum step read_tile(struct warp *warp, const struct bound *bound, const struct wgmma_tile *tile, uint32_t first,
                           uint32_t rows, uint32_t k, const char *name, uint32_t clock, struct race_copies *copied) {
    unsigned agent;
    bool noted = race_agent_of_wgmma(warp->block, warp->index, &agent);
    uint32_t per_unit = 16 / wgmma_element_bytes(tile->element);
    uint32_t row_step = tile->mn_major ? per_unit : 1, k_step = tile->mn_major ? 1 : per_unit;
    for (uint32_t row = first; row < first + rows; row += row_step) {
        for (uint32_t i = 0; i < k; i += k_step) {
            uint32_t at = wgmma_unit(tile, row, i);
            if (at + 16 > warp->run->shared_bytes) {
                warp_report(
                    warp, SIM_FINDING_WGMMA_OPERAND, bound, NULL, 0,
                    "{op} reads byte %u of shared memory for row %u of %s, but the block has only %zu bytes; the "
                    "descriptor has start address %u, leading dimension byte offset %u, and stride byte offset %u "
                    "[wgmma-out-of-bounds]",
                    at, row, name, warp->run->shared_bytes, tile->start, tile->leading, tile->stride);
                return warp_fatal(warp, SIM_ILLEGAL_ADDRESS);
            }
            const bool outside = race_tile_read(warp, bound, tile, row, at, name);
            if (i == 0 && !outside)
                check_swizzle(warp, bound, tile, at, name);
            if (noted && !outside) {
                race_proxy_read(warp, bound, 0, agent, clock, at, 16, copied);
                continue;
            }
            if (!outside)
                race_proxy_check(warp, bound, 0, at, 16);
            if (copied)
                copied->all = false;
        }
    }
    return STEP_NEXT;
}

// B is the same for the four warps of a warpgroup. If the first warp has found it as copies wrote it, the other warps
// find nothing new: a later writer is checked against the first warp's read.
static enum step read_b(struct warp *warp, const struct bound *bound, const struct wgmma_tile *tile, uint32_t k,
                        uint64_t descriptor, uint32_t number, uint32_t clock, bool first) {
    struct wgmma_b_tile *b_tile = &warp->block->wgmma->group[warp->index / WARPGROUP].b_tile[number % MOST_IN_FLIGHT];
    if (!first && b_tile->descriptor == descriptor && race_proxy_is_ordered(warp, &b_tile->copied))
        return STEP_NEXT;
    if (first)
        *b_tile = (struct wgmma_b_tile){descriptor, {.all = true}};
    return read_tile(warp, bound, tile, 0, tile->rows, k, "B", clock, first ? &b_tile->copied : NULL);
}

// Assigns the warp's next wgmma its number and the agent's clock, which the first of the four warps obtains.
static enum step issue(struct warp *warp, const struct bound *bound, uint32_t *number, uint32_t *clock, bool *first) {
    struct wgmma_unit *unit = warp->block->wgmma;
    unsigned g = warp->index / WARPGROUP, agent;
    uint32_t n = unit->warp[warp->index].issued + 1, slot = n % MOST_IN_FLIGHT;
    *first = n > unit->group[g].most;
    if (*first) {
        unit->group[g].most = n;
        unit->group[g].pc[slot] = pc_of(warp, bound);
        unit->group[g].clock[slot] =
            race_agent_of_wgmma(warp->block, warp->index, &agent) ? race_agent_issue(warp->block, agent) : 0;
    } else if (unit->group[g].pc[slot] != pc_of(warp, bound)) {
        return diverged(warp, bound, &warp->code[unit->group[g].pc[slot]], 0,
                        "another warp of the warpgroup executes the {other}");
    }
    *number = n;
    *clock = unit->group[g].clock[slot];
    return STEP_NEXT;
}

// The number of wgmma that the slowest warp of the warpgroup has issued, and whether that warp has exited.
static uint32_t slowest(const struct warp *warp, bool *gone) {
    const struct block *block = warp->block;
    unsigned first = warp->index / WARPGROUP * WARPGROUP;
    uint32_t least = UINT32_MAX;
    *gone = false;
    for (unsigned w = first; w < first + WARPGROUP; w++) {
        uint32_t issued = block->wgmma->warp[w].issued;
        if (issued < least) {
            least = issued;
            *gone = !block->warp[w].live;
        }
    }
    return least;
}

// A register of A, or of the metadata, which an earlier wgmma may still be writing.
static const uint32_t *read_register(struct warp *warp, const struct bound *bound, operand_ref where) {
    uint32_t early = wgmma_in_flight(warp, where);
    if (early)
        wgmma_report_in_flight(warp, bound, early, "reads", "writing");
    return cells32(warp, where);
}

// For a pair of tf32 elements, metadata 0b0100 or 0b1110 selects the stored one; other values are undefined.
static void check_metadata(struct warp *warp, const struct bound *bound, const struct lane_wgmma *what) {
    for (int lane = 0; lane < LANES && what->a == WGMMA_TF32; lane++) {
        uint32_t word = what->metadata[lane], wrong = 0;
        for (int i = 0; i < 32; i += 4)
            wrong |= (word >> i & 15) != 4 && (word >> i & 15) != 14;
        if (!wrong || lane % 4 / 2 != (int)what->selector)
            continue;
        warp_report(warp, SIM_FINDING_WGMMA_OPERAND, bound, NULL, lane,
                    "{op} has tf32 sparsity metadata 0x%08x; each hexadecimal digit must be 4 or e [wgmma-metadata]",
                    word);
        return;
    }
}

static enum step run_mma(struct warp *warp, const struct bound *bound, uint32_t mask) {
    const struct wgmma_operands operands = *(const struct wgmma_operands *)operand_data(warp, bound->c);
    enum step step = check_warpgroup(warp, bound, mask);
    uint32_t n = 0, clock = 0, *d[WGMMA_MOST_N / 2];
    bool gone, first = false;
    if (step != STEP_NEXT)
        return step;
    if (!make_unit(warp))
        return warp_fatal(warp, SIM_OUT_OF_HOST_MEMORY);
    struct wgmma_warp *mine = &warp->block->wgmma->warp[warp->index];
    if (mine->issued - slowest(warp, &gone) >= MOST_IN_FLIGHT - 1)
        return gone ? diverged(warp, bound, NULL, 0, "a warp of the warpgroup has exited") : warp_wait(warp, mask);
    if (!mine->fenced)
        warp_report(
            warp, SIM_FINDING_WGMMA_FENCE, bound, NULL, first_lane(mask),
            "no wgmma.fence precedes the {op}; earlier writes to the accumulator or A registers may not be visible to "
            "the wgmma");
    step = issue(warp, bound, &n, &clock, &first);
    struct lane_wgmma what = operands.what;
    what.keeps = operands.keeps == NO_OPERAND || ((*predicate(warp, operands.keeps) & 1) != operands.keeps_flipped);
    struct wgmma_tile a, b = tile_of(operands.b, cells64(warp, operands.b_descriptor)[0]);
    const uint32_t *registers[4] = {NULL};
    uint32_t first_row = warp->index % WARPGROUP * WGMMA_ROWS;
    for (int i = 0; i < 4 && !operands.a_in_shared; i++)
        registers[i] = read_register(warp, bound, bound->elements[i]);
    if (what.sparse) {
        what.metadata = read_register(warp, bound, operands.metadata);
        check_metadata(warp, bound, &what);
    }
    if (operands.a_in_shared) {
        a = tile_of(operands.a, cells64(warp, operands.a_descriptor)[0]);
        if (step == STEP_NEXT)
            step = read_tile(warp, bound, &a, first_row, WGMMA_ROWS, wgmma_stored(&what), "A", clock, NULL);
    }
    if (step == STEP_NEXT)
        step = read_b(warp, bound, &b, what.k, cells64(warp, operands.b_descriptor)[0], n, clock, first);
    if (step != STEP_NEXT)
        return step;
    if (warp->record)
        recording_mma(warp, bound, operands.a_in_shared ? &a : NULL, first_row, &b, what.k);
    recording_event(warp, bound, RECORDING_WGMMA, mine->committed, b.start);
    uint32_t results = what.n / (what.sum == WGMMA_SUM_F16 ? 4 : 2);
    for (uint32_t i = 0; i < results; i++) {
        d[i] = cells32(warp, bound->elements[4 + i]);
        wgmma_writes(warp, bound->elements[4 + i], bound->ptx->dst[0].elements[i].register_index, n);
    }
    for (int i = 0; i < 4 && !operands.a_in_shared; i++)
        wgmma_reads(warp, bound->elements[i], bound->ptx->src[0].elements[i].register_index, n);
    warp->lanes->wgmma(&what, warp->block->shared, operands.a_in_shared ? &a : NULL, first_row, registers, &b, d);
    mine->issued = n;
    block_event(warp->block);
    return STEP_NEXT;
}

// Waits until all four warps have issued the groups that this warp waits for. bound->extra: the number of groups that
// may remain in flight.
static enum step wait_group(struct warp *warp, const struct bound *bound, struct wgmma_warp *mine, uint32_t mask) {
    struct wgmma_unit *unit = warp->block->wgmma;
    unsigned agent;
    bool gone;
    uint32_t group = mine->committed > bound->extra ? mine->committed - bound->extra : 0;
    if (group <= mine->waited)
        return STEP_NEXT;
    uint32_t n = mine->group_end[(group - 1) % GROUPS];
    if (slowest(warp, &gone) < n)
        return gone ? diverged(warp, bound, NULL, 0, "a warp of the warpgroup has exited before issuing the wgmma")
                    : warp_wait(warp, mask);
    mine->waited = group;
    if (mine->committed > group)
        overlap_count(OVERLAP_WGMMA);
    mine->retired = n;
    if (n && race_agent_of_wgmma(warp->block, warp->index, &agent))
        race_agent_wait(warp, agent, unit->group[warp->index / WARPGROUP].clock[n % MOST_IN_FLIGHT]);
    return STEP_NEXT;
}

static enum step run_group(struct warp *warp, const struct bound *bound, uint32_t mask) {
    enum step step = check_warpgroup(warp, bound, mask);
    if (step != STEP_NEXT)
        return step;
    if (!make_unit(warp))
        return warp_fatal(warp, SIM_OUT_OF_HOST_MEMORY);
    struct wgmma_warp *mine = &warp->block->wgmma->warp[warp->index];
    if (bound->ptx->opcode == PTX_OP_WGMMA_FENCE) {
        recording_event(warp, bound, RECORDING_WGMMA_FENCE, 0, 0);
        mine->fenced = true;
        return STEP_NEXT;
    }
    if (bound->ptx->opcode == PTX_OP_WGMMA_WAIT_GROUP) {
        recording_event(warp, bound, RECORDING_WGMMA_WAIT, bound->extra, 0);
        return wait_group(warp, bound, mine, mask);
    }
    recording_event(warp, bound, RECORDING_WGMMA_COMMIT, mine->committed, 0);
    mine->group_end[mine->committed++ % GROUPS] = mine->issued;
    return STEP_NEXT;
}

bool bind_wgmma(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    bool a_in_shared = ptx->src[0].kind != PTX_OPERAND_VECTOR;
    int results = ptx->dst[0].count;
    uint32_t n = (uint32_t)ptx->shape[1];
    struct wgmma_operands operands = {
        .what = {.a = wgmma_element_of(ptx->mma_type[1]),
                 .b = wgmma_element_of(ptx->mma_type[2]),
                 .n = n,
                 .k = (uint32_t)ptx->shape[2] / (ptx->mma_type[1] == PTX_B1 ? 8 : 1),
                 .sum = ptx->mma_type[0] == PTX_F16   ? WGMMA_SUM_F16
                        : ptx->mma_type[0] == PTX_S32 ? WGMMA_SUM_S32
                                                      : WGMMA_SUM_F32,
                 .negates = ptx->src[3].bits,
                 .saturates = ptx->flags & PTX_SAT,
                 .sparse = ptx->flags & PTX_SPARSE,
                 .selector = (uint32_t)ptx->vector},
        .a = {.element = wgmma_element_of(ptx->mma_type[1]), .mn_major = ptx->src[5].bits == 1, .rows = 64},
        .b = {.element = wgmma_element_of(ptx->mma_type[2]), .mn_major = ptx->src[6].bits == 1, .rows = n},
        .a_descriptor = a_in_shared ? bind_source(binder, &ptx->src[0], PTX_B64) : 0,
        .b_descriptor = bind_source(binder, &ptx->src[1], PTX_B64),
        .keeps = bind_source(binder, &ptx->src[2], PTX_PRED),
        .metadata = bind_source(binder, &ptx->src[4], PTX_B32),
        .a_in_shared = a_in_shared,
        .keeps_flipped = ptx->src[2].negated,
    };
    operand_ref *places = bind_allocate(binder, (4 + (size_t)results) * sizeof *places);
    for (int i = 0; places && i < 4; i++)
        places[i] = a_in_shared ? NO_OPERAND : bind_source(binder, &ptx->src[0].elements[i], PTX_B32);
    for (int i = 0; places && i < results; i++) {
        places[4 + i] = bind_result(binder, &ptx->dst[0].elements[i]);
        if (places[4 + i] == NO_OPERAND)
            return false;
    }
    bound->kind = BOUND_RUN;
    bound->run = run_mma;
    bound->elements = places;
    bound->c = bind_data(binder, &operands, sizeof operands);
    return operands.keeps != NO_OPERAND;
}

bool bind_wgmma_group(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    (void)binder;
    bound->kind = BOUND_RUN;
    bound->run = run_group;
    bound->extra = (uint32_t)ptx->src[0].bits;
    return ptx->opcode != PTX_OP_WGMMA_WAIT_GROUP || ptx->src[0].kind == PTX_OPERAND_IMMEDIATE;
}
