// Launches, as launch.c makes them for the program, and launch_later.c for graphs and for kernels that launch kernels.
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
    bool cooperative;
    struct cluster_wish wish; // for its clusters
    dim3 cluster;
    bool explicit_cluster;
    struct work **described; // where it is not to run, but to become a node of a graph
};

// Checks the configuration and runs the kernel, or makes a node of a graph of it.
cudaError_t launch_kernel(const void *host_or_handle, const struct configuration *configuration, void **arguments);

// Runs a kernel whose configuration was checked, and what it launches, with a block of parameters.
cudaError_t launch_packed(const struct function *function, const struct configuration *configuration,
                          const void *parameters);

// The launch as work for a graph, which takes the parameters. NULL: the host has no memory left.
struct work *launch_work(const void *host_or_handle, const struct function *function,
                         const struct configuration *configuration, void *parameters);

// Runs what a kernel has launched, when it has ended.
cudaError_t launch_children(const struct function *parent, const struct sim_children *children, cudaStream_t stream);

#endif
