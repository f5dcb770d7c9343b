// Kernels whose wgmma instructions ptxas serializes.
#ifndef LAUNCHER_SERIALISED_H
#define LAUNCHER_SERIALISED_H

#include <stdbool.h>
#include <stddef.h>

// Reads the line that scripts/compile-kernel has written next to the library, without its newline. False if there is
// none.
bool serialised_read(const char *library, char *line, size_t size);

#endif
