// Bulk copies (cp.async.bulk and its tensor form, cp.reduce.async.bulk) and asynchronous stores of threads (st.async,
// red.async). A copy to shared memory is in flight until a warp waits on the mbarrier that it signals, a copy from
// shared to global memory until a warp waits for its group.
//
//   bulk_run.c      copies to shared memory, of one block or of several; binding
//   bulk_store.c    copies from shared to global memory; groups
//   bulk_copy_remote.c  copies to another block's shared memory; st.async, red.async
#ifndef SIMULATOR_MEMORY_BULK_H
#define SIMULATOR_MEMORY_BULK_H

#include "../machine/block.h"
#include "address.h"
#include "tensor_box.h"

#define TENSOR_ALIGNMENT 128 // of a box in shared memory

struct bulk_operands {
    struct operand_address to, from, barrier;
    operand_ref size, blocks; // blocks: of .multicast, NO_OPERAND: none
    operand_ref coordinate[TENSOR_MOST_DIMENSIONS], offset[TENSOR_MOST_DIMENSIONS - 2]; // offset: of pixels
    bool has_offsets;
};

struct bulk_segment { // a row of 16-byte units, or a part of one
    uint32_t offset, bytes;
};

struct bulk_copy {
    struct bulk_copy *next;
    uint32_t bytes; // transaction bytes of the mbarrier
    uint32_t phase; // of the mbarrier when the copy was issued
    int32_t pc;
    struct warp *issuer;
    int lane;
    enum ptx_type reduces; // elements of this type are reduced into memory; PTX_NO_TYPE: they overwrite it
    uint32_t read_clock;   // of the issuing block's bulk agent, which reads its shared memory; 0: none
    uint32_t time;         // of landing, by traffic/work.h
    int swizzle;           // mode of the tensor map; -1: there is no map
    uint32_t segments;
    struct bulk_segment *segment; // [segments] the destination, in the order of data
    uint8_t data[];
};

struct bulk_copy *bulk_make(struct warp *warp, const struct bound *bound, int lane, uint32_t bytes);
void bulk_land(struct block *block, const struct bulk_copy *copy, uint32_t epoch); // epoch: see race_proxy_land
void bulk_free(struct bulk_copy *copy);
void bulk_free_list(struct bulk_copy *first);

// Puts the copy in flight to offset of there's shared memory; it signals an mbarrier in the same memory. box: the
// destination of the bytes, NULL: consecutive bytes. The copy is freed if the result is not STEP_NEXT.
enum step bulk_issue(struct warp *warp, const struct bound *bound, int lane, struct bulk_copy *copy,
                     struct block *target, uint64_t offset, const struct box *box, uint64_t barrier_address);

// Executes one lane's copy to global memory.
enum step bulk_store_plain(struct warp *warp, const struct bound *bound, int lane);
enum step bulk_store_tensor(struct warp *warp, const struct bound *bound, int lane);
// Executes one lane's copy from shared memory to another block's shared memory.
enum step bulk_copy_remote(struct warp *warp, const struct bound *bound, int lane);

// The access kind by which the traffic counts a copy between global and shared memory.
enum access_kind bulk_kind(const struct ptx_instruction *ptx);

// Checks the addresses and size of a copy without a tensor map; address: in global memory.
enum step bulk_check_plain(struct warp *warp, const struct bound *bound, int lane, uint64_t offset, uint64_t address,
                           uint32_t bytes, struct sim_allocation **allocation);

// Issues a read of shared memory by the bulk agent; returns its clock, 0 if no clock is kept. box: as for bulk_issue.
uint32_t bulk_begin_read(struct warp *warp, const struct bound *bound, int lane, uint32_t offset, uint32_t bytes,
                         const struct box *box);

// Passes the rows of a box to the recording.
void bulk_record_box(struct warp *warp, const struct bound *bound, bool stores, uint64_t offset, const struct box *box);

// Notes the clock of the latest copy to another block, which this block has to acquire before it exits.
bool bulk_note_remote_copy(struct warp *warp, const struct bound *bound, int lane, uint32_t clock);

// The block exits: copies to global memory land, and those without a wait are reported.
void bulk_end(struct block *block);
// The launch is cut off (order_budget_spent): copies to global memory land.
void bulk_land_all(struct block *block);
void bulk_discard(struct block *block); // without any report

#endif
