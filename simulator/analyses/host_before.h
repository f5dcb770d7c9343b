// What the host reads too early. The simulator completes work within the call, and a GPU may not even have begun it: a
// host that reads before it has waited sees here what was there before the work. Pages of an allocation are kept when
// pending work first writes them, and shown to the host when its read is found to be a race.
#ifndef SIMULATOR_ANALYSES_HOST_BEFORE_H
#define SIMULATOR_ANALYSES_HOST_BEFORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The contents of an allocation's pages before and after the pending work; size: a multiple of the page's. NULL: out of
// memory, and the host sees what the work has written.
struct host_before;
struct host_before *host_before_new(uint8_t *bytes, size_t size);
void host_before_free(struct host_before *copies);

// Before the first write of pending work to the bytes.
void host_before_keep(struct host_before *copies, size_t offset, size_t bytes);

// Puts the former value of each word in place for which pending(word's offset in the allocation) is true; end: puts the
// work's values back, except where the host has written in between. Callable in a signal handler.
void host_before_show(struct host_before *copies, size_t offset, size_t bytes, const void *allocation,
                      bool (*pending)(const void *allocation, size_t offset));
void host_before_end(struct host_before *copies, size_t offset, size_t bytes);

#endif
