// Executable graphs: a topological order of the nodes, with their operations at the time of instantiation. As for all
// work, a launch completes before it returns.
#include "graph_exec.h"
#include "stream.h"

#include <stdlib.h>

static struct CUgraphExec_st *execs;

static cudaError_t check(cudaGraphExec_t exec) {
    for (const struct CUgraphExec_st *entry = execs; entry; entry = entry->next)
        if (entry == exec)
            return cudaSuccess;
    return api_error(cudaErrorInvalidValue, "invalid executable graph: never instantiated, or already destroyed");
}

static void free_steps(struct CUgraphExec_st *exec) {
    for (size_t i = 0; i < exec->step_count; i++) {
        operation_release(exec->step[i].operation);
        for (unsigned k = 0; k < exec->step[i].bodies; k++)
            free_steps(&exec->step[i].body[k]);
        free(exec->step[i].body);
        free(exec->step[i].before.step);
    }
    free(exec->step);
    free(exec->defaults);
}

static void free_exec(cudaGraphExec_t exec) {
    struct CUgraphExec_st **link = &execs;
    while (*link != exec)
        link = &(*link)->next;
    *link = exec->next;
    free_steps(exec);
    free(exec);
}

void graph_exec_free_all(void) {
    while (execs)
        free_exec(execs);
}

// Appends an empty step; NULL: out of host memory.
static struct exec_step *add_step(struct CUgraphExec_st *exec) {
    if (exec->step_count == exec->capacity) {
        size_t capacity = exec->capacity ? 2 * exec->capacity : 16;
        struct exec_step *grown = realloc(exec->step, capacity * sizeof *grown);
        if (!grown)
            return NULL;
        exec->step = grown;
        exec->capacity = capacity;
    }
    exec->step[exec->step_count] = (struct exec_step){0};
    return &exec->step[exec->step_count++];
}

static bool contains(const struct node_set *set, cudaGraphNode_t node) {
    for (size_t i = 0; i < set->count; i++)
        if (set->node[i] == node)
            return true;
    return false;
}

static bool is_ready(cudaGraphNode_t node, const struct node_set *done) {
    for (size_t i = 0; i < node->dependencies.count; i++)
        if (!contains(done, node->dependencies.node[i]))
            return false;
    return true;
}

static const struct steps_before no_steps;

// before: the steps that all nodes of the graph depend on.
static cudaError_t sort_topologically(struct CUgraphExec_st *exec, cudaGraph_t graph,
                                      const struct steps_before *before);

static cudaError_t out_of_memory(void) {
    return api_error(cudaErrorMemoryAllocation, "out of host memory");
}

static bool add_before(struct steps_before *before, size_t step) {
    size_t *grown = realloc(before->step, (before->count + 1) * sizeof *grown);
    if (!grown)
        return false;
    before->step = grown;
    before->step[before->count++] = step;
    return true;
}

// The steps of the node's dependencies, whose steps are the latest ones with these nodes; of a root, those in outer.
static cudaError_t find_before(const struct CUgraphExec_st *exec, cudaGraphNode_t node,
                               const struct steps_before *outer, struct steps_before *before) {
    bool is_added = true;
    for (size_t i = 0; i < outer->count && !node->dependencies.count; i++)
        is_added &= add_before(before, outer->step[i]);
    for (size_t i = 0; i < node->dependencies.count; i++) {
        size_t step = exec->step_count;
        while (step > 0 && exec->step[step - 1].node != node->dependencies.node[i])
            step--;
        is_added &= step == 0 || add_before(before, step - 1);
    }
    return is_added ? cudaSuccess : out_of_memory();
}

// Appends the node's step, and before it the steps of its child graph, which the node's step joins.
static cudaError_t add_node(struct CUgraphExec_st *exec, cudaGraphNode_t node, const struct steps_before *outer) {
    struct steps_before before = {0};
    const struct condition *condition = node->condition;
    cudaError_t error = find_before(exec, node, outer, &before);
    size_t first = exec->step_count;
    if (error == cudaSuccess && node->child)
        error = sort_topologically(exec, node->child, &before);
    for (size_t i = first; i < exec->step_count && error == cudaSuccess; i++)
        error = add_before(&before, i) ? cudaSuccess : out_of_memory();
    struct exec_step *step = error == cudaSuccess ? add_step(exec) : NULL;
    if (!step) {
        free(before.step);
        return error == cudaSuccess ? out_of_memory() : error;
    }
    step->operation = operation_retain(node->operation);
    step->node = node;
    step->before = before;
    if (!condition)
        return cudaSuccess;
    step->handle = condition->handle;
    step->kind = condition->kind;
    if (!(step->body = calloc(condition->bodies, sizeof *step->body)))
        return out_of_memory();
    for (; step->bodies < condition->bodies && error == cudaSuccess; step->bodies++)
        error = sort_topologically(&step->body[step->bodies], condition->body[step->bodies], &no_steps);
    return error;
}

static cudaError_t copy_defaults(struct CUgraphExec_st *exec, cudaGraph_t graph) {
    for (const struct condition_default *entry = graph->defaults; entry; entry = entry->next) {
        if (!entry->assigned)
            continue;
        struct condition_default *grown = realloc(exec->defaults, (exec->default_count + 1) * sizeof *grown);
        if (!grown)
            return out_of_memory();
        exec->defaults = grown;
        exec->defaults[exec->default_count++] = *entry;
    }
    return cudaSuccess;
}

// Topological sort; among ready nodes the one added first comes first.
static cudaError_t sort_topologically(struct CUgraphExec_st *exec, cudaGraph_t graph,
                                      const struct steps_before *before) {
    struct node_set done = {0};
    cudaError_t error = copy_defaults(exec, graph);
    while (done.count < graph->nodes.count && error == cudaSuccess) {
        cudaGraphNode_t next = NULL;
        for (size_t i = 0; i < graph->nodes.count && !next; i++)
            if (!contains(&done, graph->nodes.node[i]) && is_ready(graph->nodes.node[i], &done))
                next = graph->nodes.node[i];
        if (!next)
            error = api_error(cudaErrorInvalidValue, "the graph has a dependency cycle");
        else
            error = node_set_add(&done, next) ? add_node(exec, next, before) : out_of_memory();
    }
    node_set_clear(&done);
    return error;
}

static cudaError_t instantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags) {
    cudaError_t error =
        exec ? graph_check(graph) : api_error(cudaErrorInvalidValue, "the pointer to the result is NULL");
    if (error != cudaSuccess)
        return error;
    struct CUgraphExec_st *created = calloc(1, sizeof *created);
    if (!created)
        return out_of_memory();
    created->auto_free = flags & cudaGraphInstantiateFlagAutoFreeOnLaunch;
    created->next = execs;
    execs = created;
    error = sort_topologically(created, graph, &no_steps);
    if (error != cudaSuccess)
        free_exec(created);
    else
        *exec = created;
    return error;
}

// The other flags control uploads and launches from the device, which the simulator does not need.
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
    for (size_t i = 0; i < from->step_count && error == cudaSuccess; i++) {
        struct exec_step *step = add_step(to);
        const struct exec_step *other = &from->step[i];
        if (!step)
            return out_of_memory();
        *step = *other;
        step->operation = operation_retain(other->operation);
        step->before = (struct steps_before){0};
        for (size_t k = 0; k < other->before.count && error == cudaSuccess; k++)
            error = add_before(&step->before, other->before.step[k]) ? cudaSuccess : out_of_memory();
        step->bodies = 0;
        step->body = other->bodies ? calloc(other->bodies, sizeof *step->body) : NULL;
        if (other->bodies && !step->body)
            return out_of_memory();
        for (; step->bodies < other->bodies && error == cudaSuccess; step->bodies++)
            error = copy_steps(&step->body[step->bodies], &other->body[step->bodies]);
    }
    return error;
}

// Sets the conditions to their defaults, and frees live allocations if requested; includes the body graphs.
static void start_launch(const struct CUgraphExec_st *exec, bool auto_free) {
    for (size_t i = 0; i < exec->default_count; i++)
        sim_condition_set(exec->defaults[i].handle, exec->defaults[i].value);
    for (size_t i = 0; i < exec->step_count; i++) {
        if (auto_free)
            free_live_allocation(exec->step[i].operation);
        for (unsigned k = 0; k < exec->step[i].bodies; k++)
            start_launch(&exec->step[i].body[k], auto_free);
    }
}

// A launch into a captured stream adds the steps in sequence to the captured graph.
static cudaError_t capture_steps(cudaGraphExec_t exec, cudaStream_t stream) {
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < exec->step_count && error == cudaSuccess; i++)
        error = exec->step[i].bodies
                    ? api_error(cudaErrorNotSupported,
                                "capturing the launch of a graph with a conditional node is not supported")
                    : capture_add(stream, operation_retain(exec->step[i].operation));
    return error;
}

static cudaError_t prepare(cudaGraphExec_t exec, cudaStream_t stream, struct CUgraphExec_st *launched) {
    cudaError_t error = check(exec);
    if (error == cudaSuccess)
        error = stream_check(stream);
    if (error != cudaSuccess)
        return error;
    if (capture_is_active(stream))
        return capture_steps(exec, stream);
    start_launch(exec, exec->auto_free);
    return copy_steps(launched, exec);
}

static cudaError_t free_launched(struct CUgraphExec_st *launched) {
    free_steps(launched);
    return cudaSuccess;
}

// Host functions are called without the lock and may even change this executable graph; so the launch runs a copy.
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
    struct CUgraphExec_st launched = {0};
    cudaError_t error = DEVICE_CALL(prepare(exec, stream, &launched));
    if (error == cudaSuccess)
        error = graph_exec_run(&launched, stream);
    HOST_CALL(free_launched(&launched));
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
    for (size_t i = 0; i < exec->step_count; i++)
        if (exec->step[i].node == node)
            return &exec->step[i];
    return NULL;
}

cudaError_t graph_exec_set_operation(cudaGraphExec_t exec, cudaGraphNode_t node, enum cudaGraphNodeType type,
                                     struct operation *operation) {
    cudaError_t error = operation ? check(exec) : out_of_memory();
    struct exec_step *step = error == cudaSuccess ? find_step(exec, node) : NULL;
    if (error == cudaSuccess && (!step || step->operation->type != type))
        error = api_error(cudaErrorInvalidValue, "the executable graph has no such node of this type");
    if (error != cudaSuccess) {
        operation_release(operation);
        return error;
    }
    operation_release(step->operation);
    step->operation = operation;
    return cudaSuccess;
}

static cudaError_t set_kernel(cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaKernelNodeParams *params) {
    struct operation *operation = NULL;
    cudaError_t error = new_kernel_operation(params, &operation);
    return error == cudaSuccess ? graph_exec_set_operation(exec, node, cudaGraphNodeTypeKernel, operation) : error;
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaKernelNodeParams *params) {
    return DEVICE_CALL(set_kernel(exec, node, params));
}

// Only kernel, memcpy and memset nodes can be disabled.
static cudaError_t find_toggleable_step(cudaGraphExec_t exec, cudaGraphNode_t node, struct exec_step **step) {
    cudaError_t error = check(exec);
    if (error != cudaSuccess)
        return error;
    *step = find_step(exec, node);
    if (!*step || (*step)->operation->type > cudaGraphNodeTypeMemset)
        return api_error(cudaErrorInvalidValue,
                         "the node is not a kernel, memcpy or memset node of the executable graph");
    return cudaSuccess;
}

static cudaError_t set_enabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned is_enabled) {
    struct exec_step *step = NULL;
    cudaError_t error = find_toggleable_step(exec, node, &step);
    if (error == cudaSuccess)
        step->disabled = !is_enabled;
    return error;
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int is_enabled) {
    return DEVICE_CALL(set_enabled(exec, node, is_enabled));
}

static cudaError_t get_enabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned *is_enabled) {
    struct exec_step *step = NULL;
    cudaError_t error = is_enabled ? find_toggleable_step(exec, node, &step)
                                   : api_error(cudaErrorInvalidValue, "the pointer to the result is NULL");
    if (error == cudaSuccess)
        *is_enabled = !step->disabled;
    return error;
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int *is_enabled) {
    return DEVICE_CALL(get_enabled(exec, node, is_enabled));
}

// Replaces the operations by those of another graph, if both have the same nodes in the same order.
static cudaError_t update(cudaGraphExec_t exec, cudaGraph_t graph, enum cudaGraphExecUpdateResult *result) {
    struct CUgraphExec_st other = {0};
    cudaError_t error = check(exec);
    if (error == cudaSuccess)
        error = graph_check(graph);
    if (error == cudaSuccess)
        error = sort_topologically(&other, graph, &no_steps);
    bool same_topology = error == cudaSuccess && other.step_count == exec->step_count;
    *result = same_topology ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorTopologyChanged;
    for (size_t i = 0; same_topology && i < exec->step_count; i++) {
        if (other.step[i].operation->type != exec->step[i].operation->type) {
            same_topology = false;
            *result = cudaGraphExecUpdateErrorNodeTypeChanged;
        }
    }
    for (size_t i = 0; same_topology && i < exec->step_count; i++) {
        struct exec_step step = exec->step[i];
        exec->step[i] = other.step[i];
        exec->step[i].node = step.node;
        other.step[i] = step;
    }
    free_steps(&other);
    return error != cudaSuccess || same_topology
               ? error
               : api_error(cudaErrorGraphExecUpdateFailure, "the graph's topology differs from the executable graph's");
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info) {
    enum cudaGraphExecUpdateResult result = cudaGraphExecUpdateError;
    cudaError_t error = DEVICE_CALL(update(exec, graph, &result));
    if (info)
        *info = (cudaGraphExecUpdateResultInfo){.result = result};
    return error;
}
