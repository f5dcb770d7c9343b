// Other parameters for the copies, memsets and host functions of graphs, before and after they were instantiated; and
// copies to and from device variables as nodes.
#include "copy.h"
#include "graph.h"

static cudaError_t no_parameters(void) {
    return api_error(cudaErrorInvalidValue, "the parameters are NULL");
}

static cudaError_t no_exec(void) {
    return api_error(cudaErrorInvalidValue, "the graph was not instantiated, or it was destroyed");
}

static cudaError_t set_copy(cudaGraphNode_t node, struct work *work) {
    return graph_set_work(node, cudaGraphNodeTypeMemcpy, work);
}

static cudaError_t set_copy_of(cudaGraphExec_t exec, cudaGraphNode_t node, struct work *work) {
    return graph_exec_set_work(exec, node, cudaGraphNodeTypeMemcpy, work);
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const struct cudaMemcpy3DParms *params) {
    return DEVICE_CALL(params ? set_copy(node, copy_3d_work(params)) : no_parameters());
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaMemcpy3DParms *params) {
    return DEVICE_CALL(params ? set_copy_of(exec, node, copy_3d_work(params)) : no_parameters());
}

static struct work *copy_row(void *to, const void *from, size_t size, enum cudaMemcpyKind kind) {
    return copy_work(to, size, from, size, size, 1, kind);
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from, size_t size,
                                           enum cudaMemcpyKind kind) {
    return DEVICE_CALL(set_copy(node, copy_row(to, from, size, kind)));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void *to, const void *from,
                                               size_t size, enum cudaMemcpyKind kind) {
    return DEVICE_CALL(set_copy_of(exec, node, copy_row(to, from, size, kind)));
}

// ---- Device variables ----------------------------------------------------------------------------------------------

static cudaError_t to_symbol(const void *symbol, const void *from, size_t size, size_t offset, enum cudaMemcpyKind kind,
                             struct work **work) {
    void *device = NULL;
    cudaError_t error = symbol_range(symbol, offset, size, &device);
    if (error == cudaSuccess)
        *work = copy_row(device, from, size, kind);
    return error;
}

static cudaError_t from_symbol(void *to, const void *symbol, size_t size, size_t offset, enum cudaMemcpyKind kind,
                               struct work **work) {
    void *device = NULL;
    cudaError_t error = symbol_range(symbol, offset, size, &device);
    if (error == cudaSuccess)
        *work = copy_row(to, device, size, kind);
    return error;
}

static cudaError_t add_work(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                            cudaError_t error, struct work *const *work) {
    return error == cudaSuccess ? graph_add_after(node, graph, after, count, *work) : error;
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                           size_t count, const void *symbol, const void *from, size_t size,
                                           size_t offset, enum cudaMemcpyKind kind) {
    struct work *work = NULL;
    return DEVICE_CALL(add_work(node, graph, after, count, to_symbol(symbol, from, size, offset, kind, &work), &work));
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                             size_t count, void *to, const void *symbol, size_t size, size_t offset,
                                             enum cudaMemcpyKind kind) {
    struct work *work = NULL;
    return DEVICE_CALL(add_work(node, graph, after, count, from_symbol(to, symbol, size, offset, kind, &work), &work));
}

// exec NULL: of the node itself.
static cudaError_t set_work_of(cudaGraphExec_t exec, cudaGraphNode_t node, cudaError_t error,
                               struct work *const *work) {
    if (error != cudaSuccess)
        return error;
    return exec ? set_copy_of(exec, node, *work) : set_copy(node, *work);
}

cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol, const void *from,
                                                 size_t size, size_t offset, enum cudaMemcpyKind kind) {
    struct work *work = NULL;
    return DEVICE_CALL(set_work_of(NULL, node, to_symbol(symbol, from, size, offset, kind, &work), &work));
}

cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *to, const void *symbol, size_t size,
                                                   size_t offset, enum cudaMemcpyKind kind) {
    struct work *work = NULL;
    return DEVICE_CALL(set_work_of(NULL, node, from_symbol(to, symbol, size, offset, kind, &work), &work));
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, const void *symbol,
                                                     const void *from, size_t size, size_t offset,
                                                     enum cudaMemcpyKind kind) {
    struct work *work = NULL;
    return DEVICE_CALL(exec ? set_work_of(exec, node, to_symbol(symbol, from, size, offset, kind, &work), &work)
                            : no_exec());
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, void *to,
                                                       const void *symbol, size_t size, size_t offset,
                                                       enum cudaMemcpyKind kind) {
    struct work *work = NULL;
    return DEVICE_CALL(exec ? set_work_of(exec, node, from_symbol(to, symbol, size, offset, kind, &work), &work)
                            : no_exec());
}

// ---- Memsets and functions -----------------------------------------------------------------------------------------

static cudaError_t set_memset(cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaMemsetParams *params) {
    struct work *work = NULL;
    cudaError_t error = memset_work(params, &work);
    if (error != cudaSuccess)
        return error;
    return exec ? graph_exec_set_work(exec, node, cudaGraphNodeTypeMemset, work)
                : graph_set_work(node, cudaGraphNodeTypeMemset, work);
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const struct cudaMemsetParams *params) {
    return DEVICE_CALL(set_memset(NULL, node, params));
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaMemsetParams *params) {
    return DEVICE_CALL(exec ? set_memset(exec, node, params) : no_exec());
}

static cudaError_t set_host(cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaHostNodeParams *params) {
    struct work *work = NULL;
    cudaError_t error = host_work(params, &work);
    if (error != cudaSuccess)
        return error;
    return exec ? graph_exec_set_work(exec, node, cudaGraphNodeTypeHost, work)
                : graph_set_work(node, cudaGraphNodeTypeHost, work);
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const struct cudaHostNodeParams *params) {
    return DEVICE_CALL(set_host(NULL, node, params));
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const struct cudaHostNodeParams *params) {
    return DEVICE_CALL(exec ? set_host(exec, node, params) : no_exec());
}
