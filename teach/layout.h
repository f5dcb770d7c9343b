// The layout of the structure that a kernel places in dynamic shared memory, from the debug information of the host
// code: the host takes the size of the structure, so nvcc compiles it for the host as well.
#ifndef LAYOUT_H
#define LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

enum { LAYOUT_DIMENSIONS = 6, LAYOUT_MEMBERS = 32, LAYOUT_NAME = 64 };

struct layout_member {
    char name[LAYOUT_NAME], element[LAYOUT_NAME]; // "K", "float"
    int64_t offset, bytes, element_bytes;
    int dimensions; // 0: a single element
    int64_t dimension[LAYOUT_DIMENSIONS];
};

struct shared_layout {
    int members;
    struct layout_member member[LAYOUT_MEMBERS];
};

// Finds the structure of `bytes` bytes that is a template argument of the kernel (by its mangled name), or else the
// only structure of that size that has arrays. Calls readelf, which comes with the compiler and writes to the file
// `scratch`. False if the library has no such structure.
bool layout_read(const char *library, const char *scratch, const char *kernel, int64_t bytes,
                 struct shared_layout *layout);

#endif
