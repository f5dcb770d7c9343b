// Driver functions that a program can look up by name: see driver.c.
#ifndef SIMULATOR_RUNTIME_DRIVER_H
#define SIMULATOR_RUNTIME_DRIVER_H

#include <cuda.h>

// Returns CUDA_ERROR_INVALID_VALUE, and prints a line that names the argument, if the driver would reject it;
// CUDA_ERROR_NOT_SUPPORTED if the driver would accept it but the simulator does not support it.
CUresult driver_tensor_map_encode_tiled(CUtensorMap *result, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                        const cuuint64_t *size, const cuuint64_t *stride, const cuuint32_t *box,
                                        const cuuint32_t *step, CUtensorMapInterleave interleave,
                                        CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2_promotion,
                                        CUtensorMapFloatOOBfill fill);
CUresult driver_tensor_map_encode_im2col(CUtensorMap *result, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                         const cuuint64_t *size, const cuuint64_t *stride, const int *lower,
                                         const int *upper, cuuint32_t channels, cuuint32_t pixels,
                                         const cuuint32_t *step, CUtensorMapInterleave interleave,
                                         CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2_promotion,
                                         CUtensorMapFloatOOBfill fill);
CUresult driver_tensor_map_replace_address(CUtensorMap *map, void *address);

#endif
