// The machine code of PTX instructions by rules of thumb: read off the machine code of the lessons' kernels and of
// small ones. Throughputs are from the CUDA C++ Programming Guide's table of arithmetic instructions.
#include "work.h"

// Cycles. Shared memory and mma: of an H100, measured by Luo et al. (arXiv:2402.13499), rounded. The others are round
// figures, not measured here.
enum {
    LATENCY_ARITHMETIC = 4,
    LATENCY_PREDICATE = 8,
    LATENCY_XU = 20,
    LATENCY_SHARED = 30,
    LATENCY_SHUFFLE = 24,
    LATENCY_MMA = 33,
    // Fitted to lessons 01, 02 and 05 with one block per SM. A load that hits L2 takes 270, and one from device memory
    // 600 and more.
    LATENCY_GLOBAL = 330,
    LATENCY_BULK = 200, // of a bulk copy, in addition
    LATENCY_ATOMIC = 600,
    LATENCY_BARRIER = 20,
    LATENCY_STORE = 20, // until a barrier may complete
    LATENCY_BRANCH = 10,
    BARRIER_PASSES = 2, // counted by Nsight Compute for lesson 01 in addition to its accesses, per barrier and warp
    PREDICATED = 8,     // PTX instructions
    WARPS = 4,          // of a warpgroup, each of which has its part of a wgmma
    STEP_BYTES = 32,    // of a row of wgmma's operands, for all element types,
    PASS_BYTES = 128,   // and read from shared memory at a time, as Nsight Compute counts
};

uint32_t work_bulk_latency(void) {
    return LATENCY_GLOBAL + LATENCY_BULK;
}

static bool is_float(enum ptx_type type) {
    return type == PTX_F32 || type == PTX_F16 || type == PTX_F16X2 || type == PTX_BF16 || type == PTX_BF16X2;
}

static bool is_wide(enum ptx_type type) {
    return type == PTX_B64 || type == PTX_U64 || type == PTX_S64;
}

static struct work_cost cost(uint32_t issue, enum work unit, uint32_t of_unit, uint16_t latency) {
    struct work_cost c = {.latency = latency};
    c.count[unit] = of_unit;
    c.count[WORK_ISSUE] = issue;
    return c;
}

static struct work_cost issue_only(uint32_t issue, uint16_t latency) {
    return (struct work_cost){.count = {[WORK_ISSUE] = issue}, .latency = latency};
}

static struct work_cost of_multiplication(const struct ptx_instruction *i) {
    if (is_float(i->type))
        return cost(1, WORK_FMA, 1, LATENCY_ARITHMETIC);
    uint32_t parts = is_wide(i->type) && !(i->flags & PTX_WIDE) ? 4 : 1;
    return cost(parts, WORK_FMA, 2 * parts, LATENCY_ARITHMETIC * parts);
}

// A subnormal argument is scaled before and after, except with .ftz.
static struct work_cost of_exponential(const struct ptx_instruction *i) {
    struct work_cost c = cost(1, WORK_XU, 1, LATENCY_XU);
    if (i->flags & PTX_FTZ || is_float(i->type) != (i->type == PTX_F32))
        return c;
    c.count[WORK_ISSUE] += 3;
    c.count[WORK_FMA] += 2;
    c.count[WORK_ALU] += 1;
    c.latency += 3 * LATENCY_ARITHMETIC;
    return c;
}

// An approximation, and Newton iterations if it has to be exact.
static struct work_cost of_quotient(const struct ptx_instruction *i) {
    struct work_cost c = cost(1, WORK_XU, 1, LATENCY_XU);
    if (i->flags & PTX_APPROX)
        return c;
    c.count[WORK_ISSUE] += 8;
    c.count[WORK_FMA] += 6;
    c.latency += 8 * LATENCY_ARITHMETIC;
    return c;
}

static struct work_cost of_conversion(const struct ptx_instruction *i) {
    bool to_float = is_float(i->type), from_float = is_float(i->source_type);
    if (to_float != from_float)
        return cost(1, WORK_XU, 1, LATENCY_XU);
    if (to_float)
        return cost(1, WORK_ALU, 1, LATENCY_ARITHMETIC);
    return i->type == PTX_S64 ? cost(1, WORK_ALU, 1, LATENCY_ARITHMETIC) : issue_only(0, 0);
}

static struct work_cost of_move(const struct ptx_instruction *i) {
    if (i->src[0].kind == PTX_OPERAND_SPECIAL)
        return issue_only(1, LATENCY_XU);
    bool packs = i->src[0].kind == PTX_OPERAND_VECTOR || i->dst[0].kind == PTX_OPERAND_VECTOR;
    return packs && !is_wide(i->type) ? cost(1, WORK_ALU, 1, LATENCY_ARITHMETIC) : issue_only(0, 0);
}

static struct work_cost of_access(const struct ptx_instruction *i) {
    if (i->space == PTX_PARAM || i->space == PTX_CONST || i->space == PTX_CALL_PARAM)
        return issue_only(0, 0);
    struct work_cost c = issue_only(1, i->space == PTX_SHARED ? LATENCY_SHARED : LATENCY_GLOBAL);
    c.global = i->opcode != PTX_OP_ST && i->space != PTX_SHARED;
    if (i->opcode == PTX_OP_ST) {
        c.latency = i->space == PTX_SHARED ? LATENCY_STORE : 0;
        c.stalls = true;
    }
    return c;
}

static struct work_cost of_mma(const struct ptx_instruction *i) {
    uint32_t products = (uint32_t)(i->shape[0] * i->shape[1] * i->shape[2]);
    if (i->opcode == PTX_OP_MMA_SP || i->opcode == PTX_OP_MMA_SP_ORDERED)
        return cost(1, WORK_MMA, products / 2, LATENCY_MMA); // half of A is not stored
    if (i->opcode == PTX_OP_MMA)
        return cost(1, WORK_MMA, products, LATENCY_MMA);
    const int steps_of_b = i->flags & PTX_SPARSE ? 2 : 1; // half of A is stored
    struct work_cost c = cost(1, WORK_WGMMA, products / (uint32_t)steps_of_b / WARPS, 0);
    bool a_in_shared = i->src[0].kind != PTX_OPERAND_VECTOR;
    c.count[WORK_PASSES] =
        (uint32_t)(i->shape[1] * steps_of_b + (a_in_shared ? i->shape[0] : 0)) * STEP_BYTES / PASS_BYTES / WARPS;
    c.does = WORK_MMA_ASYNC;
    return c;
}

// Groups of wgmma or copies that are committed and waited for.
static struct work_cost of_group(const struct ptx_instruction *i, bool copies, bool waits, bool all) {
    struct work_cost c = issue_only(1, 0);
    c.copies = copies;
    c.does = waits ? WORK_WAIT : WORK_COMMIT;
    c.keeps = waits && !all ? (uint32_t)i->src[0].bits : 0;
    return c;
}

static struct work_cost of_copy(const struct ptx_instruction *i) {
    if (i->variant == PTX_V_COMMIT_GROUP || i->variant == PTX_V_WAIT_GROUP || i->variant == PTX_V_WAIT_ALL)
        return of_group(i, true, i->variant != PTX_V_COMMIT_GROUP, i->variant == PTX_V_WAIT_ALL);
    struct work_cost c = issue_only(1, LATENCY_GLOBAL);
    c.does = WORK_COPY;
    return c;
}

// A branch over a few instructions is replaced by predication. If lanes may diverge, they have to reconverge, which
// takes an instruction in front of the branch and one at the reconvergence point.
static struct work_cost of_branch(const struct ptx_kernel *kernel, const struct ptx_instruction *i) {
    int64_t distance = i->opcode == PTX_OP_BRA ? i->src[0].target - (i - kernel->instruction) : 0;
    bool parts = i->guard >= 0 && distance > 0 && !(i->flags & PTX_UNIFORM);
    if (parts && distance <= PREDICATED)
        return (struct work_cost){.skips = (uint8_t)(distance - 1)};
    struct work_cost c = issue_only(parts ? 3 : 1, LATENCY_BRANCH);
    c.ends = c.stalls = true;
    return c;
}

struct work_cost work_cost_of(const struct ptx_kernel *kernel, int32_t instruction) {
    const struct ptx_instruction *i = &kernel->instruction[instruction];
    struct work_cost c;
    switch (i->opcode) {
    case PTX_OP_FMA:
    case PTX_OP_MUL:
    case PTX_OP_MUL24:
    case PTX_OP_MAD:
    case PTX_OP_MAD24:
        return of_multiplication(i);
    case PTX_OP_ADD:
    case PTX_OP_SUB:
        if (is_float(i->type))
            return cost(1, WORK_FMA, 1, LATENCY_ARITHMETIC);
        return is_wide(i->type) ? cost(2, WORK_ALU, 2, 2 * LATENCY_ARITHMETIC)
                                : cost(1, WORK_ALU, 1, LATENCY_ARITHMETIC);
    case PTX_OP_NEG:
    case PTX_OP_ABS:
        return is_float(i->type) ? issue_only(0, 0) : cost(1, WORK_ALU, 1, LATENCY_ARITHMETIC);
    case PTX_OP_EX2:
        return of_exponential(i);
    case PTX_OP_RCP:
    case PTX_OP_DIV:
    case PTX_OP_SQRT:
    case PTX_OP_REM:
        return of_quotient(i);
    case PTX_OP_LG2:
    case PTX_OP_RSQRT:
    case PTX_OP_SIN:
    case PTX_OP_COS:
    case PTX_OP_TANH:
        return cost(1, WORK_XU, 1, LATENCY_XU);
    case PTX_OP_CVT:
        return of_conversion(i);
    case PTX_OP_MOV:
        return of_move(i);
    case PTX_OP_CVTA:
    case PTX_OP_ISSPACEP:
        return issue_only(0, 0);
    case PTX_OP_SETP:
        return cost(is_wide(i->source_type) ? 2 : 1, WORK_ALU, is_wide(i->source_type) ? 2 : 1, LATENCY_PREDICATE);
    case PTX_OP_LD:
    case PTX_OP_LDU:
    case PTX_OP_ST:
        return of_access(i);
    case PTX_OP_LDMATRIX:
    case PTX_OP_STMATRIX:
        return issue_only(1, LATENCY_SHARED);
    case PTX_OP_CP_ASYNC:
        return of_copy(i);
    case PTX_OP_WGMMA_COMMIT_GROUP:
    case PTX_OP_WGMMA_WAIT_GROUP:
        return of_group(i, false, i->opcode == PTX_OP_WGMMA_WAIT_GROUP, false);
    case PTX_OP_SHFL:
        return cost(1, WORK_PASSES, 1, LATENCY_SHUFFLE);
    case PTX_OP_ATOM:
    case PTX_OP_RED:
        return issue_only(1, i->space == PTX_SHARED ? LATENCY_SHARED : LATENCY_ATOMIC);
    case PTX_OP_MMA:
    case PTX_OP_MMA_SP:
    case PTX_OP_MMA_SP_ORDERED:
    case PTX_OP_WGMMA_MMA_ASYNC:
        return of_mma(i);
    case PTX_OP_BAR:
        c = cost(1, WORK_PASSES, BARRIER_PASSES, LATENCY_BARRIER);
        c.ends = c.stalls = true;
        return c;
    case PTX_OP_BRA:
    case PTX_OP_BRX:
        return of_branch(kernel, i);
    case PTX_OP_CALL:
    case PTX_OP_RET:
    case PTX_OP_EXIT:
        c = issue_only(1, LATENCY_BRANCH);
        c.ends = c.stalls = true;
        return c;
    default: // nearly all others are one instruction of the integer units
        return is_wide(i->type) ? cost(2, WORK_ALU, 2, 2 * LATENCY_ARITHMETIC)
                                : cost(1, WORK_ALU, 1, LATENCY_ARITHMETIC);
    }
}
