// A kernel as the interpreter runs it: each PTX instruction as a function to call and the places of its operands.
#ifndef SIMULATOR_MACHINE_BOUND_H
#define SIMULATOR_MACHINE_BOUND_H

#include "../lanes/lanes.h"
#include "../ptx/program.h"
#include "launch.h"

struct warp;
struct bound;

// What the warp does after an instruction.
enum step {
    STEP_NEXT,  // goes on behind it
    STEP_MOVED, // the split has a new pc, mask or state: look at it again
    STEP_STOP,  // the launch has ended with a fatal finding
};
typedef enum step bound_run(struct warp *warp, const struct bound *bound, uint32_t mask);

// Where a register or a constant of 32 lanes lies: twice the byte offset in the warp's register file, or in the
// kernel's constants with bit 0 set. A constant looks like a register, so that operations need not ask.
typedef uint32_t place;
#define NO_PLACE UINT32_MAX

// How an atomic, a volatile access or the like is ordered, as the PTX manual has it; those that say nothing are
// relaxed.
enum { ORDER_ACQUIRE = 1, ORDER_RELEASE = 2, ORDER_CTA = 4 }; // the last: its scope is the block

enum bound_kind { BOUND_LANES, BOUND_BRANCH, BOUND_RUN };

struct bound {
    enum bound_kind kind;
    place guard; // a predicate; one that is always true where the instruction has no guard
    uint32_t guard_flip;
    lane_operation *lanes; // BOUND_LANES: d = lanes(a, b, c)
    bound_run *run;        // BOUND_RUN
    place d, a, b, c;
    uint32_t extra;
    uint8_t result_cell; // bytes of a lane in d: 4 or 8, 0 for a predicate
    bool saturate;       // .sat on an fp32 result

    // Memory: the address is register a (cell bytes wide, 0: none) plus offset.
    uint8_t address_cell, bytes, vector, space; // bytes: of one element in memory
    bool is_signed, is_volatile, before_atomic; // before_atomic: see analyses/mixed.c
    uint8_t order;                              // ORDER_...
    uint8_t width;                              // bits of the registers that are loaded or stored
    int64_t offset;
    const place *elements; // [vector]

    int32_t target; // branch, call
    int32_t line;   // the first instruction of the same line in the source
    const struct ptx_instruction *ptx;
    const struct watched *watched; // see instructions/wgmma_registers.c
};

struct sim_kernel {
    const struct ptx_kernel *ptx;
    const struct lanes *lanes;
    struct bound *code; // [ptx->instructions]
    uint8_t *constants;
    size_t constants_bytes, constants_room;
    size_t register_bytes;          // of a warp: ptx->register_bytes and the special registers
    int32_t special[PTX_WARP_SIZE]; // byte offset of a special register in the register file, -1: the kernel has none
    uint64_t *variable_address;     // [ptx->module->variables]
    int shadow_shift;               // shared memory is watched in cells of 1 << shadow_shift bytes
    uint32_t registers;             // of a thread as it begins, for setmaxnreg; 0: the assembler leaves that out
    bool clusters;                  // it has instructions of clusters
    bool signals;                   // it has atomics or volatile accesses: blocks may wait for each other
    void **owned;                   // small arrays that bound instructions point to
    int owned_count, owned_room;
};

static inline bool is_64_bit(enum ptx_type type) {
    return type == PTX_B64 || type == PTX_U64 || type == PTX_S64 || type == PTX_F64 || type == PTX_F32X2;
}

static inline bool is_signed_type(enum ptx_type type) {
    return type == PTX_S8 || type == PTX_S16 || type == PTX_S32 || type == PTX_S64 || type == PTX_S16X2;
}

static inline int type_bits(enum ptx_type type) {
    return type == PTX_PRED ? 1 : (int)ptx_type_size(type) * 8;
}

#endif
