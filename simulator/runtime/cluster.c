// Clusters: see cluster.h. All blocks of one run on SMs of the same GPC (a group of SMs of the GPU) at the same time.
// How many SMs each GPC has differs from one GPU to the next of the same kind; 16 each and the rest to the first are
// assumed.
#include "cluster.h"
#include "../machine/launch.h"
#include "device.h"
#include "occupancy.h"

#define PORTABLE 8 // blocks of a cluster, on each GPU that has them
#define MOST 16    // where the kernel's attribute allows it
#define SMS_OF_A_GPC 16

static uint64_t size_of(dim3 dim) {
    return (uint64_t)dim.x * dim.y * dim.z;
}

int cluster_occupancy(const struct function *function, int blocks, int threads, size_t dynamic_bytes) {
    const struct sim_device *gpu = &device_current()->simulated;
    int of_an_sm = occupancy_blocks(gpu, threads, occupancy_registers(function),
                                    function->kernel->static_shared_bytes + dynamic_bytes);
    int gpcs = gpu->sms / SMS_OF_A_GPC, rest = gpu->sms % SMS_OF_A_GPC, clusters = 0;
    for (int i = 0; i < gpcs; i++) {
        int sms = SMS_OF_A_GPC + (rest > 2 * i + 1 ? 2 : rest > 2 * i ? 1 : 0);
        clusters += sms * of_an_sm / blocks;
    }
    return clusters;
}

// The kernel's own size, from __cluster_dims__ or cudaFuncSetAttribute; 0: it has none.
static dim3 required(const struct function *function) {
    const int *blocks = function->kernel->cluster.blocks, *set = function->cluster;
    if (blocks[0])
        return (dim3){(unsigned)blocks[0], (unsigned)blocks[1], (unsigned)blocks[2]};
    return (dim3){(unsigned)set[0], (unsigned)set[1], (unsigned)set[2]};
}

static cudaError_t check_size(const struct function *function, dim3 size, int most) {
    const struct sim_device *gpu = &device_current()->simulated;
    if (gpu->compute_capability < 90)
        return api_error(
            cudaErrorInvalidClusterSize,
            "clusters of %u x %u x %u blocks of kernel %s need a GPU of compute capability 9.0 or higher, and "
            "%s is none",
            size.x, size.y, size.z, function->plain_name, gpu->name);
    unsigned limit = (unsigned)most;
    if (size.x == 0 || size.y == 0 || size.z == 0 || size.x > limit || size.y > limit || size.z > limit ||
        size_of(size) > limit)
        return api_error(
            cudaErrorInvalidClusterSize, "clusters of %u x %u x %u blocks for kernel %s, which may have 1 to %d%s",
            size.x, size.y, size.z, function->plain_name, most,
            most == PORTABLE ? "; cudaFuncAttributeNonPortableClusterSizeAllowed allows 16 where the GPU has them"
                             : "");
    return cudaSuccess;
}

static int most_blocks(const struct function *function) {
    int most = function->non_portable_cluster ? MOST : PORTABLE, bound = function->kernel->cluster.most;
    return bound && bound < most ? bound : most;
}

static bool same(dim3 a, dim3 b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static bool divides(dim3 part, dim3 whole) {
    return whole.x % part.x == 0 && whole.y % part.y == 0 && whole.z % part.z == 0;
}

// A GPU takes larger clusters for as much of the grid as it has room for; here the whole grid has them, or, in every
// other order of blocks, none of it.
static cudaError_t take_preferred(const struct function *function, dim3 grid, dim3 block, size_t dynamic_bytes,
                                  dim3 preferred, dim3 *size) {
    if (preferred.x == 0 || preferred.y == 0 || preferred.z == 0 || !divides(*size, preferred) ||
        !divides(preferred, grid))
        return api_error(cudaErrorInvalidClusterSize,
                         "preferred clusters of %u x %u x %u blocks for kernel %s are not made of whole ones of %u x "
                         "%u x %u, or its grid of %u x %u x %u not of whole preferred ones",
                         preferred.x, preferred.y, preferred.z, function->plain_name, size->x, size->y, size->z, grid.x,
                         grid.y, grid.z);
    bool fits = size_of(preferred) <= (uint64_t)most_blocks(function) &&
                cluster_occupancy(function, (int)size_of(preferred), (int)size_of(block), dynamic_bytes) > 0;
    if (fits && sim_options()->order % 2 == 0)
        *size = preferred;
    return cudaSuccess;
}

cudaError_t cluster_of_launch(const struct function *function, dim3 grid, dim3 block, size_t dynamic_bytes,
                              struct cluster_wish wish, dim3 *size, bool *explicit) {
    dim3 own = required(function);
    *explicit = own.x || wish.size.x;
    *size = (dim3){1, 1, 1};
    if (!*explicit && !function->kernel->cluster.must_be_said)
        return cudaSuccess;
    if (!*explicit)
        return api_error(
            cudaErrorInvalidClusterSize,
            "kernel %s has to be launched with clusters (__cluster_dims__ without a size), and the launch has "
            "no cudaLaunchAttributeClusterDimension",
            function->plain_name);
    if (own.x && wish.size.x && !same(own, wish.size))
        return api_error(cudaErrorInvalidClusterSize,
                         "clusters of %u x %u x %u blocks for kernel %s, whose own are %u x %u x %u", wish.size.x,
                         wish.size.y, wish.size.z, function->plain_name, own.x, own.y, own.z);
    *size = own.x ? own : wish.size;
    cudaError_t error = check_size(function, *size, most_blocks(function));
    if (error != cudaSuccess)
        return error;
    if (grid.x % size->x || grid.y % size->y || grid.z % size->z)
        return api_error(cudaErrorInvalidClusterSize,
                         "a grid of %u x %u x %u blocks for kernel %s is not made of whole clusters of %u x %u x %u",
                         grid.x, grid.y, grid.z, function->plain_name, size->x, size->y, size->z);
    if (cluster_occupancy(function, (int)size_of(*size), (int)size_of(block), dynamic_bytes) == 0)
        return api_error(
            cudaErrorInvalidClusterSize,
            "clusters of %u x %u x %u blocks of kernel %s do not fit: %s has no place for so many blocks of "
            "%llu threads and %zu bytes of shared memory side by side",
            size->x, size->y, size->z, function->plain_name, device_current()->simulated.name,
            (unsigned long long)size_of(block), function->kernel->static_shared_bytes + dynamic_bytes);
    return wish.has_preferred ? take_preferred(function, grid, block, dynamic_bytes, wish.preferred, size)
                              : cudaSuccess;
}

// ---- Attributes ----------------------------------------------------------------------------------------------------

void cluster_get_attributes(const struct function *function, struct cudaFuncAttributes *attributes) {
    dim3 own = required(function);
    attributes->clusterDimMustBeSet = own.x || function->kernel->cluster.must_be_said;
    attributes->requiredClusterWidth = (int)own.x;
    attributes->requiredClusterHeight = (int)own.y;
    attributes->requiredClusterDepth = (int)own.z;
    attributes->nonPortableClusterSizeAllowed = function->non_portable_cluster;
}

static cudaError_t set_size(struct function *function, int axis, int value) {
    if (function->kernel->cluster.blocks[0])
        return api_error(cudaErrorNotPermitted, "kernel %s has __cluster_dims__", function->plain_name);
    if (value < 0 || value > MOST)
        return api_error(cudaErrorInvalidValue, "%d blocks along an axis of a cluster; 0 to %d are possible", value,
                         MOST);
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
        return true; // where blocks run changes nothing here
    default:
        return false;
    }
}

// ---- Occupancy -----------------------------------------------------------------------------------------------------

// What the launch's attributes ask for.
static struct cluster_wish wish_of(const cudaLaunchConfig_t *config) {
    struct cluster_wish wish = {0};
    for (unsigned i = 0; i < config->numAttrs; i++)
        if (config->attrs[i].id == cudaLaunchAttributeClusterDimension)
            wish.size = (dim3){config->attrs[i].val.clusterDim.x, config->attrs[i].val.clusterDim.y,
                               config->attrs[i].val.clusterDim.z};
    return wish;
}

static cudaError_t find(const void *result, const void *host, const cudaLaunchConfig_t *config,
                        struct function **function) {
    if (!result || !config || size_of(config->blockDim) == 0)
        return api_error(cudaErrorInvalidValue, "a block of no threads, or a pointer is NULL");
    return function_find_loaded(host, function);
}

static cudaError_t max_size(int *blocks, const void *host, const cudaLaunchConfig_t *config) {
    struct function *function = NULL;
    cudaError_t error = find(blocks, host, config, &function);
    if (error != cudaSuccess)
        return error;
    dim3 own = required(function);
    int size = own.x ? (int)size_of(own) : most_blocks(function);
    if (device_current()->simulated.compute_capability < 90)
        size = 1;
    while (!own.x && size > 1 &&
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
    struct cluster_wish wish = wish_of(config);
    dim3 own = required(function), size = own.x ? own : wish.size;
    if (size.x == 0 || (own.x && wish.size.x && !same(own, wish.size)))
        return api_error(cudaErrorInvalidClusterSize,
                         "neither kernel %s nor the configuration says how large a cluster is, or they disagree",
                         function->plain_name);
    error = check_size(function, size, most_blocks(function));
    if (error == cudaSuccess)
        *clusters =
            cluster_occupancy(function, (int)size_of(size), (int)size_of(config->blockDim), config->dynamicSmemBytes);
    return error;
}

cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *function, const cudaLaunchConfig_t *config) {
    return DEVICE_CALL(max_clusters(clusters, function, config));
}
