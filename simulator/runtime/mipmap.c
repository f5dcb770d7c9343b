// Mipmapped arrays: an array for each level, half as large as the one before.
#include "array.h"

#include <stdlib.h>

static struct cudaMipmappedArray *mipmaps;

cudaError_t mipmap_check(cudaMipmappedArray_const_t mipmap) {
    for (const struct cudaMipmappedArray *one = mipmaps; one; one = one->next)
        if (one == mipmap)
            return cudaSuccess;
    return api_error(cudaErrorInvalidResourceHandle, "the mipmapped array does not exist, or was freed");
}

static size_t half(size_t size) {
    return size > 1 ? size / 2 : size;
}

// Layers and the faces of a cube stay as many.
static struct cudaExtent next_level(struct cudaExtent extent, unsigned flags) {
    const bool keeps_depth = flags & (cudaArrayLayered | cudaArrayCubemap);
    return (struct cudaExtent){half(extent.width), half(extent.height),
                               keeps_depth ? extent.depth : half(extent.depth)};
}

static unsigned most_levels(struct cudaExtent extent, unsigned flags) {
    unsigned levels = 1;
    for (; extent.width > 1 || extent.height > 1 ||
           (extent.depth > 1 && !(flags & (cudaArrayLayered | cudaArrayCubemap)));
         levels++)
        extent = next_level(extent, flags);
    return levels;
}

static void drop(struct cudaMipmappedArray *mipmap) {
    while (mipmap->levels)
        array_release(mipmap->level[--mipmap->levels]);
    free(mipmap);
}

static cudaError_t allocate(cudaMipmappedArray_t *mipmap, const struct cudaChannelFormatDesc *format,
                            struct cudaExtent extent, unsigned levels, unsigned flags) {
    struct cudaMipmappedArray *made = mipmap ? calloc(1, sizeof *made) : NULL;
    cudaError_t error = cudaSuccess;
    if (!mipmap)
        return api_error(cudaErrorInvalidValue, "the pointer is NULL");
    if (!made)
        return api_error(cudaErrorMemoryAllocation, "the host has no memory left");
    do {
        error = array_allocate(&made->level[made->levels], format, extent, flags);
        if (error != cudaSuccess)
            break;
        made->level[made->levels++]->level = true;
        extent = next_level(extent, flags);
    } while (made->levels < levels && made->levels < most_levels(made->level[0]->extent, flags));
    if (error != cudaSuccess) {
        drop(made);
        return error;
    }
    made->next = mipmaps;
    mipmaps = made;
    *mipmap = made;
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
        return api_error(cudaErrorInvalidValue, "level %u of %u", level, mipmap->levels);
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
    drop(mipmap);
    return cudaSuccess;
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t mipmap) {
    return WAITING_CALL(release(mipmap));
}

void mipmap_free_all(void) {
    while (mipmaps) {
        struct cudaMipmappedArray *next = mipmaps->next;
        free(mipmaps); // its levels go with all arrays
        mipmaps = next;
    }
}
