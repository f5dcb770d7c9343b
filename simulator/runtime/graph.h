// Graphs: work that is described now and done later, as often as a program launches it.
#ifndef SIMULATOR_RUNTIME_GRAPH_H
#define SIMULATOR_RUNTIME_GRAPH_H

#include "api.h"

// What a node does. Several graphs may share one, which nobody changes: it goes with the last of them. A file that has
// work of its own makes a structure that begins with this.
struct work {
    enum cudaGraphNodeType type;
    unsigned users;
    cudaError_t (*run)(const struct work *work, cudaStream_t stream); // under the lock; NULL: nothing is done
    void (*release)(struct work *work);                               // what it owns beside itself
    // Of a host node: called without the lock, so that it may use the runtime.
    cudaHostFn_t function;
    void *argument;
};

// A work of size bytes, zeroed but for these; NULL: the host has no memory left. It belongs to whom it is given to
// next.
void *work_new(size_t size, enum cudaGraphNodeType type, cudaError_t (*run)(const struct work *, cudaStream_t));
struct work *work_share(struct work *work);
void work_drop(struct work *work);

// A set of nodes.
struct node_set {
    cudaGraphNode_t *node; // [count]
    size_t count, room;
};
bool node_set_add(struct node_set *set, cudaGraphNode_t node); // false: the host has no memory left
bool node_set_add_all(struct node_set *set, const struct node_set *other);
void node_set_empty(struct node_set *set);

struct CUgraphNode_st {
    struct work *work;
    cudaGraph_t graph, child;    // child: of a child graph's node, its own copy of that graph
    struct node_set after;       // those that come before it
    struct condition *condition; // of a conditional node
};

// What a conditional node decides by, and among which graphs.
enum condition_kind { CONDITION_IF, CONDITION_WHILE, CONDITION_SWITCH };
struct condition {
    uint64_t handle;
    enum condition_kind kind;
    cudaGraph_t *body; // [bodies]
    unsigned bodies;
};
void condition_drop(struct condition *condition);

// The value that a condition has when the graph is launched, where it is assigned.
struct graph_default {
    uint64_t handle;
    unsigned value;
    bool assigned;
    struct graph_default *next;
};

struct CUgraph_st {
    struct node_set nodes; // in the order in which they were added
    struct graph_default *defaults;
    struct CUgraph_st *next;
};

cudaGraph_t graph_new(void);
void graph_free(cudaGraph_t graph);
void graph_free_node(cudaGraphNode_t node); // that no set holds any more
// cudaErrorInvalidValue where there is none.
cudaError_t graph_check(cudaGraph_t graph);
cudaError_t graph_check_node(cudaGraphNode_t node);

// Adds a node and takes work, also where it fails. work NULL: there was no memory for it.
cudaError_t graph_add(cudaGraphNode_t *node, cudaGraph_t graph, const struct node_set *after, struct work *work);
// The same for what a program describes, whose nodes are checked.
cudaError_t graph_add_after(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                            struct work *work);

// While a stream is captured, what is given to it goes to a graph. True: work was taken, and *error says how that went.
bool capture_is_on(cudaStream_t stream);
cudaError_t capture_add(cudaStream_t stream, struct work *work);

// A call that cannot be part of a graph and would wait, or disturb, while something is captured. what: "waits for the
// stream".
cudaError_t capture_forbids(cudaStream_t stream, const char *what);
// The same for one that concerns the whole device, and for the legacy default stream.
cudaError_t capture_forbids_all(const char *what);
cudaError_t capture_forbids_legacy(void);
void capture_forget(const void *stream_or_event); // it is destroyed
// Notes that the event stands for what the stream has so far; that the stream comes after the event. False: no capture
// has to do with it.
bool capture_record(cudaEvent_t event, cudaStream_t stream);
bool capture_wait(cudaStream_t stream, cudaEvent_t event);
bool capture_knows(cudaEvent_t event);
enum cudaStreamCaptureStatus capture_status_of(cudaStream_t stream);

// cudaDeviceReset: forgets all graphs and captures.
void graph_free_all(void);
void graph_exec_free_all(void);
void capture_end_all(void);

// A work that copies, sets, launches: made by copy.c, array.c and launch_later.c.
struct work *copy_work(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                       enum cudaMemcpyKind kind);
struct work *set_work(void *address, size_t pitch, int value, size_t element, size_t width, size_t height);
struct work *copy_3d_work(const struct cudaMemcpy3DParms *parameters);
cudaError_t kernel_work(const struct cudaKernelNodeParams *params, struct work **work);
// Memory that a graph allocates, at *pointer, and that it frees (graph_memory.c). free_again: where it is still there.
cudaError_t memory_work(void **pointer, size_t size, struct work **work);
struct work *memory_free_work(const void *pointer);
void memory_work_free_again(const struct work *work);
cudaError_t kernel_params(const struct work *work, struct cudaKernelNodeParams *params);
cudaError_t host_work(const struct cudaHostNodeParams *params, struct work **work);
cudaError_t memset_work(const struct cudaMemsetParams *params, struct work **work);

// Other work of the same kind for a node, and for what a graph was instantiated to. Both take work, also where they
// fail; NULL: there was no memory for it.
cudaError_t graph_set_work(cudaGraphNode_t node, enum cudaGraphNodeType type, struct work *work);
cudaError_t graph_exec_set_work(cudaGraphExec_t exec, cudaGraphNode_t node, enum cudaGraphNodeType type,
                                struct work *work);

#endif
