// Bulk copies (cp.async.bulk and its tensor form, cp.reduce.async.bulk) and what threads store asynchronously
// (st.async, red.async): what is on its way, to shared memory until the barrier that it signals is waited for, or from
// shared memory to global until its group is.
//
//   bulk_run.c      copies to shared memory, of one block or of several; binding
//   bulk_store.c    copies from shared to global memory; groups
//   bulk_between.c  from shared memory to that of another block; st.async, red.async
#ifndef SIMULATOR_MEMORY_BULK_H
#define SIMULATOR_MEMORY_BULK_H

#include "../machine/block.h"
#include "address.h"
#include "tensor_box.h"

#define TENSOR_ALIGNMENT 128 // of a box in shared memory

struct bulk_operands {
    struct operand_address to, from, barrier;
    place size, blocks; // blocks: of .multicast, NO_PLACE: none
    place coordinate[TENSOR_MOST_DIMENSIONS], offset[TENSOR_MOST_DIMENSIONS - 2]; // offset: of pixels
    bool has_offsets;
};

struct bulk_piece { // a row of 16-byte units, or less
    uint32_t offset, bytes;
};

struct bulk_copy {
    struct bulk_copy *next;
    uint32_t bytes; // as the barrier counts them
    uint32_t phase; // of the barrier when the copy was issued
    int32_t pc;
    struct warp *issuer;
    int lane;
    enum ptx_type reduces; // elements of this type are combined with what is there; PTX_NO_TYPE: they replace it
    uint32_t read_clock;   // of the issuing block's bulk agent, which reads its shared memory; 0: none does
    uint32_t time;         // when it has landed, by traffic/work.h
    int swizzle;           // of the tensor map; -1: it has none
    uint32_t pieces;
    struct bulk_piece *piece; // [pieces], where the bytes go, in the order of data
    uint8_t data[];
};

struct bulk_copy *bulk_make(struct warp *warp, const struct bound *bound, int lane, uint32_t bytes);
void bulk_land(struct block *block, const struct bulk_copy *copy, uint32_t key); // key: see race_proxy_land
void bulk_free(struct bulk_copy *copy);
void bulk_free_list(struct bulk_copy *first);

// The copy is on its way to offset of there's shared memory, and will signal a barrier in it. box: where its bytes go,
// NULL: to neighbouring ones. It is freed where the result is not STEP_NEXT.
enum step bulk_issue(struct warp *warp, const struct bound *bound, int lane, struct bulk_copy *copy,
                     struct block *there, uint64_t offset, const struct box *box, uint64_t barrier_address);

// One lane's copy to global memory.
enum step bulk_store_plain(struct warp *warp, const struct bound *bound, int lane);
enum step bulk_store_tensor(struct warp *warp, const struct bound *bound, int lane);
// One lane's copy from shared memory to that of a block of the cluster.
enum step bulk_between(struct warp *warp, const struct bound *bound, int lane);

// What traffic counts a copy between global and shared memory as.
enum access_kind bulk_kind(const struct ptx_instruction *ptx);

// Addresses and size of a copy that is no tensor's; address: in global memory.
enum step bulk_check_plain(struct warp *warp, const struct bound *bound, int lane, uint64_t offset, uint64_t address,
                           uint32_t bytes, struct sim_allocation **allocation);

// The agent that reads shared memory begins; returns its clock, 0 where nobody keeps it. box: as for bulk_issue.
uint32_t bulk_begin_reading(struct warp *warp, const struct bound *bound, int lane, uint32_t offset, uint32_t bytes,
                            const struct box *box);

// Tells the recording of the rows of a box.
void bulk_record_box(struct warp *warp, const struct bound *bound, bool stores, uint64_t offset, const struct box *box);

// What the block has issued since it began is read until this clock; the block has to know of that before it ends.
bool bulk_note_between(struct warp *warp, const struct bound *bound, int lane, uint32_t clock);

// The block has come to its end: copies to global memory land, and those that nobody has waited for are reported.
void bulk_end(struct block *block);
// The launch is left where it is (order_spent): copies to global memory land, as they soon would.
void bulk_cut(struct block *block);
void bulk_discard(struct block *block); // without a word

#endif
