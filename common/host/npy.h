// NumPy's .npy files: little-endian float32 in C order, versions 1 to 3 of the format. Nothing in a file is trusted.
#ifndef HOST_NPY_H
#define HOST_NPY_H

#include "dtype.h"
#include "message.h"

#include <stdint.h>

enum { NPY_MAX_DIMENSIONS = 8 };

struct npy {
    int dimensions;
    int64_t size[NPY_MAX_DIMENSIONS]; // each 1 or more
    int64_t elements;                 // their product
    enum attention_dtype dtype;       // that the file has
    float *data;                      // [elements], whatever the type is in the file
};

// Little-endian float32, float16 as NumPy writes it, and bfloat16, which NumPy does not know: two bytes of raw data, as
// ml_dtypes writes it ('<V2'), or unsigned integers of two bytes, as a view of such an array is written ('<u2').
// False and a line that names the file where it cannot be used.
bool npy_read(const char *path, struct npy *array, struct message *error);
void npy_free(struct npy *array);

// data is written as dtype, rounded to it; bfloat16 as ml_dtypes writes it, which is raw data of two bytes.
bool npy_write(const char *path, int dimensions, const int64_t *size, enum attention_dtype dtype, const float *data,
               struct message *error);

#endif
