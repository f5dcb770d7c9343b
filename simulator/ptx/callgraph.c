// Which functions a kernel can reach. A call through a register may reach every function whose address is taken
// anywhere in the module.
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
    bool indirect; // the functions whose address is taken have been added
};

static void reach(struct search *search, struct ptx_function *function) {
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

// All indirect calls lead to one node, numbered after the functions, and from it to each function whose address is
// taken.
static void reach_indirect(struct search *search) {
    if (search->indirect)
        return;
    search->indirect = true;
    for (int i = 0; i < search->module->functions; i++) {
        struct ptx_function *function = search->module->function[i];
        if (function->address_taken && function->defined && !function->entry) {
            reach(search, function);
            add_edge(search, -1, search->graph.index[i]);
        }
    }
}

static void scan(struct search *search, int caller) {
    const struct ptx_function *function = search->graph.function[caller];
    for (int i = 0; i < function->instructions; i++) {
        const struct ptx_instruction *call = &function->instruction[i];
        if (call->opcode != PTX_OP_CALL)
            continue;
        if (call->src[0].kind != PTX_OPERAND_FUNCTION) {
            reach_indirect(search);
            add_edge(search, caller, -1);
            continue;
        }
        struct ptx_function *callee = search->module->function[call->src[0].target];
        if (callee->builtin != PTX_BUILTIN_NONE && !callee->defined)
            continue;
        if (!callee->defined)
            arena_fail(
                search->arena,
                "%s'%s' calls '%s', which has no body here and which the simulator does not provide (ptx line %d)",
                place_text(search->arena, search->module, call->location), function->name, callee->name,
                call->ptx_line);
        reach(search, callee);
        add_edge(search, caller, search->graph.index[callee->index]);
    }
}

// Removes again and again what nothing left calls, or (callers) what calls nothing left. What stays after both is on a
// cycle, or between two of them.
static void prune(struct search *search, bool *gone, bool callers) {
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
        gone[queue[i]] = true;
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
    reach(&search, entry);
    for (int i = 0; i < graph->functions; i++)
        scan(&search, i);
    bool *gone = arena_allocate(arena, (size_t)graph->functions + 1);
    prune(&search, gone, false);
    prune(&search, gone, true);
    graph->recursive = arena_allocate(arena, (size_t)graph->functions);
    for (int i = 0; i < graph->functions; i++)
        graph->recursive[i] = !gone[i];
    return *graph;
}
