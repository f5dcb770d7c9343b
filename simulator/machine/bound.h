// A kernel as the interpreter runs it: each PTX instruction as a function to call and its operands.
#ifndef SIMULATOR_MACHINE_BOUND_H
#define SIMULATOR_MACHINE_BOUND_H

#include "../lanes/lanes.h"
#include "../ptx/program.h"
#include "launch.h"

struct warp;
struct bound;

// What the warp does after an instruction.
enum step {
    STEP_NEXT,  // continues with the next instruction
    STEP_MOVED, // the split has a new pc, mask or state, which the interpreter reads again
    STEP_STOP,  // the launch has ended with a fatal finding
};
typedef enum step bound_run(struct warp *warp, const struct bound *bound, uint32_t mask);

// Refers to a register, or to a constant of 32 lanes: twice the byte offset in the warp's register file, or in the
// kernel's constants with bit 0 set. A constant has the layout of a register, so that operations need not distinguish
// them.
typedef uint32_t operand_ref;
#define NO_OPERAND UINT32_MAX

// The order of an atomic or volatile access, by the PTX ISA; without an explicit order it is relaxed.
enum { ORDER_ACQUIRE = 1, ORDER_RELEASE = 2, ORDER_CTA = 4 }; // the scope is the block

enum bound_kind { BOUND_LANES, BOUND_BRANCH, BOUND_RUN };

struct bound {
    enum bound_kind kind;
    operand_ref guard; // a predicate; a constant true one if the instruction has no guard
    uint32_t guard_flip;
    lane_operation *lanes; // BOUND_LANES: d = lanes(a, b, c)
    bound_run *run;        // BOUND_RUN
    operand_ref d, a, b, c;
    uint32_t extra;
    uint8_t result_cell; // bytes of a lane in d: 4 or 8, 0 for a predicate
    bool saturate;       // .sat on an fp32 result

    // Memory: the address is register a (cell bytes wide, 0: none) plus offset.
    uint8_t address_cell, bytes, vector, space; // bytes: of one element in memory
    bool is_signed, is_volatile, before_atomic; // before_atomic: see analyses/mixed.c
    uint8_t order;                              // ORDER_...
    uint8_t width;                              // bits of the registers that are loaded or stored
    int64_t offset;
    const operand_ref *elements; // [vector]

    int32_t target; // branch, call
    int32_t line;   // the first instruction of the same source line
    const struct ptx_instruction *ptx;
    const struct checked_registers *checked; // see instructions/wgmma_registers.c
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
    int shadow_shift;               // shared memory is checked in cells of 1 << shadow_shift bytes
    uint32_t registers; // registers per thread at the start, for setmaxnreg; 0: the assembler ignores setmaxnreg
    bool clusters;      // it has cluster instructions
    bool signals;       // it has atomics or volatile accesses: blocks may wait for each other
    void **owned;       // small arrays that bound instructions point to
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
