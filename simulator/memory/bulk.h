// Bulk copies (cp.async.bulk and its tensor form): what is on its way, to shared memory until the barrier that it
// signals is waited for, or from shared memory to global until its group is.
#ifndef SIMULATOR_MEMORY_BULK_H
#define SIMULATOR_MEMORY_BULK_H

#include "../machine/block.h"

struct bulk_piece { // a row of 16-byte units, or less
    uint32_t offset, bytes;
};

struct bulk_copy {
    struct bulk_copy *next;
    uint32_t bytes; // as the barrier counts them
    uint32_t phase; // of the barrier when the copy was issued
    int32_t pc;
    uint32_t time; // when it has landed, by traffic/work.h
    uint32_t pieces;
    struct bulk_piece *piece; // [pieces], where the bytes go, in the order of data
    uint8_t data[];
};

void bulk_land(struct block *block, const struct bulk_copy *copy, uint32_t key); // key: see race_proxy_land
void bulk_free(struct bulk_copy *copy);
void bulk_free_list(struct bulk_copy *first);

// The block has come to its end: copies to global memory land, and those that nobody has waited for are reported.
void bulk_end(struct block *block);
void bulk_discard(struct block *block); // without a word

#endif
