// Graphs and their nodes: see graph.h.
#include "graph.h"

#include <stdlib.h>
#include <string.h>

static struct CUgraph_st *graphs;

void *operation_new(size_t size, enum cudaGraphNodeType type,
                    cudaError_t (*run)(const struct operation *, cudaStream_t)) {
    struct operation *operation = calloc(1, size);
    if (operation)
        *operation = (struct operation){.type = type, .references = 1, .run = run};
    return operation;
}

struct operation *operation_retain(struct operation *operation) {
    operation->references++;
    return operation;
}

void operation_release(struct operation *operation) {
    if (!operation || --operation->references > 0)
        return;
    if (operation->release)
        operation->release(operation);
    free(operation);
}

bool node_set_add(struct node_set *set, cudaGraphNode_t node) {
    for (size_t i = 0; i < set->count; i++)
        if (set->node[i] == node)
            return true;
    if (set->count == set->capacity) {
        size_t capacity = set->capacity ? 2 * set->capacity : 4;
        cudaGraphNode_t *grown = realloc(set->node, capacity * sizeof *grown);
        if (!grown)
            return false;
        set->node = grown;
        set->capacity = capacity;
    }
    set->node[set->count++] = node;
    return true;
}

bool node_set_add_all(struct node_set *set, const struct node_set *other) {
    for (size_t i = 0; i < other->count; i++)
        if (!node_set_add(set, other->node[i]))
            return false;
    return true;
}

void node_set_clear(struct node_set *set) {
    free(set->node);
    *set = (struct node_set){0};
}

cudaGraph_t graph_new(void) {
    cudaGraph_t graph = calloc(1, sizeof *graph);
    if (graph) {
        graph->next = graphs;
        graphs = graph;
    }
    return graph;
}

void graph_free_node(cudaGraphNode_t node) {
    if (node->child)
        graph_free(node->child);
    condition_free(node->condition);
    operation_release(node->operation);
    node_set_clear(&node->dependencies);
    free(node);
}

void graph_free(cudaGraph_t graph) {
    struct CUgraph_st **link = &graphs;
    while (*link != graph)
        link = &(*link)->next;
    *link = graph->next;
    for (size_t i = 0; i < graph->nodes.count; i++)
        graph_free_node(graph->nodes.node[i]);
    node_set_clear(&graph->nodes);
    while (graph->defaults) {
        struct condition_default *entry = graph->defaults;
        graph->defaults = entry->next;
        free(entry);
    }
    free(graph);
}

void graph_free_all(void) {
    while (graphs)
        graph_free(graphs);
}

cudaError_t graph_check(cudaGraph_t graph) {
    for (const struct CUgraph_st *entry = graphs; entry; entry = entry->next)
        if (entry == graph)
            return cudaSuccess;
    return api_error(cudaErrorInvalidValue, "invalid graph handle: never created, or already destroyed");
}

cudaError_t graph_check_node(cudaGraphNode_t node) {
    for (const struct CUgraph_st *entry = graphs; entry; entry = entry->next)
        for (size_t i = 0; i < entry->nodes.count; i++)
            if (entry->nodes.node[i] == node)
                return cudaSuccess;
    return api_error(cudaErrorInvalidValue, "invalid graph node: never added, or its graph was destroyed");
}

cudaError_t graph_add_node(cudaGraphNode_t *node, cudaGraph_t graph, const struct node_set *dependencies,
                           struct operation *operation) {
    cudaGraphNode_t created = operation ? calloc(1, sizeof *created) : NULL;
    if (!created || !node_set_add_all(&created->dependencies, dependencies) || !node_set_add(&graph->nodes, created)) {
        if (created)
            node_set_clear(&created->dependencies);
        free(created);
        operation_release(operation);
        return api_error(cudaErrorMemoryAllocation, "out of host memory");
    }
    created->operation = operation;
    created->graph = graph;
    if (node)
        *node = created;
    return cudaSuccess;
}

static cudaError_t create(cudaGraph_t *graph, unsigned flags) {
    if (!graph || flags != 0)
        return api_error(cudaErrorInvalidValue, "the pointer to the result is NULL or flags is not 0");
    *graph = graph_new();
    return *graph ? cudaSuccess : api_error(cudaErrorMemoryAllocation, "out of host memory");
}

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned int flags) {
    return DEVICE_CALL(create(graph, flags));
}

static cudaError_t destroy(cudaGraph_t graph) {
    cudaError_t error = graph_check(graph);
    if (error == cudaSuccess)
        graph_free(graph);
    return error;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    return DEVICE_CALL(destroy(graph));
}

// The dependencies that a program passes must be nodes of the same graph.
cudaError_t graph_add_checked_node(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                   size_t count, struct operation *operation) {
    struct node_set set = {(cudaGraphNode_t *)dependencies, count, count};
    cudaError_t error = !node || (count > 0 && !dependencies)
                            ? api_error(cudaErrorInvalidValue, "a pointer to nodes is NULL")
                            : graph_check(graph);
    for (size_t i = 0; i < count && error == cudaSuccess; i++) {
        error = graph_check_node(dependencies[i]);
        if (error == cudaSuccess && dependencies[i]->graph != graph)
            error = api_error(cudaErrorInvalidValue, "a dependency belongs to another graph");
    }
    if (error == cudaSuccess)
        return graph_add_node(node, graph, &set, operation);
    operation_release(operation);
    return error;
}

static cudaError_t add_kernel(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                              size_t count, const struct cudaKernelNodeParams *params) {
    struct operation *operation = NULL;
    cudaError_t error = new_kernel_operation(params, &operation);
    return error == cudaSuccess ? graph_add_checked_node(node, graph, dependencies, count, operation) : error;
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                   size_t count, const struct cudaKernelNodeParams *params) {
    return DEVICE_CALL(add_kernel(node, graph, dependencies, count, params));
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                     size_t count, void *to, const void *from, size_t size, enum cudaMemcpyKind kind) {
    return DEVICE_CALL(graph_add_checked_node(node, graph, dependencies, count,
                                              new_memcpy_operation(to, size, from, size, size, 1, kind)));
}

static cudaError_t add_copy(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count,
                            const struct cudaMemcpy3DParms *params) {
    return params ? graph_add_checked_node(node, graph, dependencies, count, new_memcpy_3d_operation(params))
                  : api_error(cudaErrorInvalidValue, "the parameters are NULL");
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                   size_t count, const struct cudaMemcpy3DParms *params) {
    return DEVICE_CALL(add_copy(node, graph, dependencies, count, params));
}

cudaError_t new_memset_operation_of(const struct cudaMemsetParams *p, struct operation **operation) {
    if (!p || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4))
        return api_error(cudaErrorInvalidValue, "the parameters are NULL, or elementSize is not 1, 2 or 4");
    size_t pitch = p->height > 1 ? p->pitch : p->width * p->elementSize;
    *operation = new_memset_operation(p->dst, pitch, (int)p->value, p->elementSize, p->width, p->height);
    return cudaSuccess;
}

static cudaError_t add_memset(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                              size_t count, const struct cudaMemsetParams *params) {
    struct operation *operation = NULL;
    cudaError_t error = new_memset_operation_of(params, &operation);
    return error == cudaSuccess ? graph_add_checked_node(node, graph, dependencies, count, operation) : error;
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                   size_t count, const struct cudaMemsetParams *params) {
    return DEVICE_CALL(add_memset(node, graph, dependencies, count, params));
}

cudaError_t new_host_operation(const struct cudaHostNodeParams *params, struct operation **operation) {
    if (!params || !params->fn)
        return api_error(cudaErrorInvalidValue, "the parameters or the function are NULL");
    *operation = operation_new(sizeof **operation, cudaGraphNodeTypeHost, NULL);
    if (*operation) {
        (*operation)->function = params->fn;
        (*operation)->argument = params->userData;
    }
    return cudaSuccess;
}

static cudaError_t add_host(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count,
                            const struct cudaHostNodeParams *params) {
    struct operation *operation = NULL;
    cudaError_t error = new_host_operation(params, &operation);
    return error == cudaSuccess ? graph_add_checked_node(node, graph, dependencies, count, operation) : error;
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                 size_t count, const struct cudaHostNodeParams *params) {
    return DEVICE_CALL(add_host(node, graph, dependencies, count, params));
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                  size_t count) {
    return DEVICE_CALL(graph_add_checked_node(node, graph, dependencies, count,
                                              operation_new(sizeof(struct operation), cudaGraphNodeTypeEmpty, NULL)));
}

// The copy has a node for each node of the original, at the same index.
static cudaGraph_t clone_graph(cudaGraph_t graph) {
    cudaGraph_t copy = graph_new();
    bool complete = copy;
    for (size_t i = 0; i < graph->nodes.count && complete; i++) {
        const struct CUgraphNode_st *from = graph->nodes.node[i];
        cudaGraphNode_t created;
        complete =
            graph_add_node(&created, copy, &(struct node_set){0}, operation_retain(from->operation)) == cudaSuccess &&
            (!from->child || (created->child = clone_graph(from->child)));
    }
    for (size_t i = 0; i < graph->nodes.count && complete; i++) {
        const struct node_set *dependencies = &graph->nodes.node[i]->dependencies;
        for (size_t k = 0; k < dependencies->count; k++)
            for (size_t j = 0; j < graph->nodes.count && complete; j++)
                if (graph->nodes.node[j] == dependencies->node[k])
                    complete = node_set_add(&copy->nodes.node[i]->dependencies, copy->nodes.node[j]);
    }
    if (copy && !complete)
        graph_free(copy);
    return complete ? copy : NULL;
}

static cudaError_t clone(cudaGraph_t *copy, cudaGraph_t graph) {
    cudaError_t error =
        copy ? graph_check(graph) : api_error(cudaErrorInvalidValue, "the pointer to the result is NULL");
    for (size_t i = 0; error == cudaSuccess && i < graph->nodes.count; i++)
        if (graph->nodes.node[i]->condition)
            error = api_error(cudaErrorNotSupported,
                              "a graph with a conditional node cannot be cloned or be a child graph");
    if (error == cudaSuccess && !(*copy = clone_graph(graph)))
        error = api_error(cudaErrorMemoryAllocation, "out of host memory");
    return error;
}

cudaError_t cudaGraphClone(cudaGraph_t *copy, cudaGraph_t graph) {
    return DEVICE_CALL(clone(copy, graph));
}

static cudaError_t add_child(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                             size_t count, cudaGraph_t child) {
    cudaGraph_t copy = NULL;
    cudaError_t error = child == graph ? api_error(cudaErrorInvalidValue, "a graph cannot be its own child graph")
                                       : clone(&copy, child);
    if (error == cudaSuccess)
        error = graph_add_checked_node(node, graph, dependencies, count,
                                       operation_new(sizeof(struct operation), cudaGraphNodeTypeGraph, NULL));
    if (error == cudaSuccess)
        (*node)->child = copy;
    else if (copy)
        graph_free(copy);
    return error;
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                       size_t count, cudaGraph_t child) {
    return DEVICE_CALL(add_child(node, graph, dependencies, count, child));
}

static cudaError_t add_dependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                    size_t count) {
    cudaError_t error = graph_check(graph);
    for (size_t i = 0; i < count && error == cudaSuccess; i++) {
        error = graph_check_node(from[i]);
        if (error == cudaSuccess)
            error = graph_check_node(to[i]);
        if (error == cudaSuccess && (from[i]->graph != graph || to[i]->graph != graph || from[i] == to[i]))
            error = api_error(cudaErrorInvalidValue, "a node belongs to another graph, or would depend on itself");
        if (error == cudaSuccess && !node_set_add(&to[i]->dependencies, from[i]))
            error = api_error(cudaErrorMemoryAllocation, "out of host memory");
    }
    return error;
}

#if CUDART_VERSION >= 13000
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                     const cudaGraphEdgeData *edges, size_t count) {
    (void)
        edges; // of programmatic dependent launch: in the simulator a node starts after its predecessors have completed
    return DEVICE_CALL(add_dependencies(graph, from, to, count));
}
#else
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                     size_t count) {
    return DEVICE_CALL(add_dependencies(graph, from, to, count));
}
#endif

// Returns up to *count nodes, and their number in *count.
static cudaError_t list_nodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count, bool roots) {
    cudaError_t error = count ? graph_check(graph) : api_error(cudaErrorInvalidValue, "the count is NULL");
    if (error != cudaSuccess)
        return error;
    size_t node_count = 0;
    for (size_t i = 0; i < graph->nodes.count; i++) {
        if (roots && graph->nodes.node[i]->dependencies.count > 0)
            continue;
        if (nodes && node_count < *count)
            nodes[node_count] = graph->nodes.node[i];
        node_count++;
    }
    for (size_t i = node_count; nodes && i < *count; i++)
        nodes[i] = NULL;
    *count = nodes && node_count > *count ? *count : node_count;
    return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) {
    return DEVICE_CALL(list_nodes(graph, nodes, count, false));
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) {
    return DEVICE_CALL(list_nodes(graph, nodes, count, true));
}

static cudaError_t get_type(cudaGraphNode_t node, enum cudaGraphNodeType *type) {
    cudaError_t error =
        type ? graph_check_node(node) : api_error(cudaErrorInvalidValue, "the pointer to the type is NULL");
    if (error == cudaSuccess)
        *type = node->operation->type;
    return error;
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type) {
    return DEVICE_CALL(get_type(node, type));
}

static cudaError_t get_kernel(cudaGraphNode_t node, struct cudaKernelNodeParams *params) {
    cudaError_t error =
        params ? graph_check_node(node) : api_error(cudaErrorInvalidValue, "the pointer to the result is NULL");
    return error == cudaSuccess ? kernel_params(node->operation, params) : error;
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *params) {
    return DEVICE_CALL(get_kernel(node, params));
}

cudaError_t graph_node_set_operation(cudaGraphNode_t node, enum cudaGraphNodeType type, struct operation *operation) {
    cudaError_t error = operation ? graph_check_node(node) : api_error(cudaErrorMemoryAllocation, "out of host memory");
    if (error == cudaSuccess && node->operation->type != type)
        error = api_error(cudaErrorInvalidValue, "the node has another type");
    if (error != cudaSuccess) {
        operation_release(operation);
        return error;
    }
    operation_release(node->operation);
    node->operation = operation;
    return cudaSuccess;
}

static cudaError_t set_kernel(cudaGraphNode_t node, const struct cudaKernelNodeParams *params) {
    struct operation *operation = NULL;
    cudaError_t error = new_kernel_operation(params, &operation);
    return error == cudaSuccess ? graph_node_set_operation(node, cudaGraphNodeTypeKernel, operation) : error;
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams *params) {
    return DEVICE_CALL(set_kernel(node, params));
}
