// Executable graphs as those see them that run them.
#ifndef SIMULATOR_GRAPH_EXEC_H
#define SIMULATOR_GRAPH_EXEC_H

#include "graph.h"

#include "../machine/condition.h"

// Earlier steps that a step depends on.
struct steps_before {
    size_t *step; // [count]
    size_t count;
};

struct exec_step {
    struct operation *operation;
    cudaGraphNode_t node; // by which a program identifies it
    // Of a conditional node: its body graphs.
    struct CUgraphExec_st *body; // [bodies]
    unsigned bodies;
    uint64_t handle;
    enum condition_kind kind;
    bool disabled; // is skipped
    struct steps_before before;
};

struct CUgraphExec_st {
    struct exec_step *step; // [steps]
    size_t step_count, capacity;
    struct condition_default *defaults; // [default_count]
    size_t default_count;
    bool auto_free; // frees the graph's live allocations at its launch
    struct CUgraphExec_st *next;
};

// Runs the steps, which do not change meanwhile, in the stream. Called without the lock, as host functions are.
cudaError_t graph_exec_run(const struct CUgraphExec_st *launched, cudaStream_t stream);

#endif
