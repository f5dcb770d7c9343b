// The fat binary that nvcc embeds in a host program: one image per -gencode option, of which the simulator uses PTX.
// The data is not trusted: every length is checked against the available bytes.
#ifndef SIMULATOR_FATBIN_H
#define SIMULATOR_FATBIN_H

#include <stdbool.h>
#include <stddef.h>

struct fatbin_ptx {
    char *text;    // PTX, [length] and a terminating 0
    size_t length; // without the 0
    int target;    // 90 for compute_90 and compute_90a
};

// Reads the PTX that a device of that compute capability (90 for 9.0) would compile: the one for the highest
// architecture that is not above it. wrapper is the argument of __cudaRegisterFatBinary. On failure returns false and
// writes to error one line that says how to compile the program instead. Free the text with fatbin_free.
bool fatbin_read_wrapper(const void *wrapper, int compute_capability, struct fatbin_ptx *ptx, char *error,
                         size_t error_size);

// Reads the PTX from the fat binary itself (the wrapper points to it), of which length bytes are readable.
bool fatbin_read(const void *bytes, size_t length, int compute_capability, struct fatbin_ptx *ptx, char *error,
                 size_t error_size);

// Of a program that was linked with -rdc=true: the fat binaries of its object files, terminated by NULL, for
// fatbin_read_member; NULL for any other program.
const void *const *fatbin_members(const void *wrapper);
bool fatbin_read_member(const void *part, int compute_capability, struct fatbin_ptx *ptx, char *error,
                        size_t error_size);

void fatbin_free(struct fatbin_ptx *ptx);

#endif
