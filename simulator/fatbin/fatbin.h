// The fat binary that nvcc puts into a host program: one image a -gencode option, of which the simulator wants PTX.
// Nothing in it is trusted: every length is checked against the bytes that are there.
#ifndef SIMULATOR_FATBIN_H
#define SIMULATOR_FATBIN_H

#include <stdbool.h>
#include <stddef.h>

struct fatbin_ptx {
    char *text;    // PTX, [length], a 0 after it
    size_t length; // without the 0
    int target;    // 90 for compute_90 and compute_90a
};

// The PTX that a device of that compute capability (90 for 9.0) would compile: the one for the highest architecture
// that is not above it. wrapper is the pointer that a program gives to __cudaRegisterFatBinary. On failure returns
// false and writes one line to error that says how to compile the program instead. Free the text with fatbin_free.
bool fatbin_read_wrapper(const void *wrapper, int compute_capability, struct fatbin_ptx *ptx, char *error,
                         size_t error_size);

// The same from the fat binary itself (what the wrapper points to), of which length bytes may be read.
bool fatbin_read(const void *bytes, size_t length, int compute_capability, struct fatbin_ptx *ptx, char *error,
                 size_t error_size);

// Of a program that was linked with -rdc=true: the fat binaries of its files, ended by NULL, for fatbin_read_part; NULL
// where it was not.
const void *const *fatbin_parts(const void *wrapper);
bool fatbin_read_part(const void *part, int compute_capability, struct fatbin_ptx *ptx, char *error, size_t error_size);

void fatbin_free(struct fatbin_ptx *ptx);

#endif
