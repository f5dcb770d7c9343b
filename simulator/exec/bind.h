// A kernel bound to the interpreter: each PTX instruction as a function to call and the places of its operands.
//
//   bind.c           the binder: constants, operands, which family an instruction belongs to
//   bind_arith.c     arithmetic and bit operations     bind_move.c   moves, conversions, comparison and selection
//   bind_memory.c    memory and asynchronous copies    bind_control.c branches, calls, barriers, warp operations
#ifndef SIMULATOR_EXEC_BIND_H
#define SIMULATOR_EXEC_BIND_H

#include "../ptx/program.h"
#include "lanes.h"
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
    bool is_signed, is_volatile;
    uint8_t width; // bits of the registers that are loaded or stored
    int64_t offset;
    const place *elements; // [vector]

    int32_t target; // branch, call
    int32_t line;   // the first instruction of the same line in the source
    const struct ptx_instruction *ptx;
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
    bool signals;                   // it has atomics or volatile accesses: blocks may wait for each other
    void **owned;                   // small arrays that bound instructions point to
    int owned_count, owned_room;
};

struct binder {
    struct sim_kernel *kernel;
    const struct lanes *lanes;
    const struct ptx_frame *frame; // the function that the instruction is in
    bool failed;                   // out of memory
};

// Places of operands. A constant is cut to the type.
place bind_register(struct binder *binder, int32_t slot);
place bind_source(struct binder *binder, const struct ptx_operand *operand, enum ptx_type type);
place bind_constant(struct binder *binder, uint64_t value, enum ptx_type type);
place bind_data(struct binder *binder, const void *data, size_t size); // a structure among the constants
place bind_result(struct binder *binder, const struct ptx_operand *operand);
const place *bind_places(struct binder *binder, const struct ptx_operand *operand, enum ptx_type type, bool result);
void *bind_own(struct binder *binder, size_t size); // zeroed, freed with the kernel

// Each returns false where the instruction is not of its family or has a form that it does not know.
bool bind_arith(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound);
bool bind_float(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound);
bool bind_bits(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound);
bool bind_move(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound);
bool bind_compare(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound);
bool bind_memory(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound);
bool bind_control(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound);
bool bind_matrix(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound);

// Fills in bound.line. false: out of memory. lines.c
bool find_lines(struct sim_kernel *kernel);

// An instruction that is one lane operation on up to three sources.
bool bind_lanes(struct binder *binder, struct bound *bound, lane_operation *lanes, enum ptx_type result,
                enum ptx_type a, enum ptx_type b, enum ptx_type c);

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
