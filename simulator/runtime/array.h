// CUDA arrays: the memory of textures and surfaces. A program never sees their addresses.
#ifndef SIMULATOR_RUNTIME_ARRAY_H
#define SIMULATOR_RUNTIME_ARRAY_H

#include "../machine/texture.h"
#include "api.h"

struct cudaArray {
    struct sim_allocation *allocation;
    struct cudaChannelFormatDesc format;
    struct cudaExtent extent; // in texels, as the program gave it; 0: no such dimension
    size_t texel_bytes;
    unsigned flags;
    bool level; // a level of a mipmapped array, which frees it
    struct cudaArray *next;
};

struct cudaMipmappedArray {
    cudaArray_t level[SIM_LEVELS];
    unsigned levels;
    struct cudaMipmappedArray *next;
};

cudaError_t array_check(cudaArray_const_t array); // cudaErrorInvalidResourceHandle
cudaError_t mipmap_check(cudaMipmappedArray_const_t mipmap);

cudaError_t array_allocate(cudaArray_t *array, const struct cudaChannelFormatDesc *format, struct cudaExtent extent,
                           unsigned flags);
void array_release(cudaArray_t array); // array must be valid

// Bytes per texel; 0: not a valid format, which has 1, 2 or 4 channels of 8, 16 or 32 bits.
size_t array_texel_bytes(const struct cudaChannelFormatDesc *format);

// The number of rows and slices: at least 1.
size_t array_rows(cudaArray_const_t array);
size_t array_slices(cudaArray_const_t array);

// cudaDeviceReset.
void array_free_all(void);
void mipmap_free_all(void); // call it before array_free_all
void texture_free_all(void);

#endif
