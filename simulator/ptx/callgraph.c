// The functions that a kernel can reach. An indirect call can reach every function of the module whose address is
// taken.
#include "linker.h"

struct edge {
    int caller, callee;
};

struct search {
    struct arena *arena;
    const struct ptx_module *module;
    struct call_graph graph;
    int function_capacity;
    struct edge *edge;
    int edges, edge_capacity;
    bool indirect; // the address-taken functions have been added
};

static void add_reachable_function(struct search *search, struct ptx_function *function) {
    struct call_graph *graph = &search->graph;
    if (graph->index[function->index] >= 0)
        return;
    graph->index[function->index] = graph->functions;
    graph->function = arena_grow(search->arena, graph->function, graph->functions, &search->function_capacity,
                                 sizeof(struct ptx_function *));
    graph->function[graph->functions++] = function;
}

static void add_edge(struct search *search, int caller, int callee) {
    search->edge = arena_grow(search->arena, search->edge, search->edges, &search->edge_capacity, sizeof *search->edge);
    search->edge[search->edges++] = (struct edge){caller, callee};
}

// All indirect calls have an edge to one extra node, numbered after the functions, which has an edge to each
// address-taken function.
static void add_indirect_callees(struct search *search) {
    if (search->indirect)
        return;
    search->indirect = true;
    for (int i = 0; i < search->module->functions; i++) {
        struct ptx_function *function = search->module->function[i];
        if (function->address_taken && function->defined && !function->entry) {
            add_reachable_function(search, function);
            add_edge(search, -1, search->graph.index[i]);
        }
    }
}

static void scan_calls(struct search *search, int caller) {
    const struct ptx_function *function = search->graph.function[caller];
    for (int i = 0; i < function->instructions; i++) {
        const struct ptx_instruction *call = &function->instruction[i];
        if (call->opcode != PTX_OP_CALL)
            continue;
        if (call->src[0].kind != PTX_OPERAND_FUNCTION) {
            add_indirect_callees(search);
            add_edge(search, caller, -1);
            continue;
        }
        struct ptx_function *callee = search->module->function[call->src[0].target];
        if (callee->builtin != PTX_BUILTIN_NONE && !callee->defined)
            continue;
        if (!callee->defined)
            arena_fail(search->arena, "%s'%s' calls the undefined function '%s' (PTX line %d) [ptx-undefined-function]",
                       location_text(search->arena, search->module, call->location), function->name, callee->name,
                       call->ptx_line);
        add_reachable_function(search, callee);
        add_edge(search, caller, search->graph.index[callee->index]);
    }
}

// Repeatedly removes functions without callers, or (callers) without callees. The functions that survive both passes
// are on a cycle, or on a path between two cycles.
static void prune(struct search *search, bool *removed, bool callers) {
    int nodes = search->graph.functions + 1, ready = 0;
    int *degree = arena_allocate(search->arena, (size_t)nodes * sizeof *degree);
    int *first = arena_allocate(search->arena, (size_t)(nodes + 1) * sizeof *first);
    int *target = arena_allocate(search->arena, (size_t)(search->edges + 1) * sizeof *target);
    int *queue = arena_allocate(search->arena, (size_t)nodes * sizeof *queue);
    for (int i = 0; i < search->edges; i++) {
        int from = callers ? search->edge[i].callee : search->edge[i].caller;
        int to = callers ? search->edge[i].caller : search->edge[i].callee;
        degree[to < 0 ? nodes - 1 : to]++;
        first[(from < 0 ? nodes - 1 : from) + 1]++;
    }
    for (int i = 0; i < nodes; i++)
        first[i + 1] += first[i];
    int *next = arena_allocate(search->arena, (size_t)nodes * sizeof *next);
    for (int i = 0; i < search->edges; i++) {
        int from = callers ? search->edge[i].callee : search->edge[i].caller;
        int to = callers ? search->edge[i].caller : search->edge[i].callee;
        from = from < 0 ? nodes - 1 : from;
        target[first[from] + next[from]++] = to < 0 ? nodes - 1 : to;
    }
    for (int i = 0; i < nodes; i++)
        if (degree[i] == 0)
            queue[ready++] = i;
    for (int i = 0; i < ready; i++) {
        removed[queue[i]] = true;
        for (int j = first[queue[i]]; j < first[queue[i] + 1]; j++)
            if (--degree[target[j]] == 0)
                queue[ready++] = target[j];
    }
}

struct call_graph find_reachable(struct arena *arena, const struct ptx_module *module, struct ptx_function *entry) {
    struct search search = {.arena = arena, .module = module};
    struct call_graph *graph = &search.graph;
    graph->index = arena_allocate(arena, (size_t)module->functions * sizeof *graph->index);
    for (int i = 0; i < module->functions; i++)
        graph->index[i] = -1;
    add_reachable_function(&search, entry);
    for (int i = 0; i < graph->functions; i++)
        scan_calls(&search, i);
    bool *removed = arena_allocate(arena, (size_t)graph->functions + 1);
    prune(&search, removed, false);
    prune(&search, removed, true);
    graph->recursive = arena_allocate(arena, (size_t)graph->functions);
    for (int i = 0; i < graph->functions; i++)
        graph->recursive[i] = !removed[i];
    return *graph;
}
