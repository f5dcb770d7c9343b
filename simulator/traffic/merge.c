// The assembler, ptxas, merges neighbouring shared-memory accesses into one machine instruction: four ld.shared.f32 at
// offsets 0, 4, 8 and 12 from one register become one LDS.128 if it can prove that the address is a multiple of 16.
// Bank conflicts have to be counted on the machine code, so the same is done here: within a basic block, accesses of
// one kind and width from the same value of the same register, with no barrier and no other write to shared memory
// between them, are merged if they fill an aligned range of 16 or 8 bytes.
//
// ptxas also unrolls loops and may merge across iterations; this is not modelled. tests/truth shows when it matters.
#include "alignment.h"
#include "counts.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_OPEN = 512, SLOT_BYTES = 64 };

// Accesses that may still be merged with each other.
struct open {
    int32_t instruction;
    int32_t slot;     // of the address register, -1: none
    uint32_t version; // the version of the register's value
    int64_t offset;
    uint32_t bytes;
};

struct scan {
    const struct ptx_kernel *kernel;
    const uint8_t *zero_bits; // [instructions]
    int8_t *merged;           // [instructions], the result
    uint32_t *version;        // [slots]
    struct open open[MOST_OPEN];
    int opens;
    enum ptx_opcode opcode; // of all open accesses: loads or stores
};

static uint32_t access_bytes(const struct ptx_instruction *i) {
    return (uint32_t)ptx_type_size(i->type) * (uint32_t)(i->vector > 1 ? i->vector : 1);
}

static struct open *find(struct scan *s, const struct open *like, int64_t offset) {
    for (int o = 0; o < s->opens; o++) {
        struct open *open = &s->open[o];
        if (s->merged[open->instruction] == 0 && open->slot == like->slot && open->version == like->version &&
            open->bytes == like->bytes && open->offset == offset)
            return open;
    }
    return NULL;
}

// Merges the open accesses into aligned ranges of size bytes that they fill.
static void merge_ranges(struct scan *s, uint32_t size) {
    for (int o = 0; o < s->opens; o++) {
        const struct open *first = &s->open[o];
        const int zero_bits = s->zero_bits[first->instruction];
        if (s->merged[first->instruction] != 0 || first->bytes >= size || first->offset % size != 0 ||
            (1ull << zero_bits) < size)
            continue;
        const uint32_t parts = size / first->bytes;
        struct open *part[16];
        uint32_t found = 0;
        while (found < parts && (part[found] = find(s, first, first->offset + found * first->bytes)))
            found++;
        if (found == parts) {
            for (uint32_t p = 1; p < parts; p++)
                s->merged[part[p]->instruction] = -1;
            s->merged[first->instruction] = (int8_t)size;
        }
    }
}

static void close_all(struct scan *s) {
    merge_ranges(s, 16);
    merge_ranges(s, 8);
    s->opens = 0;
}

static void note_writes(struct scan *s, const struct ptx_operand *target) {
    if (target->kind == PTX_OPERAND_REGISTER && target->reg_type != PTX_PRED)
        s->version[target->slot / SLOT_BYTES]++;
    for (int e = 0; target->kind == PTX_OPERAND_VECTOR && e < target->count; e++)
        note_writes(s, &target->elements[e]);
}

static bool is_candidate(const struct ptx_instruction *i) {
    return (i->opcode == PTX_OP_LD || i->opcode == PTX_OP_ST) && i->space == PTX_SHARED && i->guard < 0 &&
           !(i->flags & PTX_VOLATILE) && i->src[0].kind == PTX_OPERAND_ADDRESS;
}

// Whether an instruction may modify or order shared memory, so that no access moves past it.
static bool is_fence(const struct ptx_instruction *i) {
    switch (i->opcode) {
    case PTX_OP_ST:
        return i->space == PTX_SHARED || i->space == PTX_GENERIC;
    case PTX_OP_LD:
        return (i->space == PTX_SHARED || i->space == PTX_GENERIC) && (i->flags & PTX_VOLATILE);
    case PTX_OP_ATOM:
    case PTX_OP_RED:
    case PTX_OP_BAR:
    case PTX_OP_BAR_WARP_SYNC:
    case PTX_OP_CALL:
    case PTX_OP_CP_ASYNC:
    case PTX_OP_FENCE:
    case PTX_OP_MEMBAR:
    case PTX_OP_STMATRIX:
        return true;
    default:
        return false;
    }
}

static void scan_instruction(struct scan *s, int32_t n) {
    const struct ptx_instruction *i = &s->kernel->instruction[n];
    if (is_candidate(i)) {
        const int32_t slot = i->src[0].slot;
        const struct open next = {
            .instruction = n,
            .slot = slot,
            .version = slot >= 0 ? s->version[slot / SLOT_BYTES] : 0,
            .offset = i->src[0].offset,
            .bytes = access_bytes(i),
        };
        // A store may move past stores from the same register value only: others might overlap it.
        const bool stays = s->opens < MOST_OPEN && s->opcode == i->opcode &&
                           (i->opcode == PTX_OP_LD || (s->open[0].slot == slot && s->open[0].version == next.version));
        if (s->opens > 0 && !stays)
            close_all(s);
        s->opcode = i->opcode;
        s->open[s->opens++] = next;
    } else if (is_fence(i) || (i->opcode == PTX_OP_LD && s->opcode == PTX_OP_ST)) {
        close_all(s);
    }
    note_writes(s, &i->dst[0]);
    note_writes(s, &i->dst[1]);
}

bool traffic_is_loop(const struct ptx_instruction *instruction) {
    enum ptx_type type = instruction->type;
    bool atomic = instruction->opcode == PTX_OP_ATOM || instruction->opcode == PTX_OP_RED;
    bool words = type == PTX_B32 || type == PTX_U32 || type == PTX_S32;
    bool exchanges = instruction->variant == PTX_V_EXCH || instruction->variant == PTX_V_CAS;
    return atomic && !words && !(exchanges && ptx_type_size(type) >= 4);
}

int8_t *traffic_merged_bytes(const struct ptx_kernel *kernel) {
    int32_t frame_bytes = 0;
    for (int f = 0; f < kernel->functions; f++)
        frame_bytes = kernel->function[f].frame_bytes > frame_bytes ? kernel->function[f].frame_bytes : frame_bytes;
    const size_t instructions = (size_t)kernel->instructions + 1;
    struct scan *s = calloc(1, sizeof *s);
    bool *starts = calloc(instructions, sizeof *starts);
    uint8_t *zero_bits = traffic_address_zero_bits(kernel);
    uint32_t *version = calloc((size_t)frame_bytes / SLOT_BYTES + 1, sizeof *version);
    int8_t *merged = calloc(instructions, 1);
    if (!s || !starts || !zero_bits || !version || !merged) {
        free(merged);
        merged = NULL;
    } else {
        s->kernel = kernel;
        s->zero_bits = zero_bits;
        s->version = version;
        s->merged = merged;
        traffic_mark_block_starts(kernel, starts);
        for (int32_t n = 0; n < kernel->instructions; n++) {
            if (starts[n])
                close_all(s);
            scan_instruction(s, n);
        }
        close_all(s);
    }
    free(version);
    free(zero_bits);
    free(starts);
    free(s);
    return merged;
}
