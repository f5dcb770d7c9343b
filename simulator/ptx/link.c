// Links one entry function and all functions that it can call into a kernel: one array of instructions with resolved
// operands.
#include "linker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_KERNEL_INSTRUCTIONS = 1 << 21 };
static const size_t KERNEL_LIMIT = (size_t)3 << 30;

// The kernel together with the arena that owns it.
struct linked_kernel {
    struct ptx_kernel kernel;
    struct arena *arena;
};

struct linker {
    struct arena *arena;   // for data of the kernel
    struct arena *scratch; // for data that only the linker needs
    const struct ptx_module *module;
    struct ptx_kernel *kernel;
    struct call_graph graph;
    struct memory_map memory;
    struct register_map registers; // of the function being linked
    int current;                   // its index in the call graph
};

static void check_supported(struct linker *l) {
    for (int i = 0; i < l->graph.functions; i++) {
        const struct unsupported *unsupported = l->graph.function[i]->unsupported;
        if (unsupported)
            arena_fail(l->arena, "%s%s: \"%s\" (PTX line %d) [ptx-unsupported]",
                       location_text(l->arena, l->module, unsupported->location), unsupported->description,
                       unsupported->text, unsupported->line);
    }
}

static void resolve_address(struct linker *l, const struct ptx_instruction *instruction, struct ptx_operand *operand) {
    const struct ptx_function *function = l->graph.function[l->current];
    const struct frame_map *frame = &l->memory.frame[l->current];
    int32_t variable = operand->variable;
    if (operand->slot >= 0)
        operand->slot = l->registers.slot[operand->slot];
    if (variable < 0 || operand->space == PTX_GLOBAL || operand->space == PTX_CONST)
        return;
    operand->variable = -1;
    uint64_t offset = 0;
    if (operand->space == PTX_SHARED) {
        offset = (uint64_t)l->memory.shared[variable];
    } else if (operand->space == PTX_LOCAL) {
        offset = (uint64_t)frame->local[variable];
    } else if (operand->space == PTX_PARAM) {
        offset = function->signature.parameter[variable].offset;
    } else {
        const struct function_variable *parameter = &function->call_variable[variable];
        if (parameter->offset < 0)
            arena_fail(l->arena, "%s'%s' is not passed to any call: \"%s\" (PTX line %d) [ptx-unsupported]",
                       location_text(l->arena, l->module, instruction->location), parameter->name, instruction->text,
                       instruction->ptx_line);
        offset = (uint64_t)parameter->offset + (parameter->incoming ? 0 : (uint64_t)frame->call_base);
    }
    operand->offset = (int64_t)((uint64_t)operand->offset + offset);
}

static void resolve(struct linker *l, const struct ptx_instruction *instruction, struct ptx_operand *operand,
                    int32_t entry) {
    switch (operand->kind) {
    case PTX_OPERAND_REGISTER:
        operand->register_index = operand->slot;
        operand->slot = l->registers.slot[operand->slot];
        break;
    case PTX_OPERAND_ADDRESS:
        resolve_address(l, instruction, operand);
        break;
    case PTX_OPERAND_TARGET:
        operand->target += entry;
        break;
    case PTX_OPERAND_FUNCTION: {
        const struct ptx_function *callee = l->module->function[operand->target];
        operand->builtin = callee->defined ? PTX_BUILTIN_NONE : callee->builtin;
        operand->target = callee->defined ? l->graph.index[callee->index] : -1;
        break;
    }
    default:
        break;
    }
    if (operand->count == 0)
        return;
    struct ptx_operand *elements = arena_allocate(l->arena, (size_t)operand->count * sizeof *elements);
    memcpy(elements, operand->elements, (size_t)operand->count * sizeof *elements);
    operand->elements = elements;
    for (int i = 0; i < operand->count; i++)
        if (elements[i].count == 0) // the parser makes no nested vectors of vectors
            resolve(l, instruction, &elements[i], entry);
}

// Whether control can reach the end of the body: it ends with a label or without a ret.
static bool falls_through_end(const struct ptx_function *function) {
    int count = function->instructions;
    const struct ptx_instruction *last = count > 0 ? &function->instruction[count - 1] : NULL;
    if (!last || last->guard >= 0 ||
        (last->opcode != PTX_OP_RET && last->opcode != PTX_OP_EXIT && last->opcode != PTX_OP_BRA &&
         last->opcode != PTX_OP_TRAP && last->opcode != PTX_OP_BRX))
        return true;
    for (int i = 0; i < count; i++) {
        const struct ptx_instruction *branch = &function->instruction[i];
        if (branch->opcode == PTX_OP_BRA && branch->src[0].target == count)
            return true;
    }
    for (int i = 0; i < function->targets; i++)
        for (int j = 0; j < function->target[i].count; j++)
            if (function->target[i].target[j].target == count)
                return true;
    return false;
}

static void link_function(struct linker *l, int index, const bool *add_return) {
    const struct ptx_function *function = l->graph.function[index];
    const struct frame_map *map = &l->memory.frame[index];
    struct ptx_frame *frame = &l->kernel->function[index];
    struct ptx_instruction *to = &l->kernel->instruction[frame->entry];
    l->current = index;
    l->registers = map_registers(l->scratch, function);
    frame->name = function->name;
    frame->frame_bytes = l->registers.bytes;
    frame->register_base = (int32_t)l->kernel->register_bytes;
    l->kernel->register_bytes += (size_t)l->registers.bytes;
    if (l->kernel->register_bytes > INT32_MAX)
        arena_fail(l->arena, "'%s' and the functions that it calls need too many registers", l->kernel->name);
    frame->params = function->signature.parameters + function->signature.results;
    frame->param = function->signature.parameter;
    frame->param_bytes = function->entry ? 0 : (int32_t)function->signature.bytes;
    frame->call_base = map->call_base;
    frame->local_base = map->local_base;
    frame->local_bytes = map->local_bytes;
    frame->recursive = l->graph.recursive[index];
    frame->address = function_address(function->index);
    l->kernel->recursive |= frame->recursive;
    for (int i = 0; i < function->instructions; i++) {
        to[i] = function->instruction[i];
        if (to[i].guard >= 0)
            to[i].guard = l->registers.slot[to[i].guard];
        for (int j = 0; j < 2; j++)
            resolve(l, &function->instruction[i], &to[i].dst[j], frame->entry);
        for (int j = 0; j < to[i].nsrc; j++)
            resolve(l, &function->instruction[i], &to[i].src[j], frame->entry);
    }
    if (add_return[index])
        to[function->instructions] = (struct ptx_instruction){
            .opcode = PTX_OP_RET,
            .guard = -1,
            .vector = 1,
            .text = "ret;",
            .location = function->instructions > 0 ? function->instruction[function->instructions - 1].location : 0,
            .ptx_line = function->instructions > 0 ? function->instruction[function->instructions - 1].ptx_line : 0};
}

static void link_functions(struct linker *l) {
    struct ptx_kernel *kernel = l->kernel;
    bool *add_return = arena_allocate(l->scratch, (size_t)l->graph.functions);
    kernel->functions = l->graph.functions;
    kernel->function = arena_allocate(l->arena, (size_t)kernel->functions * sizeof *kernel->function);
    for (int i = 0; i < kernel->functions; i++) {
        const struct ptx_function *function = l->graph.function[i];
        add_return[i] = falls_through_end(function);
        kernel->function[i].entry = kernel->instructions;
        kernel->function[i].instructions = function->instructions + add_return[i];
        kernel->instructions += kernel->function[i].instructions;
        if (kernel->instructions > MAX_KERNEL_INSTRUCTIONS)
            arena_fail(l->arena, "'%s' and the functions that it calls have more than %d instructions", kernel->name,
                       MAX_KERNEL_INSTRUCTIONS);
    }
    kernel->instruction = arena_allocate(l->arena, (size_t)kernel->instructions * sizeof *kernel->instruction);
    for (int i = 0; i < kernel->functions; i++)
        link_function(l, i, add_return);
}

static struct ptx_function *find_entry(const struct ptx_module *module, const char *name) {
    for (int i = 0; i < module->functions; i++)
        if (module->function[i]->entry && strcmp(module->function[i]->name, name) == 0)
            return module->function[i];
    return NULL;
}

static void link_kernel(struct linker *l, const char *name) {
    struct ptx_function *entry = find_entry(l->module, name);
    if (!entry || !entry->defined)
        arena_fail(l->arena, "the PTX has no kernel '%s'", name);
    struct ptx_kernel *kernel = l->kernel;
    kernel->module = l->module;
    kernel->name = entry->name;
    l->graph = find_reachable(l->scratch, l->module, entry);
    check_supported(l);
    l->memory = map_memory(l->scratch, l->module, &l->graph);
    kernel->params = entry->signature.parameters;
    kernel->param = entry->signature.parameter;
    kernel->param_bytes = entry->signature.bytes;
    kernel->static_shared_bytes = l->memory.static_shared_bytes;
    kernel->shared_align = l->memory.shared_align;
    const size_t offsets = (size_t)l->module->variables * sizeof *kernel->shared_offset;
    kernel->shared_offset = arena_allocate(l->arena, offsets + 1);
    memcpy(kernel->shared_offset, l->memory.shared, offsets);
    kernel->local_bytes = l->memory.local_bytes;
    kernel->call_param_bytes = l->memory.call_param_bytes;
    memcpy(kernel->max_threads, entry->max_threads, sizeof kernel->max_threads);
    memcpy(kernel->required_threads, entry->required_threads, sizeof kernel->required_threads);
    kernel->min_blocks = entry->min_blocks;
    kernel->max_registers = entry->max_registers;
    kernel->cluster = entry->cluster;
    link_functions(l);
}

// An allocation failure of scratch memory has the same handler and message as one of the kernel's memory.
static bool link_with_arenas(struct arena *arena, struct arena *scratch, const struct ptx_module *module,
                             const char *name, struct ptx_kernel *kernel) {
    if (setjmp(arena->on_error))
        return false;
    if (setjmp(scratch->on_error))
        return false;
    struct linker *l = arena_allocate(scratch, sizeof *l);
    *l = (struct linker){.arena = arena, .scratch = scratch, .module = module, .kernel = kernel};
    link_kernel(l, name);
    return true;
}

struct ptx_kernel *ptx_link_kernel(const struct ptx_module *module, const char *name, char *error, size_t error_size) {
    struct arena *arena = arena_create(KERNEL_LIMIT, error, error_size);
    struct arena *scratch = arena_create(KERNEL_LIMIT, error, error_size);
    struct linked_kernel *linked = calloc(1, sizeof *linked);
    bool done = arena && scratch && linked && link_with_arenas(arena, scratch, module, name, &linked->kernel);
    if (!linked)
        snprintf(error, error_size, "out of memory");
    arena_destroy(scratch);
    if (!done) {
        arena_destroy(arena);
        free(linked);
        return NULL;
    }
    linked->arena = arena;
    return &linked->kernel;
}

void ptx_free_kernel(struct ptx_kernel *kernel) {
    if (!kernel)
        return;
    struct linked_kernel *linked = (struct linked_kernel *)kernel;
    arena_destroy(linked->arena);
    free(linked);
}
