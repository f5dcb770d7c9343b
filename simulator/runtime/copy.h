// Copies between host and device; symbol.c makes the copies by symbol.
#ifndef SIMULATOR_RUNTIME_COPY_H
#define SIMULATOR_RUNTIME_COPY_H

#include "api.h"

// Copies size bytes after checking that both sides match the direction and hold size bytes:
// cudaErrorInvalidMemcpyDirection, cudaErrorInvalidValue. A synchronous copy cannot be captured; an asynchronous one
// becomes a graph node if the stream is being captured.
cudaError_t copy_bytes_sync(void *to, const void *from, size_t size, enum cudaMemcpyKind kind);
cudaError_t copy_bytes_async(cudaStream_t stream, void *to, const void *from, size_t size, enum cudaMemcpyKind kind);

// Moves bytes of device memory at once; the order among other work is the caller's to keep.
cudaError_t copy_bytes_unordered(void *to, const void *from, size_t size);

// The device address of size bytes of the device variable that a host symbol denotes (symbol.c).
cudaError_t symbol_range(const void *symbol, size_t offset, size_t size, void **device);

#endif
