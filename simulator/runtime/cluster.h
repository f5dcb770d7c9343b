// Clusters: the cluster size of a launch, and how many clusters the GPU can hold.
#ifndef SIMULATOR_RUNTIME_CLUSTER_H
#define SIMULATOR_RUNTIME_CLUSTER_H

#include "api.h"
#include "module.h"

// The cluster attributes of a launch.
struct cluster_request {
    dim3 size;      // 0: not given
    dim3 preferred; // which the GPU may use if it fits
    bool has_preferred;
};

// Determines the cluster size of a launch from the launch and the kernel; {1, 1, 1} if neither gives one. *explicit:
// one of them does. Checks the size against the grid, the kernel and the device: cudaErrorInvalidClusterSize.
cudaError_t cluster_of_launch(const struct function *function, dim3 grid, dim3 block, size_t dynamic_bytes,
                              struct cluster_request cluster_request, dim3 *size, bool *explicit);

// The number of clusters of that many blocks that the device can hold at a time.
int cluster_occupancy(const struct function *function, int blocks, int threads, size_t dynamic_bytes);

// The cluster attributes of a function. Returns false if the attribute is not one of them.
bool cluster_set_attribute(struct function *function, enum cudaFuncAttribute attribute, int value, cudaError_t *error);
void cluster_get_attributes(const struct function *function, struct cudaFuncAttributes *attributes);

#endif
