// Warpgroup MMA. Each of the four warps computes its own 16 rows when it reaches the instruction; the results count as
// in flight until the warp has waited for them: see wgmma.c and wgmma_registers.c.
#ifndef SIMULATOR_INSTRUCTIONS_WGMMA_H
#define SIMULATOR_INSTRUCTIONS_WGMMA_H

#include "../lanes/wgmma.h"
#include "../machine/binder.h"

struct block;

// Called before a block starts, and when it is freed.
void wgmma_start(struct block *block);
void wgmma_free(struct block *block);

// Notes that the n-th wgmma of the warp writes this register, or reads it as a fragment of A, until the warp has waited
// for it. number: of the register, because registers may share storage.
void wgmma_writes(struct warp *warp, operand_ref where, int32_t number, uint32_t n);
void wgmma_reads(struct warp *warp, operand_ref where, int32_t number, uint32_t n);

// The wgmma that is writing the operand's storage, 0: none.
uint32_t wgmma_in_flight(const struct warp *warp, operand_ref where);
// The wgmma that still write or read this register, 0: none.
uint32_t wgmma_still_writes(const struct warp *warp, operand_ref where, int32_t number);
uint32_t wgmma_still_reads(const struct warp *warp, operand_ref where, int32_t number);

// Reports that the instruction accesses (does) a register that the n-th wgmma may still be accessing (doing).
void wgmma_report_in_flight(struct warp *warp, const struct bound *bound, uint32_t n, const char *does,
                            const char *doing);

// Makes every instruction of a bound kernel that accesses a register of wgmma check whether it is in flight. false: out
// of memory.
bool wgmma_watch(struct binder *binder);

// The element type of an operand in shared memory.
static inline enum wgmma_element wgmma_element_of(enum ptx_type type) {
    switch (type) {
    case PTX_F16:
        return WGMMA_F16;
    case PTX_BF16:
        return WGMMA_BF16;
    case PTX_TF32:
        return WGMMA_TF32;
    case PTX_E4M3:
        return WGMMA_E4M3;
    case PTX_S8:
        return WGMMA_S8;
    case PTX_U8:
        return WGMMA_U8;
    case PTX_B1:
        return WGMMA_BITS;
    default:
        return WGMMA_E5M2;
    }
}

#endif
