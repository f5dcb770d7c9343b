// What a program may ask of a graph that it has: which nodes follow which, the graph of a child's node, a drawing in
// the language of dot; and taking nodes and dependencies away again.
#include "graph.h"

#include <stdio.h>

static bool follows(cudaGraphNode_t node, cudaGraphNode_t other) {
    for (size_t i = 0; i < node->after.count; i++)
        if (node->after.node[i] == other)
            return true;
    return false;
}

static void forget(struct node_set *set, cudaGraphNode_t node) {
    size_t kept = 0;
    for (size_t i = 0; i < set->count; i++)
        if (set->node[i] != node)
            set->node[kept++] = set->node[i];
    set->count = kept;
}

static cudaError_t get_child(cudaGraphNode_t node, cudaGraph_t *graph) {
    cudaError_t error = graph ? graph_check_node(node) : api_error(cudaErrorInvalidValue, "the result is NULL");
    if (error == cudaSuccess && !node->child)
        error = api_error(cudaErrorInvalidValue, "the node is no child graph's");
    if (error == cudaSuccess)
        *graph = node->child;
    return error;
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *graph) {
    return DEVICE_CALL(get_child(node, graph));
}

// Nodes that come to depend on it no longer do.
static cudaError_t destroy_node(cudaGraphNode_t node) {
    cudaError_t error = graph_check_node(node);
    if (error != cudaSuccess)
        return error;
    struct node_set *nodes = &node->graph->nodes;
    for (size_t i = 0; i < nodes->count; i++)
        forget(&nodes->node[i]->after, node);
    forget(nodes, node);
    graph_free_node(node);
    return cudaSuccess;
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
    return DEVICE_CALL(destroy_node(node));
}

#if CUDART_VERSION >= 13000
static cudaError_t remove_dependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                       size_t count) {
    cudaError_t error = graph_check(graph);
    for (size_t i = 0; i < count && error == cudaSuccess; i++) {
        error = graph_check_node(to[i]);
        if (error == cudaSuccess && (to[i]->graph != graph || !follows(to[i], from[i])))
            error = api_error(cudaErrorInvalidValue, "there is no such dependency");
        if (error == cudaSuccess)
            forget(&to[i]->after, from[i]);
    }
    return error;
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                        const cudaGraphEdgeData *edges, size_t count) {
    (void)edges;
    return DEVICE_CALL(remove_dependencies(graph, from, to, count));
}

// Lists, as CUDA has them: as many as there is room for, and how many there are. from or to NULL: how many there are.
struct edges {
    cudaGraphNode_t *from, *to;
    size_t room, found;
};

static void add_edge(struct edges *edges, cudaGraphNode_t from, cudaGraphNode_t to) {
    if (edges->found < edges->room) {
        if (edges->from)
            edges->from[edges->found] = from;
        if (edges->to)
            edges->to[edges->found] = to;
    }
    edges->found++;
}

// of NULL: all of the graph; else those that lead to that node, or away from it.
static cudaError_t list(cudaGraph_t graph, cudaGraphNode_t of, bool away, struct edges edges, cudaGraphEdgeData *data,
                        size_t *count) {
    edges.room = edges.from || edges.to ? *count : 0;
    for (size_t i = 0; i < graph->nodes.count; i++) {
        cudaGraphNode_t to = graph->nodes.node[i];
        for (size_t k = 0; k < to->after.count; k++)
            if (!of || (away ? to->after.node[k] : to) == of)
                add_edge(&edges, to->after.node[k], to);
    }
    size_t given = edges.found < edges.room ? edges.found : edges.room;
    for (size_t i = given; i < edges.room; i++)
        (edges.from ? edges.from : edges.to)[i] = NULL;
    for (size_t i = 0; data && i < given; i++)
        data[i] = (cudaGraphEdgeData){0};
    *count = edges.room ? given : edges.found;
    return cudaSuccess;
}

static cudaError_t check_list(cudaGraph_t graph, cudaGraphNode_t node, const size_t *count) {
    if (!count)
        return api_error(cudaErrorInvalidValue, "the count is NULL");
    return graph ? graph_check(graph) : graph_check_node(node);
}

static cudaError_t get_edges(cudaGraph_t graph, struct edges edges, cudaGraphEdgeData *data, size_t *count) {
    cudaError_t error = check_list(graph, NULL, count);
    return error == cudaSuccess ? list(graph, NULL, false, edges, data, count) : error;
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, cudaGraphEdgeData *data,
                              size_t *count) {
    return DEVICE_CALL(get_edges(graph, (struct edges){.from = from, .to = to}, data, count));
}

static cudaError_t get_beside(cudaGraphNode_t node, bool away, struct edges edges, cudaGraphEdgeData *data,
                              size_t *count) {
    cudaError_t error = check_list(NULL, node, count);
    return error == cudaSuccess ? list(node->graph, node, away, edges, data, count) : error;
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes, cudaGraphEdgeData *data,
                                         size_t *count) {
    return DEVICE_CALL(get_beside(node, false, (struct edges){.from = nodes}, data, count));
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes, cudaGraphEdgeData *data,
                                           size_t *count) {
    return DEVICE_CALL(get_beside(node, true, (struct edges){.to = nodes}, data, count));
}
#endif

// ---- dot -----------------------------------------------------------------------------------------------------------

static const char *kind(enum cudaGraphNodeType type) {
    static const char *const names[] = {
        [cudaGraphNodeTypeKernel] = "kernel",       [cudaGraphNodeTypeMemcpy] = "copy",
        [cudaGraphNodeTypeMemset] = "memset",       [cudaGraphNodeTypeHost] = "host function",
        [cudaGraphNodeTypeGraph] = "graph",         [cudaGraphNodeTypeEmpty] = "empty",
        [cudaGraphNodeTypeWaitEvent] = "wait",      [cudaGraphNodeTypeEventRecord] = "record",
        [cudaGraphNodeTypeMemAlloc] = "allocation", [cudaGraphNodeTypeMemFree] = "free",
    };
    return (size_t)type < sizeof names / sizeof *names && names[type] ? names[type] : "node";
}

static void draw(FILE *file, cudaGraph_t graph) {
    for (size_t i = 0; i < graph->nodes.count; i++) {
        cudaGraphNode_t node = graph->nodes.node[i];
        fprintf(file, "    n%p [label=\"%zu: %s\"];\n", (void *)node, i, kind(node->work->type));
        for (size_t k = 0; k < node->after.count; k++)
            fprintf(file, "    n%p -> n%p;\n", (void *)node->after.node[k], (void *)node);
        if (node->child) {
            fprintf(file, "    subgraph cluster%p {\n", (void *)node->child);
            draw(file, node->child);
            fputs("    }\n", file);
        }
    }
}

static cudaError_t print(cudaGraph_t graph, const char *path) {
    cudaError_t error = path ? graph_check(graph) : api_error(cudaErrorInvalidValue, "the path is NULL");
    FILE *file = error == cudaSuccess ? fopen(path, "w") : NULL;
    if (error == cudaSuccess && !file)
        error = api_error(cudaErrorOperatingSystem, "%s cannot be written", path);
    if (error != cudaSuccess)
        return error;
    fputs("digraph graph_1 {\n", file);
    draw(file, graph);
    fputs("}\n", file);
    return fclose(file) ? api_error(cudaErrorOperatingSystem, "%s cannot be written", path) : cudaSuccess;
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned int flags) {
    (void)flags; // what is said of a node beside its kind
    return DEVICE_CALL(print(graph, path));
}
