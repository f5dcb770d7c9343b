// Graphs that are launched: an order of their nodes that keeps to the dependencies, and the work of each as it was when
// the graph was instantiated. The work is done when the launch returns, as all work is here.
#include "graph.h"
#include "stream.h"

#include "../machine/condition.h"

#include <stdlib.h>

struct exec_step {
    struct work *work;
    cudaGraphNode_t node; // by which a program names it
    // Of a conditional node: its graphs.
    struct CUgraphExec_st *body; // [bodies]
    unsigned bodies;
    uint64_t handle;
    enum condition_kind kind;
    bool disabled; // it is passed over
};

struct CUgraphExec_st {
    struct exec_step *step; // [steps]
    size_t steps, room;
    struct graph_default *defaults; // [default_count]
    size_t default_count;
    bool frees; // what is still there of its memory when it is launched
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
    for (size_t i = 0; i < exec->steps; i++) {
        work_drop(exec->step[i].work);
        for (unsigned k = 0; k < exec->step[i].bodies; k++)
            drop_steps(&exec->step[i].body[k]);
        free(exec->step[i].body);
    }
    free(exec->step);
    free(exec->defaults);
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

// A further step, with nothing in it; NULL: the host has no memory left.
static struct exec_step *add_step(struct CUgraphExec_st *exec) {
    if (exec->steps == exec->room) {
        size_t room = exec->room ? 2 * exec->room : 16;
        struct exec_step *grown = realloc(exec->step, room * sizeof *grown);
        if (!grown)
            return NULL;
        exec->step = grown;
        exec->room = room;
    }
    exec->step[exec->steps] = (struct exec_step){0};
    return &exec->step[exec->steps++];
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

static cudaError_t put_in_order(struct CUgraphExec_st *exec, cudaGraph_t graph);

static cudaError_t no_memory(void) {
    return api_error(cudaErrorMemoryAllocation, "the host has no memory left");
}

static cudaError_t add_node(struct CUgraphExec_st *exec, cudaGraphNode_t node) {
    struct exec_step *step = add_step(exec);
    const struct condition *condition = node->condition;
    cudaError_t error = cudaSuccess;
    if (!step)
        return no_memory();
    step->work = work_share(node->work);
    step->node = node;
    if (!condition)
        return cudaSuccess;
    step->handle = condition->handle;
    step->kind = condition->kind;
    if (!(step->body = calloc(condition->bodies, sizeof *step->body)))
        return no_memory();
    for (; step->bodies < condition->bodies && error == cudaSuccess; step->bodies++)
        error = put_in_order(&step->body[step->bodies], condition->body[step->bodies]);
    return error;
}

static cudaError_t take_defaults(struct CUgraphExec_st *exec, cudaGraph_t graph) {
    for (const struct graph_default *one = graph->defaults; one; one = one->next) {
        if (!one->assigned)
            continue;
        struct graph_default *grown = realloc(exec->defaults, (exec->default_count + 1) * sizeof *grown);
        if (!grown)
            return no_memory();
        exec->defaults = grown;
        exec->defaults[exec->default_count++] = *one;
    }
    return cudaSuccess;
}

// Of those that may come next always the one that was added first.
static cudaError_t put_in_order(struct CUgraphExec_st *exec, cudaGraph_t graph) {
    struct node_set done = {0};
    cudaError_t error = take_defaults(exec, graph);
    while (done.count < graph->nodes.count && error == cudaSuccess) {
        cudaGraphNode_t next = NULL;
        for (size_t i = 0; i < graph->nodes.count && !next; i++)
            if (!is_among(&done, graph->nodes.node[i]) && is_ready(graph->nodes.node[i], &done))
                next = graph->nodes.node[i];
        if (!next)
            error = api_error(cudaErrorInvalidValue, "the nodes of the graph depend on each other in a circle");
        else if (next->child)
            error = put_in_order(exec, next->child);
        if (next && error == cudaSuccess)
            error = node_set_add(&done, next) ? add_node(exec, next) : no_memory();
    }
    node_set_empty(&done);
    return error;
}

static cudaError_t instantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags) {
    cudaError_t error = exec ? graph_check(graph) : api_error(cudaErrorInvalidValue, "the result is NULL");
    if (error != cudaSuccess)
        return error;
    struct CUgraphExec_st *made = calloc(1, sizeof *made);
    if (!made)
        return no_memory();
    made->frees = flags & cudaGraphInstantiateFlagAutoFreeOnLaunch;
    made->next = execs;
    execs = made;
    error = put_in_order(made, graph);
    if (error != cudaSuccess)
        free_exec(made);
    else
        *exec = made;
    return error;
}

// The other flags say who uploads, or launches from the device; what is here needs none of it.
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags) {
    return DEVICE_CALL(instantiate(exec, graph, flags));
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags) {
    return DEVICE_CALL(instantiate(exec, graph, flags));
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

static cudaError_t copy_steps(struct CUgraphExec_st *to, const struct CUgraphExec_st *from) {
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < from->steps && error == cudaSuccess; i++) {
        struct exec_step *step = add_step(to);
        const struct exec_step *other = &from->step[i];
        if (!step)
            return no_memory();
        *step = *other;
        step->work = work_share(other->work);
        step->bodies = 0;
        step->body = other->bodies ? calloc(other->bodies, sizeof *step->body) : NULL;
        if (other->bodies && !step->body)
            return no_memory();
        for (; step->bodies < other->bodies && error == cudaSuccess; step->bodies++)
            error = copy_steps(&step->body[step->bodies], &other->body[step->bodies]);
    }
    return error;
}

// What stands at a launch, of it and of the graphs in it.
static void begin(const struct CUgraphExec_st *exec, bool frees) {
    for (size_t i = 0; i < exec->default_count; i++)
        sim_condition_set(exec->defaults[i].handle, exec->defaults[i].value);
    for (size_t i = 0; i < exec->steps; i++) {
        if (frees)
            memory_work_free_again(exec->step[i].work);
        for (unsigned k = 0; k < exec->step[i].bodies; k++)
            begin(&exec->step[i].body[k], frees);
    }
}

// Into a graph that is being captured go its steps, one after the other.
static cudaError_t capture_steps(cudaGraphExec_t exec, cudaStream_t stream) {
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < exec->steps && error == cudaSuccess; i++)
        error = exec->step[i].bodies
                    ? api_error(cudaErrorNotSupported, "the simulator captures no graph with a conditional node")
                    : capture_add(stream, work_share(exec->step[i].work));
    return error;
}

static cudaError_t prepare(cudaGraphExec_t exec, cudaStream_t stream, struct CUgraphExec_st *launched) {
    cudaError_t error = check(exec);
    if (error == cudaSuccess)
        error = stream_check(stream);
    if (error != cudaSuccess)
        return error;
    if (capture_is_on(stream))
        return capture_steps(exec, stream);
    begin(exec, exec->frees);
    return copy_steps(launched, exec);
}

static cudaError_t drop(struct CUgraphExec_st *launched) {
    drop_steps(launched);
    return cudaSuccess;
}

static cudaError_t run_steps(const struct CUgraphExec_st *launched, cudaStream_t stream);

static cudaError_t run_work(const struct work *work, cudaStream_t stream) {
    bool is_usable = api_enter("cudaGraphLaunch") == cudaSuccess;
    return api_leave(is_usable ? work->run(work, stream) : api_entry_error());
}

static cudaError_t run_condition(const struct exec_step *step, cudaStream_t stream) {
    cudaError_t error = cudaSuccess;
    uint32_t value = 0;
    do {
        sim_condition_get(step->handle, &value);
        uint32_t which = step->kind == CONDITION_SWITCH ? value : value == 0;
        if (step->kind == CONDITION_WHILE && value == 0)
            which = step->bodies;
        if (which >= step->bodies)
            return cudaSuccess;
        error = run_steps(&step->body[which], stream);
    } while (error == cudaSuccess && step->kind == CONDITION_WHILE);
    return error;
}

static cudaError_t run_steps(const struct CUgraphExec_st *launched, cudaStream_t stream) {
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < launched->steps && error == cudaSuccess; i++) {
        const struct exec_step *step = &launched->step[i];
        const struct work *work = step->work;
        if (step->disabled)
            continue;
        if (step->bodies)
            error = run_condition(step, stream);
        else if (work->function)
            work->function(work->argument);
        else if (work->run)
            error = run_work(work, stream);
    }
    return error;
}

// Functions of the program are called without the lock, and may do as they like; so what is launched is a copy.
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
    struct CUgraphExec_st launched = {0};
    cudaError_t error = DEVICE_CALL(prepare(exec, stream, &launched));
    if (error == cudaSuccess)
        error = run_steps(&launched, stream);
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

static struct exec_step *find_step(cudaGraphExec_t exec, cudaGraphNode_t node) {
    for (size_t i = 0; i < exec->steps; i++)
        if (exec->step[i].node == node)
            return &exec->step[i];
    return NULL;
}

cudaError_t graph_exec_set_work(cudaGraphExec_t exec, cudaGraphNode_t node, enum cudaGraphNodeType type,
                                struct work *work) {
    cudaError_t error = work ? check(exec) : no_memory();
    struct exec_step *step = error == cudaSuccess ? find_step(exec, node) : NULL;
    if (error == cudaSuccess && (!step || step->work->type != type))
        error = api_error(cudaErrorInvalidValue, "the node is none of that kind of the graph that this was");
    if (error != cudaSuccess) {
        work_drop(work);
        return error;
    }
    work_drop(step->work);
    step->work = work;
    return cudaSuccess;
}

static cudaError_t set_kernel(cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaKernelNodeParams *params) {
    struct work *work = NULL;
    cudaError_t error = kernel_work(params, &work);
    return error == cudaSuccess ? graph_exec_set_work(exec, node, cudaGraphNodeTypeKernel, work) : error;
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaKernelNodeParams *params) {
    return DEVICE_CALL(set_kernel(exec, node, params));
}

// Kernels, copies and memsets may be passed over.
static cudaError_t find_switched(cudaGraphExec_t exec, cudaGraphNode_t node, struct exec_step **step) {
    cudaError_t error = check(exec);
    if (error != cudaSuccess)
        return error;
    *step = find_step(exec, node);
    if (!*step || (*step)->work->type > cudaGraphNodeTypeMemset)
        return api_error(cudaErrorInvalidValue, "the node is no kernel, copy or memset of the graph that this was");
    return cudaSuccess;
}

static cudaError_t set_enabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned is_enabled) {
    struct exec_step *step = NULL;
    cudaError_t error = find_switched(exec, node, &step);
    if (error == cudaSuccess)
        step->disabled = !is_enabled;
    return error;
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int is_enabled) {
    return DEVICE_CALL(set_enabled(exec, node, is_enabled));
}

static cudaError_t get_enabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned *is_enabled) {
    struct exec_step *step = NULL;
    cudaError_t error = is_enabled ? find_switched(exec, node, &step)
                                   : api_error(cudaErrorInvalidValue, "the pointer to the result is NULL");
    if (error == cudaSuccess)
        *is_enabled = !step->disabled;
    return error;
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int *is_enabled) {
    return DEVICE_CALL(get_enabled(exec, node, is_enabled));
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
        struct exec_step step = exec->step[i];
        exec->step[i] = other.step[i];
        exec->step[i].node = step.node;
        other.step[i] = step;
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
