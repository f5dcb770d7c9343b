// Runs the steps of an executable graph. Nodes that no path of edges orders run in different branches, which
// machine/timeline.h treats as streams.
#include "graph_exec.h"
#include "stream.h"

#include "../machine/timeline.h"

#include <stdlib.h>

static cudaError_t out_of_memory(void) {
    return api_error(cudaErrorMemoryAllocation, "out of host memory");
}

static cudaError_t run_operation(const struct operation *operation, cudaStream_t stream) {
    bool is_usable = api_enter("cudaGraphLaunch") == cudaSuccess;
    return api_leave(is_usable ? operation->run(operation, stream) : api_entry_error());
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
        error = graph_exec_run(&step->body[which], stream);
    } while (error == cudaSuccess && step->kind == CONDITION_WHILE);
    return error;
}

// The host may learn from the function that the work before it is complete.
static cudaError_t host_waits(cudaStream_t stream) {
    timeline_host_wait_for(stream_timeline(stream));
    return cudaSuccess;
}

static void run_host_function(const struct operation *operation, cudaStream_t stream) {
    DEVICE_CALL(host_waits(stream));
    operation->function(operation->argument);
}

static cudaError_t run_step(const struct exec_step *step, cudaStream_t stream) {
    const struct operation *operation = step->operation;
    cudaError_t error = cudaSuccess;
    if (step->disabled)
        return cudaSuccess;
    if (step->bodies)
        error = run_condition(step, stream);
    else if (operation->function)
        run_host_function(operation, stream);
    else if (operation->run)
        error = run_operation(operation, stream);
    return error;
}

// Where a step runs.
struct branch {
    cudaStream_t stream;
    bool is_own, continues;    // opened for the step; a later step runs there, too
    struct timeline_clock end; // of the step
};

// Chooses the branch of a step: that of a step before it which no other step continues. The first step continues the
// stream of the launch, so that a chain of nodes is ordered as work of that stream.
static cudaError_t begin_step(const struct exec_step *step, size_t number, struct branch *branch, cudaStream_t stream,
                              const struct timeline_clock *start) {
    struct branch *mine = &branch[number];
    size_t from = number;
    for (size_t i = 0; i < step->before.count && from == number; i++)
        if (!branch[step->before.step[i]].continues)
            from = step->before.step[i];
    if (from != number) {
        branch[from].continues = true;
        mine->stream = branch[from].stream;
    } else if (number == 0) {
        mine->stream = stream;
    } else {
        mine->stream = stream_open_branch();
        mine->is_own = mine->stream;
        if (!mine->is_own)
            return out_of_memory();
        timeline_wait(stream_timeline(mine->stream), start);
    }
    for (size_t i = 0; i < step->before.count; i++)
        if (step->before.step[i] != from)
            timeline_wait(stream_timeline(mine->stream), &branch[step->before.step[i]].end);
    return cudaSuccess;
}

static cudaError_t end_step(struct branch *branch) {
    timeline_latest(stream_timeline(branch->stream), &branch->end);
    return cudaSuccess;
}

// The stream goes on when all branches have ended.
static cudaError_t join_branches(struct branch *branch, size_t count, cudaStream_t stream) {
    for (size_t i = 0; i < count; i++)
        if (branch[i].stream && branch[i].stream != stream && !branch[i].continues)
            timeline_wait(stream_timeline(stream), &branch[i].end);
    for (size_t i = 0; i < count; i++)
        if (branch[i].is_own)
            stream_close_branch(branch[i].stream);
    free(branch);
    return cudaSuccess;
}

static cudaError_t begin_branches(struct branch **branch, size_t count, cudaStream_t stream,
                                  struct timeline_clock *start) {
    timeline_latest(stream_timeline(stream), start);
    *branch = calloc(count + 1, sizeof **branch);
    return *branch ? cudaSuccess : out_of_memory();
}

cudaError_t graph_exec_run(const struct CUgraphExec_st *launched, cudaStream_t stream) {
    struct branch *branch;
    struct timeline_clock start;
    cudaError_t error = HOST_CALL(begin_branches(&branch, launched->step_count, stream, &start));
    if (error != cudaSuccess)
        return error;
    for (size_t i = 0; i < launched->step_count && error == cudaSuccess; i++) {
        error = HOST_CALL(begin_step(&launched->step[i], i, branch, stream, &start));
        if (error == cudaSuccess)
            error = run_step(&launched->step[i], branch[i].stream);
        if (error == cudaSuccess)
            HOST_CALL(end_step(&branch[i]));
    }
    HOST_CALL(join_branches(branch, launched->step_count, stream));
    return error;
}
