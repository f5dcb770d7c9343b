// Nodes of graphs that record events and wait for them.
#include "graph.h"
#include "stream.h"

struct marking {
    struct work work;
    cudaEvent_t event;
};

static cudaError_t run(const struct work *work, cudaStream_t stream) {
    cudaEvent_t event = ((const struct marking *)work)->event;
    return work->type == cudaGraphNodeTypeEventRecord ? event_record(event, stream) : event_wait(stream, event);
}

static struct work *make(cudaEvent_t event, enum cudaGraphNodeType type) {
    struct marking *made = work_new(sizeof *made, type, run);
    if (!made)
        return NULL;
    made->event = event;
    return &made->work;
}

cudaError_t capture_event(cudaStream_t stream, cudaEvent_t event, enum cudaGraphNodeType type) {
    cudaError_t error = event_check(event);
    return error == cudaSuccess ? capture_add(stream, make(event, type)) : error;
}

static cudaError_t add(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                       cudaEvent_t event, enum cudaGraphNodeType type) {
    cudaError_t error = event_check(event);
    return error == cudaSuccess ? graph_add_after(node, graph, after, count, make(event, type)) : error;
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                        size_t count, cudaEvent_t event) {
    return DEVICE_CALL(add(node, graph, after, count, event, cudaGraphNodeTypeEventRecord));
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                      size_t count, cudaEvent_t event) {
    return DEVICE_CALL(add(node, graph, after, count, event, cudaGraphNodeTypeWaitEvent));
}

static cudaError_t get(cudaGraphNode_t node, cudaEvent_t *event, enum cudaGraphNodeType type) {
    cudaError_t error = event ? graph_check_node(node) : api_error(cudaErrorInvalidValue, "the result is NULL");
    if (error == cudaSuccess && node->work->type != type)
        error = api_error(cudaErrorInvalidValue, "the node is of another kind");
    if (error == cudaSuccess)
        *event = ((const struct marking *)node->work)->event;
    return error;
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event) {
    return DEVICE_CALL(get(node, event, cudaGraphNodeTypeEventRecord));
}

cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event) {
    return DEVICE_CALL(get(node, event, cudaGraphNodeTypeWaitEvent));
}

static cudaError_t set(cudaGraphNode_t node, cudaEvent_t event, enum cudaGraphNodeType type) {
    cudaError_t error = event_check(event);
    return error == cudaSuccess ? graph_set_work(node, type, make(event, type)) : error;
}

cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
    return DEVICE_CALL(set(node, event, cudaGraphNodeTypeEventRecord));
}

cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
    return DEVICE_CALL(set(node, event, cudaGraphNodeTypeWaitEvent));
}

static cudaError_t set_of_exec(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event,
                               enum cudaGraphNodeType type) {
    cudaError_t error = event_check(event);
    return error == cudaSuccess ? graph_exec_set_work(exec, node, type, make(event, type)) : error;
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event) {
    return DEVICE_CALL(set_of_exec(exec, node, event, cudaGraphNodeTypeEventRecord));
}

cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event) {
    return DEVICE_CALL(set_of_exec(exec, node, event, cudaGraphNodeTypeWaitEvent));
}
