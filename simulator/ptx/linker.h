// The interface between the files of the linker.
//
//   link.c        ptx_link_kernel: concatenates the functions, resolves operands
//   callgraph.c   the functions that a kernel can reach, and which of them are recursive
//   memory_map.c  layout of shared, local and call-param variables
//   liveness.c    live ranges of registers
//   location_text.c  source locations, for messages
//   registers.c   slots: registers whose live ranges are disjoint share one
#ifndef SIMULATOR_PTX_LINKER_H
#define SIMULATOR_PTX_LINKER_H

#include "parser.h"

// A prefix for messages, "attention.cu:42: "; "" if the line is unknown.
const char *location_text(struct arena *arena, const struct ptx_module *module, int32_t location);

struct call_graph {
    int functions;
    struct ptx_function **function; // function[0] is the entry function
    int32_t *index;                 // [module->functions] index in function, -1: not reached
    bool *recursive;                // [functions]
};

struct call_graph find_reachable(struct arena *arena, const struct ptx_module *module, struct ptx_function *entry);

struct frame_map {
    int32_t local_base, local_bytes, call_base;
    int32_t *local; // [locals] offset
};

struct memory_map {
    int64_t *shared; // [module->variables] offset, -1: not used by this kernel
    size_t static_shared_bytes, shared_align, local_bytes, call_param_bytes;
    struct frame_map *frame; // [functions]
};

struct memory_map map_memory(struct arena *arena, const struct ptx_module *module, const struct call_graph *graph);

// The live range of a register, inclusive. first > last: the function never uses it.
struct live_range {
    int32_t first, last;
};

// [function->registers]
struct live_range *find_live_ranges(struct arena *arena, const struct ptx_function *function);

struct register_map {
    int32_t *slot; // [function->registers], -1: never used
    int32_t bytes;
};

struct register_map map_registers(struct arena *arena, const struct ptx_function *function);

// Calls visit for each register operand: sources and the guard first, then destinations. always: every lane that
// executes the instruction writes the destination.
void visit_registers(const struct ptx_instruction *instruction,
                     void (*visit)(void *context, int32_t index, bool written, bool always), void *context);

#endif
