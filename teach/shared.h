// The arrays in a kernel's shared memory: what a recording says of them, and what the sources and the library add to
// that.
#ifndef SHARED_H
#define SHARED_H

#include "text.h"

// Writes the recording's line  "shared":[...],  with the element type and the dimensions of each array where the
// declaration in one of the sources (each NULL or its lines, source[count]) says them; in place of dynamic shared
// memory the members of the structure that lies over it, where the library tells (layout.h). kernel: its mangled name.
void shared_print(FILE *to, const char *line, const char *kernel, const char *library, const char *scratch,
                  const struct lines *source, int count);

// Of a declaration "__shared__ float4 Q_smem[COLUMNS], O_smem[2][THREADS];" in one of the sources what it says of
// `name`. False where none declares it. A dimension that cannot be computed is 0.
struct shared_declaration {
    char element[64];
    int element_bytes; // 0: not known
    int dimensions;
    long long dimension[6];
};
bool shared_find(const char *name, const struct lines *source, int count, struct shared_declaration *declaration);

#endif
