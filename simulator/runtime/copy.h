// Copies between host and device, of which symbol.c makes those by name.
#ifndef SIMULATOR_RUNTIME_COPY_H
#define SIMULATOR_RUNTIME_COPY_H

#include "api.h"

// Copies after checking that both sides are what kind says and hold size bytes. cudaErrorInvalidMemcpyDirection,
// cudaErrorInvalidValue.
cudaError_t copy_bytes(void *to, const void *from, size_t size, enum cudaMemcpyKind kind);

// The same as a call that waits, which cannot be captured; and in a stream, where it is a node while that is captured.
cudaError_t copy_bytes_now(void *to, const void *from, size_t size, enum cudaMemcpyKind kind);
cudaError_t copy_bytes_in(cudaStream_t stream, void *to, const void *from, size_t size, enum cudaMemcpyKind kind);

// Where so many bytes of the device variable lie that a host symbol stands for (symbol.c).
cudaError_t symbol_range(const void *symbol, size_t offset, size_t size, void **device);

#endif
