#include "host_before.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct host_before {
    uint8_t *bytes;          // of the allocation
    uint8_t *before, *after; // [size]; the system provides only the pages that are used
    size_t size;
};

struct host_before *host_before_new(uint8_t *bytes, size_t size) {
    struct host_before *copies = malloc(sizeof *copies);
    void *reserved = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!copies || reserved == MAP_FAILED) {
        if (reserved != MAP_FAILED)
            munmap(reserved, 2 * size);
        free(copies);
        return NULL;
    }
    *copies = (struct host_before){bytes, reserved, (uint8_t *)reserved + size, size};
    return copies;
}

void host_before_free(struct host_before *copies) {
    if (copies)
        munmap(copies->before, 2 * copies->size);
    free(copies);
}

void host_before_keep(struct host_before *copies, size_t offset, size_t bytes) {
    memcpy(copies->before + offset, copies->bytes + offset, bytes);
}

// From now on `before` is what the host sees, so that its own writes can be told.
void host_before_show(struct host_before *copies, size_t offset, size_t bytes, const void *allocation,
                      bool (*pending)(const void *allocation, size_t offset)) {
    memcpy(copies->after + offset, copies->bytes + offset, bytes);
    for (size_t word = offset; word < offset + bytes; word += 4)
        if (pending(allocation, word))
            memcpy(copies->bytes + word, copies->before + word, 4);
        else
            memcpy(copies->before + word, copies->bytes + word, 4);
}

void host_before_end(struct host_before *copies, size_t offset, size_t bytes) {
    for (size_t i = offset; i < offset + bytes; i++)
        if (copies->bytes[i] == copies->before[i])
            copies->bytes[i] = copies->after[i];
        else
            copies->before[i] = copies->bytes[i];
}
