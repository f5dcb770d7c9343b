// Graphs and their nodes: see graph.h.
#include "graph.h"

#include <stdlib.h>
#include <string.h>

static struct CUgraph_st *graphs;

void *work_new(size_t size, enum cudaGraphNodeType type, cudaError_t (*run)(const struct work *, cudaStream_t)) {
    struct work *work = calloc(1, size);
    if (work)
        *work = (struct work){.type = type, .users = 1, .run = run};
    return work;
}

struct work *work_share(struct work *work) {
    work->users++;
    return work;
}

void work_drop(struct work *work) {
    if (!work || --work->users > 0)
        return;
    if (work->release)
        work->release(work);
    free(work);
}

bool node_set_add(struct node_set *set, cudaGraphNode_t node) {
    for (size_t i = 0; i < set->count; i++)
        if (set->node[i] == node)
            return true;
    if (set->count == set->room) {
        size_t room = set->room ? 2 * set->room : 4;
        cudaGraphNode_t *grown = realloc(set->node, room * sizeof *grown);
        if (!grown)
            return false;
        set->node = grown;
        set->room = room;
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

void node_set_empty(struct node_set *set) {
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
    condition_drop(node->condition);
    work_drop(node->work);
    node_set_empty(&node->after);
    free(node);
}

void graph_free(cudaGraph_t graph) {
    struct CUgraph_st **link = &graphs;
    while (*link != graph)
        link = &(*link)->next;
    *link = graph->next;
    for (size_t i = 0; i < graph->nodes.count; i++)
        graph_free_node(graph->nodes.node[i]);
    node_set_empty(&graph->nodes);
    while (graph->defaults) {
        struct graph_default *one = graph->defaults;
        graph->defaults = one->next;
        free(one);
    }
    free(graph);
}

void graph_free_all(void) {
    while (graphs)
        graph_free(graphs);
}

cudaError_t graph_check(cudaGraph_t graph) {
    for (const struct CUgraph_st *one = graphs; one; one = one->next)
        if (one == graph)
            return cudaSuccess;
    return api_error(cudaErrorInvalidValue, "the graph does not exist, or was destroyed");
}

cudaError_t graph_check_node(cudaGraphNode_t node) {
    for (const struct CUgraph_st *one = graphs; one; one = one->next)
        for (size_t i = 0; i < one->nodes.count; i++)
            if (one->nodes.node[i] == node)
                return cudaSuccess;
    return api_error(cudaErrorInvalidValue, "the node does not exist, or its graph was destroyed");
}

cudaError_t graph_add(cudaGraphNode_t *node, cudaGraph_t graph, const struct node_set *after, struct work *work) {
    cudaGraphNode_t made = work ? calloc(1, sizeof *made) : NULL;
    if (!made || !node_set_add_all(&made->after, after) || !node_set_add(&graph->nodes, made)) {
        if (made)
            node_set_empty(&made->after);
        free(made);
        work_drop(work);
        return api_error(cudaErrorMemoryAllocation, "the host has no memory left");
    }
    made->work = work;
    made->graph = graph;
    if (node)
        *node = made;
    return cudaSuccess;
}

static cudaError_t create(cudaGraph_t *graph, unsigned flags) {
    if (!graph || flags != 0)
        return api_error(cudaErrorInvalidValue, "the pointer to the result is NULL or flags is not 0");
    *graph = graph_new();
    return *graph ? cudaSuccess : api_error(cudaErrorMemoryAllocation, "the host has no memory left");
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

// Adds what a program describes: its dependencies have to be nodes of the same graph.
cudaError_t graph_add_after(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                            struct work *work) {
    struct node_set set = {(cudaGraphNode_t *)after, count, count};
    cudaError_t error = !node || (count > 0 && !after) ? api_error(cudaErrorInvalidValue, "a pointer to nodes is NULL")
                                                       : graph_check(graph);
    for (size_t i = 0; i < count && error == cudaSuccess; i++) {
        error = graph_check_node(after[i]);
        if (error == cudaSuccess && after[i]->graph != graph)
            error = api_error(cudaErrorInvalidValue, "a dependency is a node of another graph");
    }
    if (error == cudaSuccess)
        return graph_add(node, graph, &set, work);
    work_drop(work);
    return error;
}

static cudaError_t add_kernel(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                              const struct cudaKernelNodeParams *params) {
    struct work *work = NULL;
    cudaError_t error = kernel_work(params, &work);
    return error == cudaSuccess ? graph_add_after(node, graph, after, count, work) : error;
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                   const struct cudaKernelNodeParams *params) {
    return DEVICE_CALL(add_kernel(node, graph, after, count, params));
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                     size_t count, void *to, const void *from, size_t size, enum cudaMemcpyKind kind) {
    return DEVICE_CALL(graph_add_after(node, graph, after, count, copy_work(to, size, from, size, size, 1, kind)));
}

static cudaError_t add_copy(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                            const struct cudaMemcpy3DParms *params) {
    return params ? graph_add_after(node, graph, after, count, copy_3d_work(params))
                  : api_error(cudaErrorInvalidValue, "the parameters are NULL");
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                   const struct cudaMemcpy3DParms *params) {
    return DEVICE_CALL(add_copy(node, graph, after, count, params));
}

cudaError_t memset_work(const struct cudaMemsetParams *p, struct work **work) {
    if (!p || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4))
        return api_error(cudaErrorInvalidValue, "the parameters are NULL, or an element has not 1, 2 or 4 bytes");
    size_t pitch = p->height > 1 ? p->pitch : p->width * p->elementSize;
    *work = set_work(p->dst, pitch, (int)p->value, p->elementSize, p->width, p->height);
    return cudaSuccess;
}

static cudaError_t add_memset(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                              const struct cudaMemsetParams *params) {
    struct work *work = NULL;
    cudaError_t error = memset_work(params, &work);
    return error == cudaSuccess ? graph_add_after(node, graph, after, count, work) : error;
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                   const struct cudaMemsetParams *params) {
    return DEVICE_CALL(add_memset(node, graph, after, count, params));
}

cudaError_t host_work(const struct cudaHostNodeParams *params, struct work **work) {
    if (!params || !params->fn)
        return api_error(cudaErrorInvalidValue, "the parameters or the function are NULL");
    *work = work_new(sizeof **work, cudaGraphNodeTypeHost, NULL);
    if (*work) {
        (*work)->function = params->fn;
        (*work)->argument = params->userData;
    }
    return cudaSuccess;
}

static cudaError_t add_host(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                            const struct cudaHostNodeParams *params) {
    struct work *work = NULL;
    cudaError_t error = host_work(params, &work);
    return error == cudaSuccess ? graph_add_after(node, graph, after, count, work) : error;
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                 const struct cudaHostNodeParams *params) {
    return DEVICE_CALL(add_host(node, graph, after, count, params));
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                  size_t count) {
    return DEVICE_CALL(
        graph_add_after(node, graph, after, count, work_new(sizeof(struct work), cudaGraphNodeTypeEmpty, NULL)));
}

// A node of the copy for each of the original, which stand at the same places.
static cudaGraph_t copy_of(cudaGraph_t graph) {
    cudaGraph_t copy = graph_new();
    bool whole = copy;
    for (size_t i = 0; i < graph->nodes.count && whole; i++) {
        const struct CUgraphNode_st *from = graph->nodes.node[i];
        cudaGraphNode_t made;
        whole = graph_add(&made, copy, &(struct node_set){0}, work_share(from->work)) == cudaSuccess &&
                (!from->child || (made->child = copy_of(from->child)));
    }
    for (size_t i = 0; i < graph->nodes.count && whole; i++) {
        const struct node_set *after = &graph->nodes.node[i]->after;
        for (size_t k = 0; k < after->count; k++)
            for (size_t j = 0; j < graph->nodes.count && whole; j++)
                if (graph->nodes.node[j] == after->node[k])
                    whole = node_set_add(&copy->nodes.node[i]->after, copy->nodes.node[j]);
    }
    if (copy && !whole)
        graph_free(copy);
    return whole ? copy : NULL;
}

static cudaError_t clone(cudaGraph_t *copy, cudaGraph_t graph) {
    cudaError_t error = copy ? graph_check(graph) : api_error(cudaErrorInvalidValue, "the result is NULL");
    for (size_t i = 0; error == cudaSuccess && i < graph->nodes.count; i++)
        if (graph->nodes.node[i]->condition)
            error = api_error(cudaErrorNotSupported, "a graph with a conditional node cannot be a copy or a child");
    if (error == cudaSuccess && !(*copy = copy_of(graph)))
        error = api_error(cudaErrorMemoryAllocation, "the host has no memory left");
    return error;
}

cudaError_t cudaGraphClone(cudaGraph_t *copy, cudaGraph_t graph) {
    return DEVICE_CALL(clone(copy, graph));
}

static cudaError_t add_child(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                             cudaGraph_t child) {
    cudaGraph_t copy = NULL;
    cudaError_t error =
        child == graph ? api_error(cudaErrorInvalidValue, "a graph cannot be a part of itself") : clone(&copy, child);
    if (error == cudaSuccess)
        error = graph_add_after(node, graph, after, count, work_new(sizeof(struct work), cudaGraphNodeTypeGraph, NULL));
    if (error == cudaSuccess)
        (*node)->child = copy;
    else if (copy)
        graph_free(copy);
    return error;
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                       size_t count, cudaGraph_t child) {
    return DEVICE_CALL(add_child(node, graph, after, count, child));
}

static cudaError_t depend(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t count) {
    cudaError_t error = graph_check(graph);
    for (size_t i = 0; i < count && error == cudaSuccess; i++) {
        error = graph_check_node(from[i]);
        if (error == cudaSuccess)
            error = graph_check_node(to[i]);
        if (error == cudaSuccess && (from[i]->graph != graph || to[i]->graph != graph || from[i] == to[i]))
            error = api_error(cudaErrorInvalidValue, "a node of another graph, or one that is to follow itself");
        if (error == cudaSuccess && !node_set_add(&to[i]->after, from[i]))
            error = api_error(cudaErrorMemoryAllocation, "the host has no memory left");
    }
    return error;
}

#if CUDART_VERSION >= 13000
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                     const cudaGraphEdgeData *edges, size_t count) {
    (void)edges; // how early the second may begin: here it begins when the first is done
    return DEVICE_CALL(depend(graph, from, to, count));
}
#else
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                     size_t count) {
    return DEVICE_CALL(depend(graph, from, to, count));
}
#endif

// As CUDA lists them: as many as there is room for, and how many there are.
static cudaError_t list(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count, bool roots) {
    cudaError_t error = count ? graph_check(graph) : api_error(cudaErrorInvalidValue, "the count is NULL");
    if (error != cudaSuccess)
        return error;
    size_t found = 0;
    for (size_t i = 0; i < graph->nodes.count; i++) {
        if (roots && graph->nodes.node[i]->after.count > 0)
            continue;
        if (nodes && found < *count)
            nodes[found] = graph->nodes.node[i];
        found++;
    }
    for (size_t i = found; nodes && i < *count; i++)
        nodes[i] = NULL;
    *count = nodes && found > *count ? *count : found;
    return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) {
    return DEVICE_CALL(list(graph, nodes, count, false));
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) {
    return DEVICE_CALL(list(graph, nodes, count, true));
}

static cudaError_t type_of(cudaGraphNode_t node, enum cudaGraphNodeType *type) {
    cudaError_t error =
        type ? graph_check_node(node) : api_error(cudaErrorInvalidValue, "the pointer to the type is NULL");
    if (error == cudaSuccess)
        *type = node->work->type;
    return error;
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type) {
    return DEVICE_CALL(type_of(node, type));
}

static cudaError_t get_kernel(cudaGraphNode_t node, struct cudaKernelNodeParams *params) {
    cudaError_t error = params ? graph_check_node(node) : api_error(cudaErrorInvalidValue, "the result is NULL");
    return error == cudaSuccess ? kernel_params(node->work, params) : error;
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *params) {
    return DEVICE_CALL(get_kernel(node, params));
}

cudaError_t graph_set_work(cudaGraphNode_t node, enum cudaGraphNodeType type, struct work *work) {
    cudaError_t error =
        work ? graph_check_node(node) : api_error(cudaErrorMemoryAllocation, "the host has no memory left");
    if (error == cudaSuccess && node->work->type != type)
        error = api_error(cudaErrorInvalidValue, "the node is of another kind");
    if (error != cudaSuccess) {
        work_drop(work);
        return error;
    }
    work_drop(node->work);
    node->work = work;
    return cudaSuccess;
}

static cudaError_t set_kernel(cudaGraphNode_t node, const struct cudaKernelNodeParams *params) {
    struct work *work = NULL;
    cudaError_t error = kernel_work(params, &work);
    return error == cudaSuccess ? graph_set_work(node, cudaGraphNodeTypeKernel, work) : error;
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams *params) {
    return DEVICE_CALL(set_kernel(node, params));
}
