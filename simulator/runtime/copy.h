// Copies between host and device, of which symbol.c makes those by name.
#ifndef SIMULATOR_RUNTIME_COPY_H
#define SIMULATOR_RUNTIME_COPY_H

#include "api.h"

// Copies after checking that both sides are what kind says and hold size bytes. cudaErrorInvalidMemcpyDirection,
// cudaErrorInvalidValue.
cudaError_t copy_bytes(void *to, const void *from, size_t size, enum cudaMemcpyKind kind);

#endif
