// Live ranges of registers, as intervals of instructions.
//
// A backward data-flow analysis over basic blocks computes the registers that are live at each block's ends; a live
// range is then the smallest interval that contains all uses, definitions and live points of the register. Only
// registers that are live across blocks take part in the data flow, which keeps kernels with thousands of registers
// cheap.
//
// Divergence needs no further treatment: each lane follows some path through the text, and a range covers every path.
#include "linker.h"

#include <string.h>

enum { NO_REGISTER = -1, MAX_WORDS = 1 << 18, MAX_WORK = 1 << 27 };

struct block {
    int32_t first, last;       // instructions
    int first_edge, last_edge; // successors in edge[first_edge .. last_edge)
};

struct flow {
    struct arena *arena;
    const struct ptx_function *function;
    int blocks;
    struct block *block;
    int32_t *block_of; // [instructions]
    int64_t edges;
    int32_t *edge;
    struct live_range *range;                     // [registers]
    int32_t *last_block;                          // [registers] the last block with a use or definition
    bool *exposed;                                // [registers] upward exposed, or used in several blocks
    bool *written;                                // [registers] written by every lane in last_block so far
    int32_t *bit_index;                           // [registers] its bit in the sets, if exposed
    int words;                                    // 64 bits each
    uint64_t *used, *killed, *live_in, *live_out; // [blocks][words]
    int current;
};

static void visit_operand(const struct ptx_operand *operand, bool written, bool always,
                          void (*visit)(void *, int32_t, bool, bool), void *context) {
    if (operand->kind == PTX_OPERAND_REGISTER)
        visit(context, operand->slot, written, always);
    else if (operand->kind == PTX_OPERAND_ADDRESS && operand->slot >= 0)
        visit(context, operand->slot, false, false);
    for (int i = 0; i < operand->count; i++)
        if (operand->elements[i].kind == PTX_OPERAND_REGISTER)
            visit(context, operand->elements[i].slot, written, always);
}

void visit_registers(const struct ptx_instruction *instruction, void (*visit)(void *, int32_t, bool, bool),
                     void *context) {
    bool always = instruction->guard < 0;
    if (instruction->guard >= 0)
        visit(context, instruction->guard, false, false);
    for (int i = 0; i < instruction->nsrc; i++)
        visit_operand(&instruction->src[i], false, false, visit, context);
    if (instruction->flags & PTX_READS_DESTINATION)
        visit_operand(&instruction->dst[0], false, false, visit, context);
    for (int i = 0; i < 2; i++)
        visit_operand(&instruction->dst[i], true, always, visit, context);
}

static bool ends_block(const struct ptx_instruction *instruction) {
    switch (instruction->opcode) {
    case PTX_OP_BRA:
    case PTX_OP_BRX:
    case PTX_OP_RET:
    case PTX_OP_EXIT:
    case PTX_OP_TRAP:
        return true;
    default:
        return false;
    }
}

static int target_count(const struct ptx_instruction *instruction) {
    return instruction->opcode == PTX_OP_BRA ? 1 : instruction->opcode == PTX_OP_BRX ? instruction->src[1].count : 0;
}

static int32_t target_at(const struct ptx_instruction *instruction, int index) {
    return instruction->opcode == PTX_OP_BRA ? instruction->src[0].target : instruction->src[1].elements[index].target;
}

// Numbers the blocks. Returns false if there are too many edges (many brx.idx over one long list) for the analysis to
// pay off.
static bool find_blocks(struct flow *flow) {
    const struct ptx_function *function = flow->function;
    int count = function->instructions;
    bool *leader = arena_allocate(flow->arena, (size_t)count + 1);
    leader[0] = true;
    for (int i = 0; i < count; i++) {
        const struct ptx_instruction *instruction = &function->instruction[i];
        if (!ends_block(instruction))
            continue;
        leader[i + 1] = true;
        flow->edges += target_count(instruction) + 1;
        if (flow->edges > MAX_WORDS)
            return false;
        for (int j = 0; j < target_count(instruction); j++)
            leader[target_at(instruction, j)] = true;
    }
    flow->block_of = arena_allocate(flow->arena, (size_t)(count + 1) * sizeof *flow->block_of);
    for (int i = 0; i < count; i++) {
        flow->blocks += leader[i];
        flow->block_of[i] = flow->blocks - 1;
    }
    flow->block = arena_allocate(flow->arena, (size_t)(flow->blocks + 1) * sizeof *flow->block);
    for (int i = 0; i < count; i++) {
        if (leader[i])
            flow->block[flow->block_of[i]].first = i;
        flow->block[flow->block_of[i]].last = i;
    }
    return true;
}

static void add_edge(struct flow *flow, int *edges, int32_t instruction) {
    if (instruction < flow->function->instructions) // otherwise control leaves the function at its end
        flow->edge[(*edges)++] = flow->block_of[instruction];
}

static void find_edges(struct flow *flow) {
    int edges = 0;
    flow->edge = arena_allocate(flow->arena, ((size_t)flow->edges + (size_t)flow->blocks) * sizeof *flow->edge + 1);
    for (int i = 0; i < flow->blocks; i++) {
        const struct ptx_instruction *last = &flow->function->instruction[flow->block[i].last];
        flow->block[i].first_edge = edges;
        for (int j = 0; j < target_count(last); j++)
            add_edge(flow, &edges, target_at(last, j));
        if (!ends_block(last) || last->guard >= 0)
            add_edge(flow, &edges, flow->block[i].last + 1);
        flow->block[i].last_edge = edges;
    }
}

static void record_mention(void *context, int32_t index, bool written, bool always) {
    struct flow *flow = context;
    struct live_range *range = &flow->range[index];
    int block = flow->block_of[flow->current];
    if (range->first > range->last)
        *range = (struct live_range){flow->current, flow->current};
    else if (flow->last_block[index] != block)
        flow->exposed[index] = true;
    if (flow->last_block[index] != block)
        flow->written[index] = false;
    if (!written && !flow->written[index])
        flow->exposed[index] = true;
    flow->written[index] |= always;
    flow->last_block[index] = block;
    range->last = flow->current;
}

static void find_exposed(struct flow *flow) {
    size_t registers = (size_t)flow->function->registers;
    flow->last_block = arena_allocate(flow->arena, registers * sizeof *flow->last_block + 1);
    flow->exposed = arena_allocate(flow->arena, registers + 1);
    flow->written = arena_allocate(flow->arena, registers + 1);
    flow->bit_index = arena_allocate(flow->arena, registers * sizeof *flow->bit_index + 1);
    for (size_t i = 0; i < registers; i++)
        flow->last_block[i] = -1;
    for (flow->current = 0; flow->current < flow->function->instructions; flow->current++)
        visit_registers(&flow->function->instruction[flow->current], record_mention, flow);
    int exposed = 0;
    for (size_t i = 0; i < registers; i++)
        flow->bit_index[i] = flow->exposed[i] ? exposed++ : NO_REGISTER;
    flow->words = (exposed + 63) / 64;
}

static void record_use_or_kill(void *context, int32_t index, bool written, bool always) {
    struct flow *flow = context;
    int32_t bit = flow->bit_index[index];
    if (bit == NO_REGISTER)
        return;
    size_t word = (size_t)flow->block_of[flow->current] * (size_t)flow->words + (size_t)bit / 64;
    uint64_t mask = UINT64_C(1) << bit % 64;
    if (!written && !(flow->killed[word] & mask))
        flow->used[word] |= mask;
    if (always)
        flow->killed[word] |= mask;
}

// Makes one backward pass over the blocks. Returns whether a set changed.
static bool propagate(struct flow *flow) {
    bool changed = false;
    size_t words = (size_t)flow->words;
    for (int i = flow->blocks - 1; i >= 0; i--) {
        uint64_t *out = &flow->live_out[(size_t)i * words], *in = &flow->live_in[(size_t)i * words];
        for (int j = flow->block[i].first_edge; j < flow->block[i].last_edge; j++)
            for (size_t k = 0; k < words; k++)
                out[k] |= flow->live_in[(size_t)flow->edge[j] * words + k];
        for (size_t k = 0; k < words; k++) {
            uint64_t before = in[k];
            in[k] = flow->used[(size_t)i * words + k] | (out[k] & ~flow->killed[(size_t)i * words + k]);
            changed |= in[k] != before;
        }
    }
    return changed;
}

static bool compute_liveness(struct flow *flow) {
    size_t words = (size_t)flow->words * (size_t)flow->blocks;
    if (words > MAX_WORDS)
        return false;
    uint64_t *bits = arena_allocate(flow->arena, 4 * words * sizeof *bits + 1);
    flow->used = bits;
    flow->killed = bits + words;
    flow->live_in = bits + 2 * words;
    flow->live_out = bits + 3 * words;
    for (flow->current = 0; flow->current < flow->function->instructions; flow->current++)
        visit_registers(&flow->function->instruction[flow->current], record_use_or_kill, flow);
    int64_t work = 0, pass = (flow->edges + 2 * (int64_t)flow->blocks) * flow->words;
    do {
        work += pass;
        if (work > MAX_WORK)
            return false;
    } while (propagate(flow));
    return true;
}

// Extends a range to the first instruction of each block where the register is live-in, and to the last one of each
// block where it is live-out.
static void extend_ranges(struct flow *flow) {
    for (int32_t i = 0; i < flow->function->registers; i++) {
        if (flow->bit_index[i] == NO_REGISTER)
            continue;
        size_t word = (size_t)flow->bit_index[i] / 64;
        uint64_t mask = UINT64_C(1) << flow->bit_index[i] % 64;
        struct live_range *range = &flow->range[i];
        for (int j = 0; j < flow->blocks; j++) {
            const struct block *block = &flow->block[j];
            if (flow->live_in[(size_t)j * (size_t)flow->words + word] & mask && block->first < range->first)
                range->first = block->first;
            if (flow->live_out[(size_t)j * (size_t)flow->words + word] & mask && block->last > range->last)
                range->last = block->last;
        }
    }
}

struct live_range *find_live_ranges(struct arena *arena, const struct ptx_function *function) {
    struct flow flow = {.arena = arena, .function = function};
    size_t registers = (size_t)function->registers;
    flow.range = arena_allocate(arena, registers * sizeof *flow.range + 1);
    bool computed = false;
    for (size_t i = 0; i < registers; i++)
        flow.range[i] = (struct live_range){.first = 0, .last = -1};
    if (find_blocks(&flow)) {
        find_edges(&flow);
        find_exposed(&flow);
        computed = compute_liveness(&flow);
    }
    if (computed)
        extend_ranges(&flow);
    else // too expensive: treat every register as live everywhere
        for (size_t i = 0; i < registers; i++)
            flow.range[i] = (struct live_range){.first = 0, .last = function->instructions};
    return flow.range;
}
