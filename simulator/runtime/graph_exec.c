// Graphs that are launched: an order of their nodes that keeps to the dependencies, and the work of each as it was when
// the graph was instantiated. The work is done when the launch returns, as all work is here.
#include "graph.h"
#include "stream.h"

#include <stdlib.h>

struct exec_step {
    struct work *work;
    cudaGraphNode_t node; // by which a program names it
};

struct CUgraphExec_st {
    struct exec_step *step; // [steps]
    size_t steps, room;
    struct CUgraphExec_st *next;
};

static struct CUgraphExec_st *execs;

static cudaError_t check(cudaGraphExec_t exec) {
    for (const struct CUgraphExec_st *one = execs; one; one = one->next)
        if (one == exec)
            return cudaSuccess;
    return api_error(cudaErrorInvalidValue, "the graph was not instantiated, or it was destroyed");
}

static void drop_steps(struct CUgraphExec_st *exec) {
    for (size_t i = 0; i < exec->steps; i++)
        work_drop(exec->step[i].work);
    free(exec->step);
}

static void free_exec(cudaGraphExec_t exec) {
    struct CUgraphExec_st **link = &execs;
    while (*link != exec)
        link = &(*link)->next;
    *link = exec->next;
    drop_steps(exec);
    free(exec);
}

void graph_exec_free_all(void) {
    while (execs)
        free_exec(execs);
}

static bool add_step(struct CUgraphExec_st *exec, cudaGraphNode_t node) {
    if (exec->steps == exec->room) {
        size_t room = exec->room ? 2 * exec->room : 16;
        struct exec_step *grown = realloc(exec->step, room * sizeof *grown);
        if (!grown)
            return false;
        exec->step = grown;
        exec->room = room;
    }
    exec->step[exec->steps++] = (struct exec_step){work_share(node->work), node};
    return true;
}

static bool is_among(const struct node_set *set, cudaGraphNode_t node) {
    for (size_t i = 0; i < set->count; i++)
        if (set->node[i] == node)
            return true;
    return false;
}

static bool is_ready(cudaGraphNode_t node, const struct node_set *done) {
    for (size_t i = 0; i < node->after.count; i++)
        if (!is_among(done, node->after.node[i]))
            return false;
    return true;
}

// Of those that may come next always the one that was added first.
static cudaError_t put_in_order(struct CUgraphExec_st *exec, cudaGraph_t graph) {
    struct node_set done = {0};
    cudaError_t error = cudaSuccess;
    while (done.count < graph->nodes.count && error == cudaSuccess) {
        cudaGraphNode_t next = NULL;
        for (size_t i = 0; i < graph->nodes.count && !next; i++)
            if (!is_among(&done, graph->nodes.node[i]) && is_ready(graph->nodes.node[i], &done))
                next = graph->nodes.node[i];
        if (!next)
            error = api_error(cudaErrorInvalidValue, "the nodes of the graph depend on each other in a circle");
        else if (next->child)
            error = put_in_order(exec, next->child);
        if (next && error == cudaSuccess && (!node_set_add(&done, next) || !add_step(exec, next)))
            error = api_error(cudaErrorMemoryAllocation, "the host has no memory left");
    }
    node_set_empty(&done);
    return error;
}

static cudaError_t instantiate(cudaGraphExec_t *exec, cudaGraph_t graph) {
    cudaError_t error = exec ? graph_check(graph) : api_error(cudaErrorInvalidValue, "the result is NULL");
    if (error != cudaSuccess)
        return error;
    struct CUgraphExec_st *made = calloc(1, sizeof *made);
    if (!made)
        return api_error(cudaErrorMemoryAllocation, "the host has no memory left");
    made->next = execs;
    execs = made;
    error = put_in_order(made, graph);
    if (error != cudaSuccess)
        free_exec(made);
    else
        *exec = made;
    return error;
}

// The flags say who frees memory, uploads or launches from the device; what is here needs none of it.
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags) {
    (void)flags;
    return DEVICE_CALL(instantiate(exec, graph));
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags) {
    (void)flags;
    return DEVICE_CALL(instantiate(exec, graph));
}

static cudaError_t destroy(cudaGraphExec_t exec) {
    cudaError_t error = check(exec);
    if (error == cudaSuccess)
        free_exec(exec);
    return error;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
    return DEVICE_CALL(destroy(exec));
}

static cudaError_t prepare(cudaGraphExec_t exec, cudaStream_t stream, struct CUgraphExec_st *launched) {
    cudaError_t error = check(exec);
    if (error == cudaSuccess)
        error = stream_check(stream);
    if (error == cudaSuccess && capture_is_on(stream)) {
        // Into a graph that is being captured go its steps, one after the other.
        for (size_t i = 0; i < exec->steps && error == cudaSuccess; i++)
            error = capture_add(stream, work_share(exec->step[i].work));
    } else if (error == cudaSuccess && exec->steps > 0) {
        launched->step = calloc(exec->steps, sizeof *launched->step);
        if (!launched->step)
            return api_error(cudaErrorMemoryAllocation, "the host has no memory left");
        for (; launched->steps < exec->steps; launched->steps++)
            launched->step[launched->steps].work = work_share(exec->step[launched->steps].work);
    }
    return error;
}

static cudaError_t drop(struct CUgraphExec_st *launched) {
    drop_steps(launched);
    return cudaSuccess;
}

// Functions of the program are called without the lock, and may do as they like; so what is launched is a copy.
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
    struct CUgraphExec_st launched = {0};
    cudaError_t error = DEVICE_CALL(prepare(exec, stream, &launched));
    for (size_t i = 0; i < launched.steps && error == cudaSuccess; i++) {
        const struct work *work = launched.step[i].work;
        if (work->function)
            work->function(work->argument);
        else if (work->run)
            error = DEVICE_CALL(work->run(work, stream));
    }
    HOST_CALL(drop(&launched));
    return error;
}

static cudaError_t check_both(cudaGraphExec_t exec, cudaStream_t stream) {
    cudaError_t error = check(exec);
    return error == cudaSuccess ? stream_check(stream) : error;
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
    return DEVICE_CALL(check_both(exec, stream));
}

static cudaError_t set_kernel(cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaKernelNodeParams *params) {
    cudaError_t error = check(exec);
    for (size_t i = 0; error == cudaSuccess && i < exec->steps; i++) {
        struct exec_step *step = &exec->step[i];
        if (step->node != node || step->work->type != cudaGraphNodeTypeKernel)
            continue;
        struct work *work = NULL;
        error = kernel_work(params, &work);
        if (error == cudaSuccess) {
            work_drop(step->work);
            step->work = work;
        }
        return error;
    }
    return error != cudaSuccess ? error
                                : api_error(cudaErrorInvalidValue, "the node is no kernel of the graph that this was");
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaKernelNodeParams *params) {
    return DEVICE_CALL(set_kernel(exec, node, params));
}

// The work of another graph takes the place of what is there, where both have the same nodes in the same order.
static cudaError_t update(cudaGraphExec_t exec, cudaGraph_t graph, enum cudaGraphExecUpdateResult *result) {
    struct CUgraphExec_st other = {0};
    cudaError_t error = check(exec);
    if (error == cudaSuccess)
        error = graph_check(graph);
    if (error == cudaSuccess)
        error = put_in_order(&other, graph);
    bool alike = error == cudaSuccess && other.steps == exec->steps;
    *result = alike ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorTopologyChanged;
    for (size_t i = 0; alike && i < exec->steps; i++) {
        if (other.step[i].work->type != exec->step[i].work->type) {
            alike = false;
            *result = cudaGraphExecUpdateErrorNodeTypeChanged;
        }
    }
    for (size_t i = 0; alike && i < exec->steps; i++) {
        struct work *work = exec->step[i].work;
        exec->step[i].work = other.step[i].work;
        other.step[i].work = work;
    }
    drop_steps(&other);
    return error != cudaSuccess || alike
               ? error
               : api_error(cudaErrorGraphExecUpdateFailure, "the graph has other nodes than the one that this was");
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info) {
    enum cudaGraphExecUpdateResult result = cudaGraphExecUpdateError;
    cudaError_t error = DEVICE_CALL(update(exec, graph, &result));
    if (info)
        *info = (cudaGraphExecUpdateResultInfo){.result = result};
    return error;
}
