// The arrays in a kernel's shared memory: offsets from a recording, types and dimensions from the sources and the
// library.
#ifndef SHARED_H
#define SHARED_H

#include "text.h"

// Writes the recording's line  "shared":[...],  and adds the element type and dimensions of each array from its
// declaration in the sources (source[count], each NULL or its lines). Dynamic shared memory is replaced by the members
// of the structure that the kernel places there, if the library has its layout (layout.h). kernel: the mangled name.
void print_shared_arrays(FILE *to, const char *line, const char *kernel, const char *library, const char *scratch,
                         const struct lines *source, int count);

// Finds the declaration of `name`, as in "__shared__ float4 Q_smem[COLUMNS], O_smem[2][THREADS];". False if no source
// declares it. A dimension that cannot be computed is 0.
struct shared_declaration {
    char element[64];
    int element_bytes; // 0: unknown
    int dimensions;
    long long dimension[6];
};
bool find_shared_declaration(const char *name, const struct lines *source, int count,
                             struct shared_declaration *declaration);

#endif
