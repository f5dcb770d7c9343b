// The layout of a kernel's variables in shared, local and call-param space.
//
// A block's shared memory contains only the variables that the kernel can reach: of a module with two kernels each has
// its own. Static variables come first; every extern array is the dynamic shared memory after them.
#include "linker.h"

#include <stdint.h>

enum { STACK_ALIGN = 16 };

static void mark_operand(struct memory_map *map, const struct ptx_operand *operand) {
    if (operand->kind == PTX_OPERAND_ADDRESS && operand->space == PTX_SHARED && operand->variable >= 0)
        map->shared[operand->variable] = 0;
}

static void map_shared(struct arena *arena, const struct ptx_module *module, const struct call_graph *graph,
                       struct memory_map *map) {
    map->shared = arena_allocate(arena, (size_t)module->variables * sizeof *map->shared + 1);
    for (int i = 0; i < module->variables; i++)
        map->shared[i] = -1;
    for (int i = 0; i < graph->functions; i++)
        for (int j = 0; j < graph->function[i]->instructions; j++)
            for (int k = 0; k < graph->function[i]->instruction[j].nsrc; k++)
                mark_operand(map, &graph->function[i]->instruction[j].src[k]);

    size_t bytes = 0;
    bool dynamic = false;
    map->shared_align = STACK_ALIGN;
    for (int i = 0; i < module->variables; i++) {
        const struct ptx_variable *variable = &module->variable[i];
        if (map->shared[i] < 0)
            continue;
        if (variable->align > map->shared_align)
            map->shared_align = variable->align;
        if (variable->size == 0) {
            dynamic = true;
            continue;
        }
        bytes = align_up(bytes, variable->align);
        map->shared[i] = (int64_t)bytes;
        bytes += variable->size;
        if (bytes > INT32_MAX)
            arena_fail(arena, "'%s' needs more than 2 GiB of shared memory", graph->function[0]->name);
    }
    map->static_shared_bytes = dynamic ? align_up(bytes, map->shared_align) : bytes;
    for (int i = 0; i < module->variables; i++)
        if (map->shared[i] >= 0 && module->variable[i].size == 0)
            map->shared[i] = (int64_t)map->static_shared_bytes;
}

static void map_locals(struct arena *arena, const struct call_graph *graph, struct memory_map *map) {
    for (int i = 0; i < graph->functions; i++) {
        const struct ptx_function *function = graph->function[i];
        struct frame_map *frame = &map->frame[i];
        size_t align = STACK_ALIGN, bytes = 0;
        for (int j = 0; j < function->locals; j++)
            if (function->local[j].align > align)
                align = function->local[j].align;
        map->local_bytes = align_up(map->local_bytes, align);
        frame->local_base = (int32_t)map->local_bytes;
        frame->local = arena_allocate(arena, (size_t)function->locals * sizeof *frame->local + 1);
        for (int j = 0; j < function->locals; j++) {
            bytes = align_up(bytes, function->local[j].align);
            frame->local[j] = (int32_t)(map->local_bytes + bytes);
            bytes += function->local[j].size;
            if (map->local_bytes + bytes > INT32_MAX / 2)
                arena_fail(arena, "'%s' needs more than 1 GiB of local memory per thread", function->name);
        }
        frame->local_bytes = (int32_t)bytes;
        map->local_bytes += bytes;
    }
    map->local_bytes = align_up(map->local_bytes, STACK_ALIGN);
}

// Each activation has its own parameters and results; the last one may call a builtin or, through a register, a
// function with any parameters.
static void map_call_parameters(const struct call_graph *graph, struct memory_map *map) {
    size_t largest = 0;
    for (int i = 0; i < graph->functions; i++) {
        const struct ptx_function *function = graph->function[i];
        map->frame[i].call_base = function->entry ? 0 : (int32_t)align_up(function->signature.bytes, STACK_ALIGN);
        map->call_param_bytes += (size_t)map->frame[i].call_base;
        for (int j = 0; j < function->call_variables; j++) {
            const struct function_variable *variable = &function->call_variable[j];
            size_t end = variable->offset < 0 ? 0 : (size_t)variable->offset + variable->size;
            largest = end > largest ? end : largest;
        }
    }
    map->call_param_bytes = align_up(map->call_param_bytes + largest, STACK_ALIGN);
}

struct memory_map map_memory(struct arena *arena, const struct ptx_module *module, const struct call_graph *graph) {
    struct memory_map map = {0};
    map.frame = arena_allocate(arena, (size_t)graph->functions * sizeof *map.frame);
    map_shared(arena, module, graph, &map);
    map_locals(arena, graph, &map);
    map_call_parameters(graph, &map);
    return map;
}
