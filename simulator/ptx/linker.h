// What the parts of the linker share.
//
//   link.c        ptx_link_kernel: functions one after the other, operands made final
//   callgraph.c   which functions a kernel can reach, and which of them may be active twice
//   memory_map.c  where shared, local and call-param variables lie
//   liveness.c    from where to where in the text a register's value is needed
//   place.c       places in the .cu files, for messages
//   registers.c   slots: registers that are never needed together share one
#ifndef SIMULATOR_PTX_LINKER_H
#define SIMULATOR_PTX_LINKER_H

#include "parser.h"

// "attention.cu:42: ", for the start of a message; "" where the line is not known.
const char *place_text(struct arena *arena, const struct ptx_module *module, int32_t location);

struct call_graph {
    int functions;
    struct ptx_function **function; // function[0] is the entry function
    int32_t *index;                 // [module->functions] place in function, -1: not reached
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

// A register's value is needed at most from instruction first to instruction last, both included. first > last: it is
// never mentioned.
struct live_range {
    int32_t first, last;
};

// [function->registers]
struct live_range *find_live_ranges(struct arena *arena, const struct ptx_function *function);

struct register_map {
    int32_t *slot; // [function->registers], -1: never mentioned
    int32_t bytes;
};

struct register_map map_registers(struct arena *arena, const struct ptx_function *function);

// Calls visit for each register that the instruction mentions: sources and the guard first, then destinations.
// always: a destination that every lane which executes the instruction writes.
void visit_registers(const struct ptx_instruction *instruction,
                     void (*visit)(void *context, int32_t index, bool written, bool always), void *context);

#endif
