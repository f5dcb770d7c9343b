// Queries about graphs: edges, dependencies, child graphs, a drawing in the dot language; and the removal of nodes and
// dependencies.
#include "graph.h"

#include <stdio.h>

static bool depends_on(cudaGraphNode_t node, cudaGraphNode_t other) {
    for (size_t i = 0; i < node->dependencies.count; i++)
        if (node->dependencies.node[i] == other)
            return true;
    return false;
}

static void remove_node(struct node_set *set, cudaGraphNode_t node) {
    size_t remaining = 0;
    for (size_t i = 0; i < set->count; i++)
        if (set->node[i] != node)
            set->node[remaining++] = set->node[i];
    set->count = remaining;
}

static cudaError_t get_child(cudaGraphNode_t node, cudaGraph_t *graph) {
    cudaError_t error =
        graph ? graph_check_node(node) : api_error(cudaErrorInvalidValue, "the pointer to the result is NULL");
    if (error == cudaSuccess && !node->child)
        error = api_error(cudaErrorInvalidValue, "the node is not a child graph node");
    if (error == cudaSuccess)
        *graph = node->child;
    return error;
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *graph) {
    return DEVICE_CALL(get_child(node, graph));
}

// Also removes the edges to its dependent nodes.
static cudaError_t destroy_node(cudaGraphNode_t node) {
    cudaError_t error = graph_check_node(node);
    if (error != cudaSuccess)
        return error;
    struct node_set *nodes = &node->graph->nodes;
    for (size_t i = 0; i < nodes->count; i++)
        remove_node(&nodes->node[i]->dependencies, node);
    remove_node(nodes, node);
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
        if (error == cudaSuccess && (to[i]->graph != graph || !depends_on(to[i], from[i])))
            error = api_error(cudaErrorInvalidValue, "the graph has no such dependency");
        if (error == cudaSuccess)
            remove_node(&to[i]->dependencies, from[i]);
    }
    return error;
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                        const cudaGraphEdgeData *edges, size_t count) {
    (void)edges;
    return DEVICE_CALL(remove_dependencies(graph, from, to, count));
}

// Output arrays of CUDA's queries: up to capacity entries, and the number of edges. from or to NULL: only the number.
struct edges {
    cudaGraphNode_t *from, *to;
    size_t capacity, edge_count;
};

static void add_edge(struct edges *edges, cudaGraphNode_t from, cudaGraphNode_t to) {
    if (edges->edge_count < edges->capacity) {
        if (edges->from)
            edges->from[edges->edge_count] = from;
        if (edges->to)
            edges->to[edges->edge_count] = to;
    }
    edges->edge_count++;
}

// of NULL: all edges of the graph; else the incoming or outgoing edges of that node.
static cudaError_t list_edges(cudaGraph_t graph, cudaGraphNode_t of, bool outgoing, struct edges edges,
                              cudaGraphEdgeData *data, size_t *count) {
    edges.capacity = edges.from || edges.to ? *count : 0;
    for (size_t i = 0; i < graph->nodes.count; i++) {
        cudaGraphNode_t to = graph->nodes.node[i];
        for (size_t k = 0; k < to->dependencies.count; k++)
            if (!of || (outgoing ? to->dependencies.node[k] : to) == of)
                add_edge(&edges, to->dependencies.node[k], to);
    }
    size_t returned = edges.edge_count < edges.capacity ? edges.edge_count : edges.capacity;
    for (size_t i = returned; i < edges.capacity; i++)
        (edges.from ? edges.from : edges.to)[i] = NULL;
    for (size_t i = 0; data && i < returned; i++)
        data[i] = (cudaGraphEdgeData){0};
    *count = edges.capacity ? returned : edges.edge_count;
    return cudaSuccess;
}

static cudaError_t check_query(cudaGraph_t graph, cudaGraphNode_t node, const size_t *count) {
    if (!count)
        return api_error(cudaErrorInvalidValue, "the count is NULL");
    return graph ? graph_check(graph) : graph_check_node(node);
}

static cudaError_t get_edges(cudaGraph_t graph, struct edges edges, cudaGraphEdgeData *data, size_t *count) {
    cudaError_t error = check_query(graph, NULL, count);
    return error == cudaSuccess ? list_edges(graph, NULL, false, edges, data, count) : error;
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, cudaGraphEdgeData *data,
                              size_t *count) {
    return DEVICE_CALL(get_edges(graph, (struct edges){.from = from, .to = to}, data, count));
}

static cudaError_t get_adjacent(cudaGraphNode_t node, bool outgoing, struct edges edges, cudaGraphEdgeData *data,
                                size_t *count) {
    cudaError_t error = check_query(NULL, node, count);
    return error == cudaSuccess ? list_edges(node->graph, node, outgoing, edges, data, count) : error;
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes, cudaGraphEdgeData *data,
                                         size_t *count) {
    return DEVICE_CALL(get_adjacent(node, false, (struct edges){.from = nodes}, data, count));
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes, cudaGraphEdgeData *data,
                                           size_t *count) {
    return DEVICE_CALL(get_adjacent(node, true, (struct edges){.to = nodes}, data, count));
}
#endif

// ---- dot -----------------------------------------------------------------------------------------------------------

static const char *node_type_name(enum cudaGraphNodeType type) {
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
        fprintf(file, "    n%p [label=\"%zu: %s\"];\n", (void *)node, i, node_type_name(node->operation->type));
        for (size_t k = 0; k < node->dependencies.count; k++)
            fprintf(file, "    n%p -> n%p;\n", (void *)node->dependencies.node[k], (void *)node);
        if (node->child) {
            fprintf(file, "    subgraph cluster%p {\n", (void *)node->child);
            draw(file, node->child);
            fputs("    }\n", file);
        }
    }
}

static cudaError_t print_dot(cudaGraph_t graph, const char *path) {
    cudaError_t error = path ? graph_check(graph) : api_error(cudaErrorInvalidValue, "the path is NULL");
    FILE *file = error == cudaSuccess ? fopen(path, "w") : NULL;
    if (error == cudaSuccess && !file)
        error = api_error(cudaErrorOperatingSystem, "cannot write %s", path);
    if (error != cudaSuccess)
        return error;
    fputs("digraph graph_1 {\n", file);
    draw(file, graph);
    fputs("}\n", file);
    return fclose(file) ? api_error(cudaErrorOperatingSystem, "cannot write %s", path) : cudaSuccess;
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned int flags) {
    (void)flags; // the drawing only shows the type of a node
    return DEVICE_CALL(print_dot(graph, path));
}
