// The checksum of a file's contents, "CRC-BYTES" as the POSIX command cksum computes them. .progress/ uses it to know
// whether a file is still the one that was checked.
#ifndef STAMP_H
#define STAMP_H

#include <stdbool.h>
#include <stdint.h>

enum { CHECKSUM_TEXT = 40 };

// Starts as {0}; several files can be added to one checksum.
struct checksum {
    uint32_t sum;
    uint64_t bytes;
};

// False if the file cannot be read.
bool checksum_add_file(struct checksum *checksum, const char *path);
const char *checksum_text(const struct checksum *checksum, char text[CHECKSUM_TEXT]);

// "missing" if the file cannot be read.
const char *file_checksum(const char *path, char text[CHECKSUM_TEXT]);

#endif
