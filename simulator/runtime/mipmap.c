// Mipmapped arrays: one array per level, each half as large as the previous one.
#include "array.h"

#include <stdlib.h>

static struct cudaMipmappedArray *mipmaps;

cudaError_t mipmap_check(cudaMipmappedArray_const_t mipmap) {
    for (const struct cudaMipmappedArray *entry = mipmaps; entry; entry = entry->next)
        if (entry == mipmap)
            return cudaSuccess;
    return api_error(cudaErrorInvalidResourceHandle,
                     "invalid mipmapped array handle: never allocated, or already freed");
}

static size_t halve(size_t size) {
    return size > 1 ? size / 2 : size;
}

// All levels have the same number of layers and cube faces.
static struct cudaExtent next_level(struct cudaExtent extent, unsigned flags) {
    const bool keeps_depth = flags & (cudaArrayLayered | cudaArrayCubemap);
    return (struct cudaExtent){halve(extent.width), halve(extent.height),
                               keeps_depth ? extent.depth : halve(extent.depth)};
}

static unsigned max_levels(struct cudaExtent extent, unsigned flags) {
    unsigned levels = 1;
    for (; extent.width > 1 || extent.height > 1 ||
           (extent.depth > 1 && !(flags & (cudaArrayLayered | cudaArrayCubemap)));
         levels++)
        extent = next_level(extent, flags);
    return levels;
}

static void free_levels(struct cudaMipmappedArray *mipmap) {
    while (mipmap->levels)
        array_release(mipmap->level[--mipmap->levels]);
    free(mipmap);
}

static cudaError_t allocate(cudaMipmappedArray_t *mipmap, const struct cudaChannelFormatDesc *format,
                            struct cudaExtent extent, unsigned levels, unsigned flags) {
    struct cudaMipmappedArray *created = mipmap ? calloc(1, sizeof *created) : NULL;
    cudaError_t error = cudaSuccess;
    if (!mipmap)
        return api_error(cudaErrorInvalidValue, "the pointer is NULL");
    if (!created)
        return api_error(cudaErrorMemoryAllocation, "out of host memory");
    do {
        error = array_allocate(&created->level[created->levels], format, extent, flags);
        if (error != cudaSuccess)
            break;
        created->level[created->levels++]->level = true;
        extent = next_level(extent, flags);
    } while (created->levels < levels && created->levels < max_levels(created->level[0]->extent, flags));
    if (error != cudaSuccess) {
        free_levels(created);
        return error;
    }
    created->next = mipmaps;
    mipmaps = created;
    *mipmap = created;
    return cudaSuccess;
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *mipmap, const struct cudaChannelFormatDesc *format,
                                     struct cudaExtent extent, unsigned int levels, unsigned int flags) {
    return DEVICE_CALL(allocate(mipmap, format, extent, levels, flags));
}

static cudaError_t get_level(cudaArray_t *array, cudaMipmappedArray_const_t mipmap, unsigned level) {
    cudaError_t error = array ? mipmap_check(mipmap) : api_error(cudaErrorInvalidValue, "the pointer is NULL");
    if (error != cudaSuccess)
        return error;
    if (level >= mipmap->levels)
        return api_error(cudaErrorInvalidValue, "level %u is out of range: the mipmapped array has %u levels", level,
                         mipmap->levels);
    *array = mipmap->level[level];
    return cudaSuccess;
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *array, cudaMipmappedArray_const_t mipmap, unsigned int level) {
    return DEVICE_CALL(get_level(array, mipmap, level));
}

static cudaError_t release(cudaMipmappedArray_t mipmap) {
    cudaError_t error = mipmap ? mipmap_check(mipmap) : cudaSuccess;
    if (!mipmap || error != cudaSuccess)
        return error;
    struct cudaMipmappedArray **link = &mipmaps;
    while (*link != mipmap)
        link = &(*link)->next;
    *link = mipmap->next;
    free_levels(mipmap);
    return cudaSuccess;
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t mipmap) {
    return SYNCHRONIZING_CALL(release(mipmap));
}

void mipmap_free_all(void) {
    while (mipmaps) {
        struct cudaMipmappedArray *next = mipmaps->next;
        free(mipmaps); // array_free_all frees its levels
        mipmaps = next;
    }
}
