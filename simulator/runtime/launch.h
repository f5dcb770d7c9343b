// Kernel launches: by the program (launch.c), by graphs and by kernels (launch_deferred.c).
#ifndef SIMULATOR_RUNTIME_LAUNCH_H
#define SIMULATOR_RUNTIME_LAUNCH_H

#include "cluster.h"
#include "graph.h"
#include "module.h"

struct sim_children;

struct configuration {
    dim3 grid, block;
    size_t dynamic_shared_bytes;
    cudaStream_t stream;
    bool cooperative, programmatic; // programmatic: see sim_launch
    struct cluster_request cluster_request;
    dim3 cluster;
    bool explicit_cluster;
    struct operation **node_operation; // if not NULL: do not run, return the operation of a graph node
};

// Checks the configuration and runs the kernel, or makes the operation of a graph node.
cudaError_t launch_kernel(const void *host_or_handle, const struct configuration *configuration, void **arguments);

// Runs a kernel with a checked configuration and a parameter block, then the kernels that it launches.
cudaError_t launch_packed(const struct function *function, const struct configuration *configuration,
                          const void *parameters);

// The launch as an operation of a graph, which takes ownership of the parameters. NULL: out of host memory.
struct operation *new_launch_operation(const void *host_or_handle, const struct function *function,
                                       const struct configuration *configuration, void *parameters);

// Runs the launches of a kernel after its grid has completed.
cudaError_t launch_children(const struct function *parent, const struct sim_children *children, cudaStream_t stream);

#endif
