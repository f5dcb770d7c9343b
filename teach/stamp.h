// A stamp of a file's contents, by which .progress/ knows what was checked: "CHECKSUM-BYTES", as cksum of POSIX has
// them.
#ifndef STAMP_H
#define STAMP_H

#include <stdbool.h>
#include <stdint.h>

enum { STAMP_TEXT = 40 };

// Begins as {0}; several files make one stamp.
struct stamp {
    uint32_t sum;
    uint64_t bytes;
};

// False where the file cannot be read.
bool stamp_add(struct stamp *stamp, const char *path);
const char *stamp_end(const struct stamp *stamp, char text[STAMP_TEXT]);

// "missing" where the file cannot be read.
const char *stamp_of(const char *path, char text[STAMP_TEXT]);

#endif
