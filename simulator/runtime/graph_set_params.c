// New parameters for memcpy, memset and host nodes of graphs and executable graphs, and memcpy nodes from and to device
// variables.
#include "copy.h"
#include "graph.h"

static cudaError_t report_no_parameters(void) {
    return api_error(cudaErrorInvalidValue, "the parameters are NULL");
}

static cudaError_t report_no_exec(void) {
    return api_error(cudaErrorInvalidValue, "invalid executable graph: never instantiated, or already destroyed");
}

static cudaError_t set_memcpy(cudaGraphNode_t node, struct operation *operation) {
    return graph_node_set_operation(node, cudaGraphNodeTypeMemcpy, operation);
}

static cudaError_t exec_set_memcpy(cudaGraphExec_t exec, cudaGraphNode_t node, struct operation *operation) {
    return graph_exec_set_operation(exec, node, cudaGraphNodeTypeMemcpy, operation);
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const struct cudaMemcpy3DParms *params) {
    return DEVICE_CALL(params ? set_memcpy(node, new_memcpy_3d_operation(params)) : report_no_parameters());
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaMemcpy3DParms *params) {
    return DEVICE_CALL(params ? exec_set_memcpy(exec, node, new_memcpy_3d_operation(params)) : report_no_parameters());
}

static struct operation *copy_row(void *to, const void *from, size_t size, enum cudaMemcpyKind kind) {
    return new_memcpy_operation(to, size, from, size, size, 1, kind);
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from, size_t size,
                                           enum cudaMemcpyKind kind) {
    return DEVICE_CALL(set_memcpy(node, copy_row(to, from, size, kind)));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void *to, const void *from,
                                               size_t size, enum cudaMemcpyKind kind) {
    return DEVICE_CALL(exec_set_memcpy(exec, node, copy_row(to, from, size, kind)));
}

// ---- Device variables ----------------------------------------------------------------------------------------------

static cudaError_t new_copy_to_symbol(const void *symbol, const void *from, size_t size, size_t offset,
                                      enum cudaMemcpyKind kind, struct operation **operation) {
    void *device = NULL;
    cudaError_t error = symbol_range(symbol, offset, size, &device);
    if (error == cudaSuccess)
        *operation = copy_row(device, from, size, kind);
    return error;
}

static cudaError_t new_copy_from_symbol(void *to, const void *symbol, size_t size, size_t offset,
                                        enum cudaMemcpyKind kind, struct operation **operation) {
    void *device = NULL;
    cudaError_t error = symbol_range(symbol, offset, size, &device);
    if (error == cudaSuccess)
        *operation = copy_row(to, device, size, kind);
    return error;
}

static cudaError_t add_operation(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                 size_t count, cudaError_t error, struct operation *const *operation) {
    return error == cudaSuccess ? graph_add_checked_node(node, graph, dependencies, count, *operation) : error;
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                           const cudaGraphNode_t *dependencies, size_t count, const void *symbol,
                                           const void *from, size_t size, size_t offset, enum cudaMemcpyKind kind) {
    struct operation *operation = NULL;
    return DEVICE_CALL(add_operation(node, graph, dependencies, count,
                                     new_copy_to_symbol(symbol, from, size, offset, kind, &operation), &operation));
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                             const cudaGraphNode_t *dependencies, size_t count, void *to,
                                             const void *symbol, size_t size, size_t offset, enum cudaMemcpyKind kind) {
    struct operation *operation = NULL;
    return DEVICE_CALL(add_operation(node, graph, dependencies, count,
                                     new_copy_from_symbol(to, symbol, size, offset, kind, &operation), &operation));
}

// exec NULL: changes the node itself.
static cudaError_t set_operation(cudaGraphExec_t exec, cudaGraphNode_t node, cudaError_t error,
                                 struct operation *const *operation) {
    if (error != cudaSuccess)
        return error;
    return exec ? exec_set_memcpy(exec, node, *operation) : set_memcpy(node, *operation);
}

cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol, const void *from,
                                                 size_t size, size_t offset, enum cudaMemcpyKind kind) {
    struct operation *operation = NULL;
    return DEVICE_CALL(
        set_operation(NULL, node, new_copy_to_symbol(symbol, from, size, offset, kind, &operation), &operation));
}

cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *to, const void *symbol, size_t size,
                                                   size_t offset, enum cudaMemcpyKind kind) {
    struct operation *operation = NULL;
    return DEVICE_CALL(
        set_operation(NULL, node, new_copy_from_symbol(to, symbol, size, offset, kind, &operation), &operation));
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, const void *symbol,
                                                     const void *from, size_t size, size_t offset,
                                                     enum cudaMemcpyKind kind) {
    struct operation *operation = NULL;
    return DEVICE_CALL(
        exec ? set_operation(exec, node, new_copy_to_symbol(symbol, from, size, offset, kind, &operation), &operation)
             : report_no_exec());
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, void *to,
                                                       const void *symbol, size_t size, size_t offset,
                                                       enum cudaMemcpyKind kind) {
    struct operation *operation = NULL;
    return DEVICE_CALL(
        exec ? set_operation(exec, node, new_copy_from_symbol(to, symbol, size, offset, kind, &operation), &operation)
             : report_no_exec());
}

// ---- Memsets and functions -----------------------------------------------------------------------------------------

static cudaError_t set_memset(cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaMemsetParams *params) {
    struct operation *operation = NULL;
    cudaError_t error = new_memset_operation_of(params, &operation);
    if (error != cudaSuccess)
        return error;
    return exec ? graph_exec_set_operation(exec, node, cudaGraphNodeTypeMemset, operation)
                : graph_node_set_operation(node, cudaGraphNodeTypeMemset, operation);
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const struct cudaMemsetParams *params) {
    return DEVICE_CALL(set_memset(NULL, node, params));
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaMemsetParams *params) {
    return DEVICE_CALL(exec ? set_memset(exec, node, params) : report_no_exec());
}

static cudaError_t set_host(cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaHostNodeParams *params) {
    struct operation *operation = NULL;
    cudaError_t error = new_host_operation(params, &operation);
    if (error != cudaSuccess)
        return error;
    return exec ? graph_exec_set_operation(exec, node, cudaGraphNodeTypeHost, operation)
                : graph_node_set_operation(node, cudaGraphNodeTypeHost, operation);
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const struct cudaHostNodeParams *params) {
    return DEVICE_CALL(set_host(NULL, node, params));
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const struct cudaHostNodeParams *params) {
    return DEVICE_CALL(exec ? set_host(exec, node, params) : report_no_exec());
}
