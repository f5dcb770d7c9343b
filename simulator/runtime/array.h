// Arrays: memory that textures and surfaces are made of, whose addresses a program never sees.
#ifndef SIMULATOR_RUNTIME_ARRAY_H
#define SIMULATOR_RUNTIME_ARRAY_H

#include "../machine/texture.h"
#include "api.h"

struct cudaArray {
    struct sim_allocation *allocation;
    struct cudaChannelFormatDesc format;
    struct cudaExtent extent; // in texels, as the program gave it: 0 where there is no such dimension
    size_t texel_bytes;
    unsigned flags;
    bool level; // of a mipmapped array, with which it is freed
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
void array_release(cudaArray_t array); // one that there is

// Bytes of a texel; 0 where no array has such ones: 1, 2 or 4 channels of 8, 16 or 32 bits.
size_t array_texel_bytes(const struct cudaChannelFormatDesc *format);

// How many there are of width, height and depth: at least 1.
size_t array_rows(cudaArray_const_t array);
size_t array_slices(cudaArray_const_t array);

// cudaDeviceReset.
void array_free_all(void);
void mipmap_free_all(void); // before the arrays
void texture_free_all(void);

#endif
