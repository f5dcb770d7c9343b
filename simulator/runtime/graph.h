// CUDA graphs: operations that a program defines once and launches repeatedly.
#ifndef SIMULATOR_RUNTIME_GRAPH_H
#define SIMULATOR_RUNTIME_GRAPH_H

#include "api.h"

// The operation of a node. Several graphs may share one; it is immutable and reference-counted. A file with operations
// of its own derives a structure that begins with this one.
struct operation {
    enum cudaGraphNodeType type;
    unsigned references;
    cudaError_t (*run)(const struct operation *operation,
                       cudaStream_t stream);      // called with the lock held; NULL: no operation
    void (*release)(struct operation *operation); // frees what the operation owns
    // Of a host node: called without the lock, because it may call the runtime.
    cudaHostFn_t function;
    void *argument;
};

// Allocates an operation of size bytes, zeroed except for these fields; NULL: out of host memory. The caller passes its
// reference on.
void *operation_new(size_t size, enum cudaGraphNodeType type,
                    cudaError_t (*run)(const struct operation *, cudaStream_t));
struct operation *operation_retain(struct operation *operation);
void operation_release(struct operation *operation);

// A set of nodes.
struct node_set {
    cudaGraphNode_t *node; // [count]
    size_t count, capacity;
};
bool node_set_add(struct node_set *set, cudaGraphNode_t node); // false: out of host memory
bool node_set_add_all(struct node_set *set, const struct node_set *other);
void node_set_clear(struct node_set *set);

struct CUgraphNode_st {
    struct operation *operation;
    cudaGraph_t graph, child;     // child: of a child graph node, its own copy of the graph
    struct node_set dependencies; // predecessors
    struct condition *condition;  // of a conditional node
};

// The condition of a conditional node and its body graphs.
enum condition_kind { CONDITION_IF, CONDITION_WHILE, CONDITION_SWITCH };
struct condition {
    uint64_t handle;
    enum condition_kind kind;
    cudaGraph_t *body; // [bodies]
    unsigned bodies;
};
void condition_free(struct condition *condition);

// The default value of a condition at the launch of the graph, if assigned.
struct condition_default {
    uint64_t handle;
    unsigned value;
    bool assigned;
    struct condition_default *next;
};

struct CUgraph_st {
    struct node_set nodes; // in the order of their addition
    struct condition_default *defaults;
    struct CUgraph_st *next;
};

cudaGraph_t graph_new(void);
void graph_free(cudaGraph_t graph);
void graph_free_node(cudaGraphNode_t node); // which no set contains any more
// cudaErrorInvalidValue: invalid handle.
cudaError_t graph_check(cudaGraph_t graph);
cudaError_t graph_check_node(cudaGraphNode_t node);

// Adds a node and takes ownership of the operation, even on failure. operation NULL: its allocation failed.
cudaError_t graph_add_node(cudaGraphNode_t *node, cudaGraph_t graph, const struct node_set *dependencies,
                           struct operation *operation);
// The same for dependencies that a program passes: checks the nodes.
cudaError_t graph_add_checked_node(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                   size_t count, struct operation *operation);

// While a stream is being captured, operations in it become graph nodes. capture_add takes ownership of the operation,
// even on failure.
bool capture_is_active(cudaStream_t stream);
cudaError_t capture_add(cudaStream_t stream, struct operation *operation);

// A call that cannot be captured invalidates the capture of the stream and returns an error. reason: "it synchronizes
// with the stream".
cudaError_t capture_reject(cudaStream_t stream, const char *reason);
// The same for a call that affects the whole device, and for the legacy default stream.
cudaError_t capture_reject_all(const char *reason);
cudaError_t capture_reject_legacy(void);
void capture_remove(const void *stream_or_event); // when it is destroyed
// Record that the event captures the stream's current dependencies; that the stream depends on the event. False:
// neither takes part in a capture.
bool capture_record_event(cudaEvent_t event, cudaStream_t stream);
bool capture_wait_event(cudaStream_t stream, cudaEvent_t event);
bool capture_has_event(cudaEvent_t event);
enum cudaStreamCaptureStatus capture_status(cudaStream_t stream);

// cudaDeviceReset: frees all graphs and captures.
void graph_free_all(void);
void graph_exec_free_all(void);
void capture_end_all(void);

// Operations that copy, set and launch, of copy.c, array.c and launch_deferred.c.
struct operation *new_memcpy_operation(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                       size_t height, enum cudaMemcpyKind kind);
struct operation *new_memset_operation(void *address, size_t pitch, int value, size_t element, size_t width,
                                       size_t height);
struct operation *new_memcpy_3d_operation(const struct cudaMemcpy3DParms *parameters);
cudaError_t new_kernel_operation(const struct cudaKernelNodeParams *params, struct operation **operation);
// A graph's memory allocation, at *pointer, and its deallocation (graph_memory.c). free_live_allocation: frees the
// memory if it is still allocated.
cudaError_t new_allocation_operation(void **pointer, size_t size, struct operation **operation);
struct operation *new_free_operation(const void *pointer);
void free_live_allocation(const struct operation *operation);
cudaError_t kernel_params(const struct operation *operation, struct cudaKernelNodeParams *params);
cudaError_t new_host_operation(const struct cudaHostNodeParams *params, struct operation **operation);
cudaError_t new_memset_operation_of(const struct cudaMemsetParams *params, struct operation **operation);

// Replace the operation of a node, or of an executable graph, by one of the same type. Both take ownership of the
// operation, even on failure; NULL: its allocation failed.
cudaError_t graph_node_set_operation(cudaGraphNode_t node, enum cudaGraphNodeType type, struct operation *operation);
cudaError_t graph_exec_set_operation(cudaGraphExec_t exec, cudaGraphNode_t node, enum cudaGraphNodeType type,
                                     struct operation *operation);

#endif
