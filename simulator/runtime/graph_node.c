// Nodes of any kind by one call, and those that decide what comes next: if, while and switch. A condition is a number
// that kernels set (machine/condition.h).
#include "graph.h"

#include "../machine/condition.h"

#include <stdlib.h>
#include <string.h>

void condition_drop(struct condition *condition) {
    for (unsigned i = 0; condition && i < condition->bodies; i++)
        if (condition->body[i])
            graph_free(condition->body[i]);
    if (condition)
        free(condition->body);
    free(condition);
}

static cudaError_t create_handle(cudaGraphConditionalHandle *handle, cudaGraph_t graph, unsigned value,
                                 unsigned flags) {
    cudaError_t error = handle ? graph_check(graph) : api_error(cudaErrorInvalidValue, "the result is NULL");
    if (error == cudaSuccess && (flags & ~(unsigned)cudaGraphCondAssignDefault) != 0)
        error = api_error(cudaErrorInvalidValue, "the flags are unknown");
    struct graph_default *kept = error == cudaSuccess ? malloc(sizeof *kept) : NULL;
    if (error == cudaSuccess && (!kept || !(*handle = sim_condition_add(0)))) {
        free(kept);
        return api_error(cudaErrorMemoryAllocation, "the host has no memory left");
    }
    if (error == cudaSuccess) {
        *kept = (struct graph_default){*handle, value, flags == cudaGraphCondAssignDefault, graph->defaults};
        graph->defaults = kept;
    }
    return error;
}

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *handle, cudaGraph_t graph,
                                             unsigned int default_value, unsigned int flags) {
    return DEVICE_CALL(create_handle(handle, graph, default_value, flags));
}

static cudaError_t add_allocation(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                  size_t size, void **pointer) {
    struct work *work = NULL;
    cudaError_t error = memory_work(pointer, size, &work);
    return error == cudaSuccess ? graph_add_after(node, graph, after, count, work) : error;
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                     size_t count, struct cudaMemAllocNodeParams *params) {
    return DEVICE_CALL(params ? add_allocation(node, graph, after, count, params->bytesize, &params->dptr)
                              : api_error(cudaErrorInvalidValue, "the parameters are NULL"));
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                    size_t count, void *pointer) {
    return DEVICE_CALL(graph_add_after(node, graph, after, count, memory_free_work(pointer)));
}

#if CUDART_VERSION >= 13000
static struct condition *condition_new(const struct cudaConditionalNodeParams *params) {
    struct condition *made = calloc(1, sizeof *made);
    if (made && (made->body = calloc(params->size, sizeof(cudaGraph_t)))) {
        made->handle = params->handle;
        made->kind = params->type == cudaGraphCondTypeIf      ? CONDITION_IF
                     : params->type == cudaGraphCondTypeWhile ? CONDITION_WHILE
                                                              : CONDITION_SWITCH;
        bool whole = true;
        for (; made->bodies < params->size && whole; made->bodies++)
            whole = (made->body[made->bodies] = graph_new());
        if (whole)
            return made;
    }
    condition_drop(made);
    return NULL;
}

static cudaError_t add_condition(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                 struct cudaConditionalNodeParams *params) {
    uint32_t value;
    unsigned most = params->type == cudaGraphCondTypeWhile ? 1 : params->type == cudaGraphCondTypeIf ? 2 : 1024;
    if ((unsigned)params->type > cudaGraphCondTypeSwitch || params->size == 0 || params->size > most)
        return api_error(cudaErrorInvalidValue, "a condition of kind %d with %u bodies", (int)params->type,
                         params->size);
    if (!sim_condition_get(params->handle, &value))
        return api_error(cudaErrorInvalidValue, "the handle is no condition of a graph");
    struct condition *condition = condition_new(params);
    cudaError_t error = condition ? graph_add_after(node, graph, after, count,
                                                    work_new(sizeof(struct work), cudaGraphNodeTypeConditional, NULL))
                                  : api_error(cudaErrorMemoryAllocation, "the host has no memory left");
    if (error != cudaSuccess) {
        condition_drop(condition);
        return error;
    }
    (*node)->condition = condition;
    params->phGraph_out = condition->body;
    return cudaSuccess;
}

// By the calls for a single kind, which take the older structures, less the fields that say which context.
static cudaError_t add_kernel(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                              const struct cudaKernelNodeParamsV2 *p) {
    struct cudaKernelNodeParams params = {.func = p->func,
                                          .gridDim = p->gridDim,
                                          .blockDim = p->blockDim,
                                          .sharedMemBytes = p->sharedMemBytes,
                                          .kernelParams = p->kernelParams,
                                          .extra = p->extra};
    return cudaGraphAddKernelNode(node, graph, after, count, &params);
}

static cudaError_t add_memset(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                              const struct cudaMemsetParamsV2 *p) {
    struct cudaMemsetParams params = {.dst = p->dst,
                                      .pitch = p->pitch,
                                      .value = p->value,
                                      .elementSize = p->elementSize,
                                      .width = p->width,
                                      .height = p->height};
    return cudaGraphAddMemsetNode(node, graph, after, count, &params);
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                             const cudaGraphEdgeData *edges, size_t count, struct cudaGraphNodeParams *params) {
    (void)edges; // how early it may begin: here it begins when those before it are done
    struct cudaHostNodeParams host;
    switch (params ? params->type : cudaGraphNodeTypeCount) {
    case cudaGraphNodeTypeKernel:
        return add_kernel(node, graph, after, count, &params->kernel);
    case cudaGraphNodeTypeMemcpy:
        return cudaGraphAddMemcpyNode(node, graph, after, count, &params->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
        return add_memset(node, graph, after, count, &params->memset);
    case cudaGraphNodeTypeHost:
        host = (struct cudaHostNodeParams){params->host.fn, params->host.userData};
        return cudaGraphAddHostNode(node, graph, after, count, &host);
    case cudaGraphNodeTypeGraph:
        return cudaGraphAddChildGraphNode(node, graph, after, count, params->graph.graph);
    case cudaGraphNodeTypeEmpty:
        return cudaGraphAddEmptyNode(node, graph, after, count);
    case cudaGraphNodeTypeMemAlloc:
        return DEVICE_CALL(add_allocation(node, graph, after, count, params->alloc.bytesize, &params->alloc.dptr));
    case cudaGraphNodeTypeMemFree:
        return cudaGraphAddMemFreeNode(node, graph, after, count, params->free.dptr);
    case cudaGraphNodeTypeEventRecord:
        return cudaGraphAddEventRecordNode(node, graph, after, count, params->eventRecord.event);
    case cudaGraphNodeTypeWaitEvent:
        return cudaGraphAddEventWaitNode(node, graph, after, count, params->eventWait.event);
    case cudaGraphNodeTypeConditional:
        return DEVICE_CALL(add_condition(node, graph, after, count, &params->conditional));
    case cudaGraphNodeTypeCount:
        return DEVICE_CALL(api_error(cudaErrorInvalidValue, "the parameters are NULL"));
    default:
        return DEVICE_CALL(
            api_error(cudaErrorNotSupported, "the simulator has no nodes of kind %d", (int)params->type));
    }
}
#endif
