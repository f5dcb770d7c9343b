// The generic call that adds nodes of any type, and conditional nodes: if, while and switch. A condition is a number
// that kernels set (machine/condition.h).
#include "graph.h"

#include "../machine/condition.h"

#include <stdlib.h>
#include <string.h>

void condition_free(struct condition *condition) {
    for (unsigned i = 0; condition && i < condition->bodies; i++)
        if (condition->body[i])
            graph_free(condition->body[i]);
    if (condition)
        free(condition->body);
    free(condition);
}

static cudaError_t create_handle(cudaGraphConditionalHandle *handle, cudaGraph_t graph, unsigned value,
                                 unsigned flags) {
    cudaError_t error =
        handle ? graph_check(graph) : api_error(cudaErrorInvalidValue, "the pointer to the result is NULL");
    if (error == cudaSuccess && (flags & ~(unsigned)cudaGraphCondAssignDefault) != 0)
        error = api_error(cudaErrorInvalidValue, "the flags are unknown");
    struct condition_default *stored = error == cudaSuccess ? malloc(sizeof *stored) : NULL;
    if (error == cudaSuccess && (!stored || !(*handle = sim_condition_add(0)))) {
        free(stored);
        return api_error(cudaErrorMemoryAllocation, "out of host memory");
    }
    if (error == cudaSuccess) {
        *stored = (struct condition_default){*handle, value, flags == cudaGraphCondAssignDefault, graph->defaults};
        graph->defaults = stored;
    }
    return error;
}

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *handle, cudaGraph_t graph,
                                             unsigned int default_value, unsigned int flags) {
    return DEVICE_CALL(create_handle(handle, graph, default_value, flags));
}

static cudaError_t add_allocation(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                  size_t count, size_t size, void **pointer) {
    struct operation *operation = NULL;
    cudaError_t error = new_allocation_operation(pointer, size, &operation);
    return error == cudaSuccess ? graph_add_checked_node(node, graph, dependencies, count, operation) : error;
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                     size_t count, struct cudaMemAllocNodeParams *params) {
    return DEVICE_CALL(params ? add_allocation(node, graph, dependencies, count, params->bytesize, &params->dptr)
                              : api_error(cudaErrorInvalidValue, "the parameters are NULL"));
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                    size_t count, void *pointer) {
    return DEVICE_CALL(graph_add_checked_node(node, graph, dependencies, count, new_free_operation(pointer)));
}

#if CUDART_VERSION >= 13000
static struct condition *condition_new(const struct cudaConditionalNodeParams *params) {
    struct condition *created = calloc(1, sizeof *created);
    if (created && (created->body = calloc(params->size, sizeof(cudaGraph_t)))) {
        created->handle = params->handle;
        created->kind = params->type == cudaGraphCondTypeIf      ? CONDITION_IF
                        : params->type == cudaGraphCondTypeWhile ? CONDITION_WHILE
                                                                 : CONDITION_SWITCH;
        bool complete = true;
        for (; created->bodies < params->size && complete; created->bodies++)
            complete = (created->body[created->bodies] = graph_new());
        if (complete)
            return created;
    }
    condition_free(created);
    return NULL;
}

static cudaError_t add_condition(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                 size_t count, struct cudaConditionalNodeParams *params) {
    uint32_t value;
    unsigned max_bodies = params->type == cudaGraphCondTypeWhile ? 1 : params->type == cudaGraphCondTypeIf ? 2 : 1024;
    if ((unsigned)params->type > cudaGraphCondTypeSwitch || params->size == 0 || params->size > max_bodies)
        return api_error(cudaErrorInvalidValue, "a conditional node of type %d cannot have %u body graphs",
                         (int)params->type, params->size);
    if (!sim_condition_get(params->handle, &value))
        return api_error(cudaErrorInvalidValue, "invalid conditional handle");
    struct condition *condition = condition_new(params);
    cudaError_t error =
        condition ? graph_add_checked_node(node, graph, dependencies, count,
                                           operation_new(sizeof(struct operation), cudaGraphNodeTypeConditional, NULL))
                  : api_error(cudaErrorMemoryAllocation, "out of host memory");
    if (error != cudaSuccess) {
        condition_free(condition);
        return error;
    }
    (*node)->condition = condition;
    params->phGraph_out = condition->body;
    return cudaSuccess;
}

// These forward to the calls for a single type, whose older structures lack the context fields.
static cudaError_t add_kernel(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                              size_t count, const struct cudaKernelNodeParamsV2 *p) {
    struct cudaKernelNodeParams params = {.func = p->func,
                                          .gridDim = p->gridDim,
                                          .blockDim = p->blockDim,
                                          .sharedMemBytes = p->sharedMemBytes,
                                          .kernelParams = p->kernelParams,
                                          .extra = p->extra};
    return cudaGraphAddKernelNode(node, graph, dependencies, count, &params);
}

static cudaError_t add_memset(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                              size_t count, const struct cudaMemsetParamsV2 *p) {
    struct cudaMemsetParams params = {.dst = p->dst,
                                      .pitch = p->pitch,
                                      .value = p->value,
                                      .elementSize = p->elementSize,
                                      .width = p->width,
                                      .height = p->height};
    return cudaGraphAddMemsetNode(node, graph, dependencies, count, &params);
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                             const cudaGraphEdgeData *edges, size_t count, struct cudaGraphNodeParams *params) {
    (void)edges; // edge data for programmatic dependent launch: in the simulator a node starts after its predecessors
                 // have completed
    struct cudaHostNodeParams host;
    switch (params ? params->type : cudaGraphNodeTypeCount) {
    case cudaGraphNodeTypeKernel:
        return add_kernel(node, graph, dependencies, count, &params->kernel);
    case cudaGraphNodeTypeMemcpy:
        return cudaGraphAddMemcpyNode(node, graph, dependencies, count, &params->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
        return add_memset(node, graph, dependencies, count, &params->memset);
    case cudaGraphNodeTypeHost:
        host = (struct cudaHostNodeParams){params->host.fn, params->host.userData};
        return cudaGraphAddHostNode(node, graph, dependencies, count, &host);
    case cudaGraphNodeTypeGraph:
        return cudaGraphAddChildGraphNode(node, graph, dependencies, count, params->graph.graph);
    case cudaGraphNodeTypeEmpty:
        return cudaGraphAddEmptyNode(node, graph, dependencies, count);
    case cudaGraphNodeTypeMemAlloc:
        return DEVICE_CALL(
            add_allocation(node, graph, dependencies, count, params->alloc.bytesize, &params->alloc.dptr));
    case cudaGraphNodeTypeMemFree:
        return cudaGraphAddMemFreeNode(node, graph, dependencies, count, params->free.dptr);
    case cudaGraphNodeTypeEventRecord:
        return cudaGraphAddEventRecordNode(node, graph, dependencies, count, params->eventRecord.event);
    case cudaGraphNodeTypeWaitEvent:
        return cudaGraphAddEventWaitNode(node, graph, dependencies, count, params->eventWait.event);
    case cudaGraphNodeTypeConditional:
        return DEVICE_CALL(add_condition(node, graph, dependencies, count, &params->conditional));
    case cudaGraphNodeTypeCount:
        return DEVICE_CALL(api_error(cudaErrorInvalidValue, "the parameters are NULL"));
    default:
        return DEVICE_CALL(
            api_error(cudaErrorNotSupported, "graph nodes of type %d are not supported", (int)params->type));
    }
}
#endif
