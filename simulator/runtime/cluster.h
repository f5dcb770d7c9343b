// Clusters: of how many blocks a launch makes them, and whether the GPU can hold them.
#ifndef SIMULATOR_RUNTIME_CLUSTER_H
#define SIMULATOR_RUNTIME_CLUSTER_H

#include "api.h"
#include "module.h"

// What a launch says of its clusters, in its attributes.
struct cluster_wish {
    dim3 size;      // 0: nothing
    dim3 preferred; // that the GPU may take where there is room for it
    bool has_preferred;
};

// The size of a launch's clusters, from what it and the kernel say; {1, 1, 1} where neither says anything. *explicit:
// one of them does. Checks it against the grid, the kernel and the device: cudaErrorInvalidClusterSize.
cudaError_t cluster_of_launch(const struct function *function, dim3 grid, dim3 block, size_t dynamic_bytes,
                              struct cluster_wish wish, dim3 *size, bool *explicit);

// How many clusters of so many blocks the device holds at a time.
int cluster_occupancy(const struct function *function, int blocks, int threads, size_t dynamic_bytes);

// The attributes of a function that are about clusters. false: the attribute is another one.
bool cluster_set_attribute(struct function *function, enum cudaFuncAttribute attribute, int value, cudaError_t *error);
void cluster_get_attributes(const struct function *function, struct cudaFuncAttributes *attributes);

#endif
