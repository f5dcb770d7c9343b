// Records a sample of a launch's warps, for a page that draws them (README.md describes the format), if the environment
// variable SIMULATOR_RECORDING names a file.
//
// Recording costs nothing if it is off: a recorded launch has a copy of the kernel's code, in which every instruction
// is run by recording.c, which counts, runs the original and records its results.
//
//   recording.c   launches and warps; the copy of the code
//   samples.c     accesses to memory
//   events.c      copies and barriers; the line at which a warp is
//   values.c      values that lines compute
//   assignment.c  the variable that a source line assigns to
//   findings.c    the accesses of a finding
//   fragments.c   which lane holds which element
//   write.c       the file; write_kernel.c, fits.c
//   json.c        text buffer
#ifndef SIMULATOR_RECORDING_RECORDING_H
#define SIMULATOR_RECORDING_RECORDING_H

#include "../machine/access.h"
#include "../machine/block.h"

struct wgmma_tile; // ../lanes/wgmma.h

bool recording_enabled(void);

// Call before the first block runs, when run->kernel is set. NULL if this launch is not recorded: then its warps run
// run->kernel->code. A recorded launch has one host thread.
struct recording *recording_begin(const struct run *run);
void recording_end(struct recording *recording, bool complete);

const struct bound *recording_code(const struct recording *recording);

// A block is created, starts, is freed. recording may be NULL.
bool recording_make_block(struct recording *recording, struct block *block);
void recording_start_block(struct block *block);
void recording_free_block(struct block *block);

// An access in one space, before it is executed. address and to as in struct traffic_access. Call if warp->record is
// set.
void recording_access(struct warp *warp, int32_t instruction, enum ptx_space space, enum access_kind kind,
                      uint32_t bytes, uint32_t mask, const uint64_t *address, const uint64_t *to);

// The events of README.md, with its a and b.
enum recording_event {
    RECORDING_COPY,
    RECORDING_COMMIT,
    RECORDING_WAIT,
    RECORDING_ARRIVE,
    RECORDING_PASS,
    RECORDING_SYNCWARP,
    RECORDING_INIT,
    RECORDING_EXPECT,
    RECORDING_SIGNAL,
    RECORDING_TEST,
    RECORDING_READY,
    RECORDING_BULK,
    RECORDING_BULK_COMMIT,
    RECORDING_BULK_WAIT,
    RECORDING_WGMMA,
    RECORDING_WGMMA_COMMIT,
    RECORDING_WGMMA_WAIT,
    RECORDING_WGMMA_FENCE,
    RECORDING_FENCE,
    RECORDING_EX2,
    RECORDING_EVENTS
};
void recording_note(struct warp *warp, const struct bound *bound, enum recording_event event, int64_t a, int64_t b);

static inline void recording_event(struct warp *warp, const struct bound *bound, enum recording_event event, int64_t a,
                                   int64_t b) {
    if (warp->record)
        recording_note(warp, bound, event, a, b);
}

// A box that a bulk copy moves: rows of row_bytes, consecutive in shared memory from offset on; address[i] is the
// address of row i in global memory, 0 if it is out of bounds of the tensor. unit[] has the offsets of its 16-byte
// units in shared memory, row by row; NULL: not known.
void recording_box(struct warp *warp, const struct bound *bound, bool stores, uint32_t offset, uint32_t row_bytes,
                   uint32_t rows, const uint64_t *address, const int64_t *unit, size_t units);

// wgmma's operands in shared memory, k elements deep; a is NULL if A is in registers, else the warp has its rows from
// first_row on.
void recording_mma(struct warp *warp, const struct bound *bound, const struct wgmma_tile *a, uint32_t first_row,
                   const struct wgmma_tile *b, uint32_t k);

#endif
