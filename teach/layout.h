// Where the members of a structure lie, by the debug information of the host's part of a kernel's library: nvcc
// compiles a structure that a kernel lays over its dynamic shared memory for the host as well, which takes its size.
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

// The structure of so many bytes that the kernel is a template of, by its mangled name, or the only one of that size
// that has arrays. Calls readelf, which comes with the compiler; what it prints goes to the file `scratch`. False where
// the library says nothing of such a structure.
bool layout_read(const char *library, const char *scratch, const char *kernel, int64_t bytes,
                 struct shared_layout *layout);

#endif
