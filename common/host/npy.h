// NumPy's .npy files: little-endian float32 in C order, versions 1 to 3 of the format. Nothing in a file is trusted.
#ifndef HOST_NPY_H
#define HOST_NPY_H

#include "message.h"

#include <stdint.h>

enum { NPY_MAX_DIMENSIONS = 8 };

struct npy {
    int dimensions;
    int64_t size[NPY_MAX_DIMENSIONS]; // each 1 or more
    int64_t elements;                 // their product
    float *data;
};

// False and a line that names the file where it cannot be used.
bool npy_read(const char *path, struct npy *array, struct message *error);
void npy_free(struct npy *array);

bool npy_write(const char *path, int dimensions, const int64_t *size, const float *data, struct message *error);

#endif
