// Clusters: see cluster.h. All blocks of a cluster run on SMs of the same GPC (graphics processing cluster) at the same
// time. The number of SMs per GPC differs between GPUs of the same model; the simulator assumes 16 each, and
// distributes the rest to the first ones.
#include "cluster.h"
#include "../machine/launch.h"
#include "device.h"
#include "occupancy.h"

#define PORTABLE_BLOCKS 8 // blocks per cluster that every GPU with clusters supports
#define MAX_BLOCKS 16     // if the kernel's attribute allows it
#define SMS_PER_GPC 16

static uint64_t size_of(dim3 dim) {
    return (uint64_t)dim.x * dim.y * dim.z;
}

int cluster_occupancy(const struct function *function, int blocks, int threads, size_t dynamic_bytes) {
    const struct sim_device *gpu = &device_current()->simulated;
    int blocks_per_sm = occupancy_blocks(gpu, threads, occupancy_registers(function),
                                         function->kernel->static_shared_bytes + dynamic_bytes);
    int gpcs = gpu->sms / SMS_PER_GPC, rest = gpu->sms % SMS_PER_GPC, clusters = 0;
    for (int i = 0; i < gpcs; i++) {
        int sms = SMS_PER_GPC + (rest > 2 * i + 1 ? 2 : rest > 2 * i ? 1 : 0);
        clusters += sms * blocks_per_sm / blocks;
    }
    return clusters;
}

// The kernel's cluster size, from __cluster_dims__ or cudaFuncSetAttribute; 0: none.
static dim3 required_cluster_size(const struct function *function) {
    const int *blocks = function->kernel->cluster.blocks, *set = function->cluster;
    if (blocks[0])
        return (dim3){(unsigned)blocks[0], (unsigned)blocks[1], (unsigned)blocks[2]};
    return (dim3){(unsigned)set[0], (unsigned)set[1], (unsigned)set[2]};
}

static cudaError_t check_size(const struct function *function, dim3 size, int max_blocks) {
    const struct sim_device *gpu = &device_current()->simulated;
    if (gpu->compute_capability < 90)
        return api_error(cudaErrorInvalidClusterSize,
                         "clusters of %u x %u x %u blocks of kernel %s need compute capability 9.0 or higher, which %s "
                         "does not have",
                         size.x, size.y, size.z, function->plain_name, gpu->name);
    unsigned limit = (unsigned)max_blocks;
    if (size.x == 0 || size.y == 0 || size.z == 0 || size.x > limit || size.y > limit || size.z > limit ||
        size_of(size) > limit)
        return api_error(cudaErrorInvalidClusterSize,
                         "invalid cluster of %u x %u x %u blocks for kernel %s: 1 to %d blocks are allowed%s", size.x,
                         size.y, size.z, function->plain_name, max_blocks,
                         max_blocks == PORTABLE_BLOCKS
                             ? "; cudaFuncAttributeNonPortableClusterSizeAllowed raises the limit to 16"
                             : "");
    return cudaSuccess;
}

static int max_cluster_blocks(const struct function *function) {
    int max_blocks = function->non_portable_cluster ? MAX_BLOCKS : PORTABLE_BLOCKS,
        bound = function->kernel->cluster.max_rank;
    return bound && bound < max_blocks ? bound : max_blocks;
}

static bool same_size(dim3 a, dim3 b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static bool divides(dim3 part, dim3 whole) {
    return whole.x % part.x == 0 && whole.y % part.y == 0 && whole.z % part.z == 0;
}

// A GPU uses the preferred size for as much of the grid as fits; the simulator uses it for the whole grid, or, with
// every other seed of the block order, not at all.
static cudaError_t apply_preferred_size(const struct function *function, dim3 grid, dim3 block, size_t dynamic_bytes,
                                        dim3 preferred, dim3 *size) {
    if (preferred.x == 0 || preferred.y == 0 || preferred.z == 0 || !divides(*size, preferred) ||
        !divides(preferred, grid))
        return api_error(cudaErrorInvalidClusterSize,
                         "invalid preferred cluster of %u x %u x %u blocks for kernel %s: the preferred cluster must "
                         "be a multiple of the cluster of %u x %u x %u and divide the grid of %u x %u x %u",
                         preferred.x, preferred.y, preferred.z, function->plain_name, size->x, size->y, size->z, grid.x,
                         grid.y, grid.z);
    bool fits = size_of(preferred) <= (uint64_t)max_cluster_blocks(function) &&
                cluster_occupancy(function, (int)size_of(preferred), (int)size_of(block), dynamic_bytes) > 0;
    if (fits && sim_options()->order % 2 == 0)
        *size = preferred;
    return cudaSuccess;
}

cudaError_t cluster_of_launch(const struct function *function, dim3 grid, dim3 block, size_t dynamic_bytes,
                              struct cluster_request cluster_request, dim3 *size, bool *explicit) {
    dim3 required = required_cluster_size(function);
    *explicit = required.x || cluster_request.size.x;
    *size = (dim3){1, 1, 1};
    if (!*explicit && !function->kernel->cluster.must_be_given)
        return cudaSuccess;
    if (!*explicit)
        return api_error(cudaErrorInvalidClusterSize,
                         "kernel %s requires a cluster launch (__cluster_dims__ without a size); give the launch a "
                         "cudaLaunchAttributeClusterDimension",
                         function->plain_name);
    if (required.x && cluster_request.size.x && !same_size(required, cluster_request.size))
        return api_error(
            cudaErrorInvalidClusterSize,
            "a launch with clusters of %u x %u x %u blocks contradicts kernel %s, which requires %u x %u x %u",
            cluster_request.size.x, cluster_request.size.y, cluster_request.size.z, function->plain_name, required.x,
            required.y, required.z);
    *size = required.x ? required : cluster_request.size;
    cudaError_t error = check_size(function, *size, max_cluster_blocks(function));
    if (error != cudaSuccess)
        return error;
    if (grid.x % size->x || grid.y % size->y || grid.z % size->z)
        return api_error(cudaErrorInvalidClusterSize,
                         "a grid of %u x %u x %u blocks for kernel %s is not a multiple of its cluster of %u x %u x %u",
                         grid.x, grid.y, grid.z, function->plain_name, size->x, size->y, size->z);
    if (cluster_occupancy(function, (int)size_of(*size), (int)size_of(block), dynamic_bytes) == 0)
        return api_error(cudaErrorInvalidClusterSize,
                         "a cluster of %u x %u x %u blocks of kernel %s does not fit on a GPC of %s: a block has %llu "
                         "threads and %zu bytes of shared memory",
                         size->x, size->y, size->z, function->plain_name, device_current()->simulated.name,
                         (unsigned long long)size_of(block), function->kernel->static_shared_bytes + dynamic_bytes);
    return cluster_request.has_preferred
               ? apply_preferred_size(function, grid, block, dynamic_bytes, cluster_request.preferred, size)
               : cudaSuccess;
}

// ---- Attributes ----------------------------------------------------------------------------------------------------

void cluster_get_attributes(const struct function *function, struct cudaFuncAttributes *attributes) {
    dim3 required = required_cluster_size(function);
    attributes->clusterDimMustBeSet = required.x || function->kernel->cluster.must_be_given;
    attributes->requiredClusterWidth = (int)required.x;
    attributes->requiredClusterHeight = (int)required.y;
    attributes->requiredClusterDepth = (int)required.z;
    attributes->nonPortableClusterSizeAllowed = function->non_portable_cluster;
}

static cudaError_t set_size(struct function *function, int axis, int value) {
    if (function->kernel->cluster.blocks[0])
        return api_error(cudaErrorNotPermitted, "the cluster size of kernel %s is fixed by __cluster_dims__",
                         function->plain_name);
    if (value < 0 || value > MAX_BLOCKS)
        return api_error(cudaErrorInvalidValue, "invalid cluster dimension %d: the dimension must be 0 to %d", value,
                         MAX_BLOCKS);
    function->cluster[axis] = value;
    return cudaSuccess;
}

bool cluster_set_attribute(struct function *function, enum cudaFuncAttribute attribute, int value, cudaError_t *error) {
    *error = cudaSuccess;
    switch (attribute) {
    case cudaFuncAttributeRequiredClusterWidth:
    case cudaFuncAttributeRequiredClusterHeight:
    case cudaFuncAttributeRequiredClusterDepth:
        *error = set_size(function, (int)attribute - (int)cudaFuncAttributeRequiredClusterWidth, value);
        return true;
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
        function->non_portable_cluster = value != 0;
        return true;
    case cudaFuncAttributeClusterSchedulingPolicyPreference:
        return true; // the simulator does not model the placement of blocks
    default:
        return false;
    }
}

// ---- Occupancy -----------------------------------------------------------------------------------------------------

// The cluster size in the launch's attributes.
static struct cluster_request requested_size(const cudaLaunchConfig_t *config) {
    struct cluster_request cluster_request = {0};
    for (unsigned i = 0; i < config->numAttrs; i++)
        if (config->attrs[i].id == cudaLaunchAttributeClusterDimension)
            cluster_request.size = (dim3){config->attrs[i].val.clusterDim.x, config->attrs[i].val.clusterDim.y,
                                          config->attrs[i].val.clusterDim.z};
    return cluster_request;
}

static cudaError_t find(const void *result, const void *host, const cudaLaunchConfig_t *config,
                        struct function **function) {
    if (!result || !config || size_of(config->blockDim) == 0)
        return api_error(cudaErrorInvalidValue, "the block has no threads, or a pointer is NULL");
    return function_find_loaded(host, function);
}

static cudaError_t max_size(int *blocks, const void *host, const cudaLaunchConfig_t *config) {
    struct function *function = NULL;
    cudaError_t error = find(blocks, host, config, &function);
    if (error != cudaSuccess)
        return error;
    dim3 required = required_cluster_size(function);
    int size = required.x ? (int)size_of(required) : max_cluster_blocks(function);
    if (device_current()->simulated.compute_capability < 90)
        size = 1;
    while (!required.x && size > 1 &&
           cluster_occupancy(function, size, (int)size_of(config->blockDim), config->dynamicSmemBytes) == 0)
        size /= 2;
    *blocks = size;
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int *blocks, const void *function, const cudaLaunchConfig_t *config) {
    return DEVICE_CALL(max_size(blocks, function, config));
}

static cudaError_t max_clusters(int *clusters, const void *host, const cudaLaunchConfig_t *config) {
    struct function *function = NULL;
    cudaError_t error = find(clusters, host, config, &function);
    if (error != cudaSuccess)
        return error;
    struct cluster_request cluster_request = requested_size(config);
    dim3 required = required_cluster_size(function), size = required.x ? required : cluster_request.size;
    if (size.x == 0 || (required.x && cluster_request.size.x && !same_size(required, cluster_request.size)))
        return api_error(cudaErrorInvalidClusterSize,
                         "kernel %s and the configuration give no cluster size, or different ones",
                         function->plain_name);
    error = check_size(function, size, max_cluster_blocks(function));
    if (error == cudaSuccess)
        *clusters =
            cluster_occupancy(function, (int)size_of(size), (int)size_of(config->blockDim), config->dynamicSmemBytes);
    return error;
}

cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *function, const cudaLaunchConfig_t *config) {
    return DEVICE_CALL(max_clusters(clusters, function, config));
}
