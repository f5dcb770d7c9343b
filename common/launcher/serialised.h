// Kernels whose products of wgmma ptxas lets end one by one.
#ifndef LAUNCHER_SERIALISED_H
#define LAUNCHER_SERIALISED_H

#include <stdbool.h>
#include <stddef.h>

// The line that scripts/compile-kernel has left beside the library, without its end. False where there is none.
bool serialised_read(const char *library, char *line, size_t size);

#endif
