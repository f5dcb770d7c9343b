// Arrays that forms of textures and surfaces read and write.
#ifndef ARRAYS_CUH
#define ARRAYS_CUH

#include "forms.cuh"

#include <cuda_runtime.h>

enum { WIDTH = 16, HEIGHT = 8, DEPTH = 8 }; // powers of two: parts of a size are exact

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        const cudaError_t status = call;                                                                               \
        if (status != cudaSuccess) {                                                                                   \
            return status;                                                                                             \
        }                                                                                                              \
    } while (0)

#endif
