// A parallel loop on all cores of the host.
#ifndef HOST_PARALLEL_H
#define HOST_PARALLEL_H

#include <stdint.h>

int parallel_threads(void);

// Calls body for disjoint ranges [begin, end) that cover 0 .. count, chunk iterations at a time, from several threads.
void parallel_for(int64_t count, int64_t chunk, void (*body)(int64_t begin, int64_t end, void *context), void *context);

// malloc() of count elements; ends the process with one line if the host has no memory left.
void *host_allocate(int64_t count, int64_t size);

// The same, all bytes 0.
void *host_zeros(int64_t count, int64_t size);

#endif
