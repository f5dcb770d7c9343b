// Event record and event wait nodes.
#include "graph.h"
#include "stream.h"

struct event_operation {
    struct operation operation;
    cudaEvent_t event;
};

static cudaError_t run_event(const struct operation *operation, cudaStream_t stream) {
    cudaEvent_t event = ((const struct event_operation *)operation)->event;
    return operation->type == cudaGraphNodeTypeEventRecord ? event_record(event, stream) : event_wait(stream, event);
}

static struct operation *new_event_operation(cudaEvent_t event, enum cudaGraphNodeType type) {
    struct event_operation *created = operation_new(sizeof *created, type, run_event);
    if (!created)
        return NULL;
    created->event = event;
    return &created->operation;
}

cudaError_t capture_event_node(cudaStream_t stream, cudaEvent_t event, enum cudaGraphNodeType type) {
    cudaError_t error = event_check(event);
    return error == cudaSuccess ? capture_add(stream, new_event_operation(event, type)) : error;
}

static cudaError_t add_event_node(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                  size_t count, cudaEvent_t event, enum cudaGraphNodeType type) {
    cudaError_t error = event_check(event);
    return error == cudaSuccess
               ? graph_add_checked_node(node, graph, dependencies, count, new_event_operation(event, type))
               : error;
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                        size_t count, cudaEvent_t event) {
    return DEVICE_CALL(add_event_node(node, graph, dependencies, count, event, cudaGraphNodeTypeEventRecord));
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                      size_t count, cudaEvent_t event) {
    return DEVICE_CALL(add_event_node(node, graph, dependencies, count, event, cudaGraphNodeTypeWaitEvent));
}

static cudaError_t get_event(cudaGraphNode_t node, cudaEvent_t *event, enum cudaGraphNodeType type) {
    cudaError_t error =
        event ? graph_check_node(node) : api_error(cudaErrorInvalidValue, "the pointer to the result is NULL");
    if (error == cudaSuccess && node->operation->type != type)
        error = api_error(cudaErrorInvalidValue, "the node has another type");
    if (error == cudaSuccess)
        *event = ((const struct event_operation *)node->operation)->event;
    return error;
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event) {
    return DEVICE_CALL(get_event(node, event, cudaGraphNodeTypeEventRecord));
}

cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event) {
    return DEVICE_CALL(get_event(node, event, cudaGraphNodeTypeWaitEvent));
}

static cudaError_t set_event(cudaGraphNode_t node, cudaEvent_t event, enum cudaGraphNodeType type) {
    cudaError_t error = event_check(event);
    return error == cudaSuccess ? graph_node_set_operation(node, type, new_event_operation(event, type)) : error;
}

cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
    return DEVICE_CALL(set_event(node, event, cudaGraphNodeTypeEventRecord));
}

cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
    return DEVICE_CALL(set_event(node, event, cudaGraphNodeTypeWaitEvent));
}

static cudaError_t set_event_of_exec(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event,
                                     enum cudaGraphNodeType type) {
    cudaError_t error = event_check(event);
    return error == cudaSuccess ? graph_exec_set_operation(exec, node, type, new_event_operation(event, type)) : error;
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event) {
    return DEVICE_CALL(set_event_of_exec(exec, node, event, cudaGraphNodeTypeEventRecord));
}

cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event) {
    return DEVICE_CALL(set_event_of_exec(exec, node, event, cudaGraphNodeTypeWaitEvent));
}
