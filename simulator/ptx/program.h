// A PTX module as the front end passes it to the rest of the simulator: all names are resolved, every register has a
// slot, and the interpreter can bind every operand without the text.
//
//   ptx_parse()      text    -> struct ptx_module     (lexer.c, parser_*.c)
//   ptx_link_kernel  module  -> struct ptx_kernel     (link.c: reachable functions, register slots, layout of memory)
#ifndef SIMULATOR_PTX_PROGRAM_H
#define SIMULATOR_PTX_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A long kernel has a hundred thousand instructions, and memory writes dominate the parse time: so enumerations take
// one byte.
#define PTX_PACKED __attribute__((packed))

// clang-format off
enum PTX_PACKED ptx_type {
    PTX_NO_TYPE,
    PTX_PRED,
    PTX_B8, PTX_B16, PTX_B32, PTX_B64, PTX_B128,
    PTX_U8, PTX_U16, PTX_U32, PTX_U64,
    PTX_S8, PTX_S16, PTX_S32, PTX_S64,
    PTX_F16, PTX_F16X2, PTX_BF16, PTX_BF16X2, PTX_TF32, PTX_E4M3, PTX_E5M2, PTX_F32, PTX_F64,
    PTX_U16X2, PTX_S16X2, PTX_F32X2, PTX_E4M3X2, PTX_E5M2X2,
    PTX_S4, PTX_U4, PTX_B1, // sub-byte types, only for elements of matrices
};

// PTX uses .param for two unrelated state spaces: the kernel's parameter block, which all threads read (PTX_PARAM), and
// each thread's stack of call arguments and results (PTX_CALL_PARAM, see struct ptx_frame).
enum PTX_PACKED ptx_space { PTX_GENERIC, PTX_PARAM, PTX_LOCAL, PTX_SHARED, PTX_CONST, PTX_GLOBAL, PTX_CALL_PARAM };

// The base opcode; the other fields of struct ptx_instruction hold its suffixes. opcodes.def lists the opcodes, one
// OPCODE(NAME, "text") per line, so that enumerators and names stay consistent.
enum PTX_PACKED ptx_opcode {
#define OPCODE(name, text) PTX_OP_##name,
#include "opcodes.def"
#undef OPCODE
    PTX_OPCODES
};

enum PTX_PACKED ptx_rounding { PTX_ROUND_NONE, PTX_RN, PTX_RZ, PTX_RM, PTX_RP, PTX_RNA, PTX_RNI, PTX_RZI, PTX_RMI, PTX_RPI };

enum PTX_PACKED ptx_compare { // setp, set: lo ls hi hs become lt le gt ge on an unsigned type
    PTX_EQ, PTX_NE, PTX_LT, PTX_LE, PTX_GT, PTX_GE,
    PTX_EQU, PTX_NEU, PTX_LTU, PTX_LEU, PTX_GTU, PTX_GEU, PTX_NUM, PTX_NAN,
};

// The operation of atom, red, redux, shfl, vote, match, setp (combination), bar.red, prmt, testp and video
// instructions. One enumeration is enough because an instruction has at most one of them.
enum PTX_PACKED ptx_variant {
    PTX_VARIANT_NONE,
    PTX_V_ADD, PTX_V_MIN, PTX_V_MAX, PTX_V_INC, PTX_V_DEC, PTX_V_AND, PTX_V_OR, PTX_V_XOR, PTX_V_EXCH, PTX_V_CAS,
    PTX_V_UP, PTX_V_DOWN, PTX_V_BFLY, PTX_V_IDX,          // shfl
    PTX_V_ALL, PTX_V_ANY, PTX_V_UNI, PTX_V_BALLOT,        // vote, match
    PTX_V_F4E, PTX_V_B4E, PTX_V_RC8, PTX_V_ECL, PTX_V_ECR, PTX_V_RC16, // prmt
    PTX_V_L, PTX_V_R,                                     // shf
    PTX_V_SYNC, PTX_V_ARRIVE, PTX_V_RED_POPC, PTX_V_RED_AND, PTX_V_RED_OR, // bar, barrier
    PTX_V_FINITE, PTX_V_INFINITE, PTX_V_NUMBER, PTX_V_NOTANUMBER, PTX_V_NORMAL, PTX_V_SUBNORMAL, // testp
    PTX_V_COMMIT_GROUP, PTX_V_WAIT_GROUP, PTX_V_WAIT_ALL, // cp.async
    PTX_V_ASYNC,                                          // fence.proxy
    PTX_V_SHR7, PTX_V_SHR15,                              // vmad
    PTX_V_OOB_TRAP, PTX_V_OOB_CLAMP, PTX_V_OOB_ZERO, // suld, sust: out-of-bounds mode
    PTX_V_MAP_GLOBAL_ADDRESS, PTX_V_MAP_RANK, PTX_V_MAP_BOX_DIM, PTX_V_MAP_GLOBAL_DIM, PTX_V_MAP_GLOBAL_STRIDE, PTX_V_MAP_ELEMENT_STRIDE, PTX_V_MAP_ELEMTYPE,
    PTX_V_MAP_INTERLEAVE, PTX_V_MAP_SWIZZLE, PTX_V_MAP_FILL, // tensormap.replace: the field
};

// The completion mechanism of an asynchronous copy: an mbarrier, or a bulk async-group.
enum PTX_PACKED ptx_completion { PTX_COMPLETION_NONE, PTX_BY_MBARRIER, PTX_BY_GROUP };

// clang-format on

// Boolean suffixes, as bits of ptx_instruction.flags.
enum ptx_flag {
    PTX_FTZ = 1 << 0,
    PTX_SAT = 1 << 1,
    PTX_APPROX = 1 << 2,
    PTX_FULL = 1 << 3, // div.full
    PTX_WIDE = 1 << 4,
    PTX_HI = 1 << 5,
    PTX_LO = 1 << 6,
    PTX_CARRY_IN = 1 << 7,       // addc, subc, madc
    PTX_CARRY_OUT = 1 << 8,      // .cc
    PTX_UNIFORM = 1 << 9,        // bra.uni, call.uni, ret.uni
    PTX_VOLATILE = 1 << 10,      // ld/st .volatile, .relaxed, .acquire, .release, .mmio: ordered, never cached
    PTX_NC = 1 << 11,            // ld.global.nc
    PTX_RELEASE = 1 << 30,       // .release, .acq_rel
    PTX_NAN_PROPAGATE = 1 << 12, // min.NaN, max.NaN
    PTX_ABS = 1 << 13,           // min.xorsign.abs and the like
    PTX_XORSIGN = 1 << 14,
    PTX_SHIFT_CLAMP = 1 << 15, // shf.clamp, bfe.clamp; otherwise wrap
    PTX_TRANS = 1 << 16,       // ldmatrix, stmatrix .trans
    PTX_ALIGNED = 1 << 17,     // barrier.sync.aligned, bar.sync: all threads of the warp execute it
    PTX_TO = 1 << 18,          // cvta.to
    PTX_RELU = 1 << 19,
    PTX_COL_MAJOR = 1 << 20, // .col of mma .row.col, or of a wmma fragment: column-major
    PTX_SHIFTAMT = 1 << 21,  // bfind.shiftamt
    PTX_CLUSTER_SCOPE = 1 << 22,
    PTX_SHUFFLE_PRED = 1 << 23, // shfl.sync d|p: dst[1] is the predicate
    PTX_OOB = 1 << 24,
    PTX_READS_DESTINATION = 1 << 25, // the instruction accumulates into dst[0]
    PTX_PARITY = 1 << 26,            // mbarrier.test_wait.parity
    PTX_NO_COMPLETE = 1 << 27,       // mbarrier.arrive.noComplete, cp.async.mbarrier.arrive.noinc
    PTX_MULTICAST = 1 << 28,
    PTX_READ = 1 << 29,     // cp.async.bulk.wait_group.read
    PTX_IM2COL = 1 << 30,   // im2col mode, not tiled mode
    PTX_PLUS_ONE = 1 << 29, // vmad.po
    PTX_POPC = 1 << 28,     // mma, wmma of .b1, with variant PTX_V_AND or PTX_V_XOR
    PTX_SPARSE = 1 << 28,   // wgmma.mma_async.sp
};

enum PTX_PACKED ptx_operand_kind {
    PTX_OPERAND_NONE,
    PTX_OPERAND_REGISTER,  // slot
    PTX_OPERAND_IMMEDIATE, // bits, converted to the operand's type (0f3F800000 -> 0x3F800000; integers are
                           // sign-extended)
    PTX_OPERAND_SPECIAL,   // special: %tid.x, %laneid, %clock64, ...
    PTX_OPERAND_ADDRESS,   // [base + offset]: slot or -1, offset, variable or -1; also `mov r, variable`.
                           // [base, {c0, c1}]: also elements[0 .. count)
    PTX_OPERAND_TARGET,    // target: index of an instruction in the same kernel
    PTX_OPERAND_FUNCTION,  // of a call: index of the callee in ptx_kernel.function; -1 and builtin for vprintf etc.
    PTX_OPERAND_VECTOR,    // elements[0 .. count): registers, immediates or sinks, as in {%r1, %r2}
    PTX_OPERAND_SINK,      // `_`
};

// clang-format off
enum PTX_PACKED ptx_special {
    PTX_TID_X, PTX_TID_Y, PTX_TID_Z, PTX_NTID_X, PTX_NTID_Y, PTX_NTID_Z,
    PTX_CTAID_X, PTX_CTAID_Y, PTX_CTAID_Z, PTX_NCTAID_X, PTX_NCTAID_Y, PTX_NCTAID_Z,
    PTX_LANEID, PTX_WARPID, PTX_NWARPID, PTX_SMID, PTX_NSMID, PTX_GRIDID,
    PTX_LANEMASK_EQ, PTX_LANEMASK_LE, PTX_LANEMASK_LT, PTX_LANEMASK_GE, PTX_LANEMASK_GT,
    PTX_CLOCK, PTX_CLOCK_HI, PTX_CLOCK64, PTX_GLOBALTIMER, PTX_GLOBALTIMER_LO, PTX_GLOBALTIMER_HI,
    PTX_DYNAMIC_SMEM_SIZE, PTX_TOTAL_SMEM_SIZE, PTX_AGGR_SMEM_SIZE,
    PTX_RESERVED_SMEM, // %reserved_smem_offset_1: cooperative groups use it for tiles of several warps
    PTX_CLUSTERID_X, PTX_CLUSTERID_Y, PTX_CLUSTERID_Z, PTX_NCLUSTERID_X, PTX_NCLUSTERID_Y, PTX_NCLUSTERID_Z,
    PTX_CLUSTER_CTAID_X, PTX_CLUSTER_CTAID_Y, PTX_CLUSTER_CTAID_Z,
    PTX_CLUSTER_NCTAID_X, PTX_CLUSTER_NCTAID_Y, PTX_CLUSTER_NCTAID_Z,
    PTX_CLUSTER_CTARANK, PTX_CLUSTER_NCTARANK, PTX_IS_EXPLICIT_CLUSTER, // PTX_IS_EXPLICIT_CLUSTER is a predicate
    PTX_ENVREG1, PTX_ENVREG2, // high and low half of the address of the grid barrier's workspace
    PTX_WARP_SIZE,
};
// clang-format on

enum PTX_PACKED ptx_builtin {
    PTX_BUILTIN_NONE,
    PTX_BUILTIN_VPRINTF,
    PTX_BUILTIN_ASSERTFAIL,
    PTX_BUILTIN_MALLOC,
    PTX_BUILTIN_FREE,
    // The CUDA device runtime: launches by a kernel.
    PTX_BUILTIN_LAUNCH_BUFFER,
    PTX_BUILTIN_LAUNCH,
    PTX_BUILTIN_LAST_ERROR,
    PTX_BUILTIN_STREAM_CREATE,
    PTX_BUILTIN_STREAM_DESTROY,
    PTX_BUILTIN_DEVICE_MALLOC, // cudaMalloc in a kernel
    PTX_BUILTIN_DEVICE_FREE,
    PTX_BUILTIN_DEVICE_COPY,
    PTX_BUILTIN_ERROR_TEXT,
    PTX_BUILTIN_SET_CONDITION
};

// The location of a register. A warp's register file is an array of bytes; a register holds 32 consecutive lanes:
//   PTX_PRED                one uint32_t, one bit per lane
//   8, 16 and 32-bit types  uint32_t[32]; bits above the type's width are zero
//   64-bit types            uint64_t[32]
//   128-bit types           two 64-bit registers: an operand is the VECTOR of its low and its high half
// slot is the byte offset within the function's frame, a multiple of 64 except for predicates (4). Two registers share
// a slot only if no lane needs both, and only with the same layout of lanes, so that diverged lanes never touch each
// other's bytes. The result of an instruction never shares a slot with one of its sources, unless they are the same
// register.
struct ptx_operand {
    enum ptx_operand_kind kind;
    enum ptx_type reg_type; // the declared type of the register, which may be wider than the instruction's type
    bool negated;           // !p of a predicate operand, -a of an operand of vmad
    enum ptx_special special;
    enum ptx_space space; // ADDRESS: the state space of `variable` or of the offset, if the text gives it
    enum ptx_builtin builtin;
    uint16_t selector; // byte or halfword selector of a video instruction, see parser_video.c
    int32_t slot;
    int32_t register_index; // REGISTER: in its function; distinguishes registers that share a slot
    int32_t count;          // of elements
    uint64_t bits;
    int64_t offset;   // ADDRESS: shared, local, param: offset within that space, link-time layout included
    int32_t variable; // ADDRESS: index in ptx_module.variables of a global or const variable to add, or -1
    int32_t target;
    struct ptx_operand *elements;
};

// A source location: the innermost line, and the chain of calls through which it was inlined.
struct ptx_location {
    int32_t file; // index in ptx_module.files, 0: unknown
    int32_t line, column;
    int32_t inlined_at; // index of a location in ptx_module.locations, -1: not inlined
};

#define PTX_MAX_SOURCES 7

struct ptx_instruction {
    enum ptx_opcode opcode;
    enum ptx_type type; // the first type suffix: the result type of cvt and set, the operation's type of all others
    enum ptx_type source_type;    // the second type suffix; without one, the same as type
    enum ptx_type mma_type[4];    // mma, wgmma: D, A, B, C; cvt.pack: its two or three types
    enum ptx_space space, space2; // cvta, ld, st, atom, red: space; cp.async and bulk copies: destination, source
    enum ptx_rounding rounding;
    enum ptx_compare compare;
    enum ptx_variant variant;
    enum ptx_completion completion;
    bool in_cluster; // the space, or the destination space, is .shared::cluster: the memory may be another block's
    uint32_t flags;
    int vector; // 1, 2, 4, 8: ld.v4; ldmatrix .x4; the rank of a bulk copy of a tensor; the selector of a sparse wgmma
    int shape[3];  // of mma: m, n, k
    int32_t guard; // slot
    bool guard_negated;
    struct ptx_operand dst[2];               // dst[1]: the second predicate of setp p|q, of shfl d|p
    struct ptx_operand src[PTX_MAX_SOURCES]; // ld: src[0] is the address; st: src[0] the address, src[1] the value
    int nsrc;
    int32_t location; // index in ptx_module.locations
    const char *text; // the PTX text of this instruction, for messages
    int32_t ptx_line;
};

// A variable of the module: .global, .const, or module-level .shared.
struct ptx_variable {
    const char *name;
    enum ptx_space space;
    enum ptx_type type;
    size_t size; // bytes; 0: extern .shared[] (dynamic shared memory)
    size_t align;
    const uint8_t *init; // size bytes, NULL: zero
    bool external;
    int relocations; // the number of addresses of other variables in init
    struct ptx_relocation {
        size_t offset;    // in init
        int32_t variable; // the variable whose generic address is stored: (address + addend) >> shift, the low `bytes`
                          // bytes
        int64_t addend;
        int bytes, shift; // 8 and 0, except in packed structures, which nvcc initializes byte by byte
    } * relocation;
};

struct ptx_parameter {
    const char *name;
    enum ptx_type type;
    size_t size, align, offset; // offset in the parameter block
};

struct ptx_function; // internal to the parser: text order, symbolic names

struct ptx_module {
    int version_major, version_minor; // .version
    int target;                       // 90 for sm_90
    const char *target_name;          // "sm_90a"
    int files;
    const char **file; // [files], index 0 is ""
    int locations;
    struct ptx_location *location;
    int variables;
    struct ptx_variable *variable;
    int functions;
    struct ptx_function **function;
    void *arena; // owns everything above
};

// A function inside a linked kernel.
//
// Registers: diverged lanes may execute two functions at once, whose slots have different lane layouts; so each
// function has its own range in a warp's register file at register_base, and a recursive function needs another
// frame_bytes for each further activation.
//
// Calls: a thread has a stack of arguments and results. A function finds its own parameters, then its results, at its
// operands' offsets from the thread's stack base; it stores those of its callees from call_base on. So a call adds the
// caller's call_base to the thread's stack base, a return subtracts it again, and no argument is copied. Builtins find
// their arguments in the same way, each at the next multiple of its size, then the result: vprintf (u64 format, u64
// arguments) u32, malloc (u64) u64, free (u64), __assertfail (u64 message, u64 file, u32 line, u64 function, u64
// character size); the launch buffer (u64 kernel, u32[3] grid, u32[3] block, u32 shared) u64.
struct ptx_frame {
    const char *name;
    int32_t entry;         // index of its first instruction
    int32_t instructions;  // number of instructions
    int32_t frame_bytes;   // bytes of the register file, a multiple of 64
    int32_t register_base; // start of its first activation's frame in a register file of register_bytes
    int32_t params;        // its parameters, then its results
    const struct ptx_parameter *param;
    int32_t param_bytes; // parameters and results in call-param space; 0 for an entry function
    int32_t call_base;   // see above
    int32_t local_base;  // start of its .local variables; operands' offsets include it
    int32_t local_bytes;
    bool recursive;   // may be called while it is active: then local_base is the one of the first activation
    uint64_t address; // value of a pointer to it, which an indirect call resolves
};

// The cluster directives of an entry function.
struct ptx_cluster {
    int blocks[3];      // .reqnctapercluster, 0: not given
    int max_rank;       // .maxclusterrank, 0: not given
    bool must_be_given; // .explicitcluster: the kernel or its launch must give a cluster size
};

// One entry function with all functions that it can call, ready to be bound and run.
struct ptx_kernel {
    const struct ptx_module *module;
    const char *name; // mangled
    int instructions;
    struct ptx_instruction *instruction; // all functions in sequence, the entry function first
    int functions;
    struct ptx_frame *function; // function[0] is the entry function
    int params;
    const struct ptx_parameter *param;
    size_t param_bytes;
    size_t static_shared_bytes; // dynamic shared memory starts here, aligned to shared_align
    size_t shared_align;
    int64_t *shared_offset;  // [module->variables] offset in shared memory; -1: not in this kernel's shared memory
    size_t register_bytes;   // per warp, one activation of every reachable function
    size_t local_bytes;      // per thread, one activation of every reachable function
    size_t call_param_bytes; // per thread, one activation of every reachable function
    bool recursive;          // a function is recursive
    int max_threads[3];      // .maxntid, 0: not given
    int required_threads[3]; // .reqntid, 0: not given
    int min_blocks;          // .minnctapersm
    int max_registers;       // .maxnreg, 0: not given
    struct ptx_cluster cluster;
};

// Parses PTX text of length bytes. The text need not be null-terminated and is not trusted: any bytes give a module or
// an error, never a crash. On failure returns NULL and writes one line "PTX line N: message [code]" to error.
struct ptx_module *ptx_parse(const char *text, size_t length, char *error, size_t error_size);

// Parses several texts of nvcc -rdc=true as one module: they share their visible functions and variables.
struct ptx_text {
    const char *text;
    size_t length;
};
struct ptx_module *ptx_parse_linked(const struct ptx_text *texts, int count, char *error, size_t error_size);

// The name of the function at a device address; NULL if there is none.
const char *ptx_function_name(const struct ptx_module *module, uint64_t address);

// Entry functions of the module by mangled name, in text order; NULL past the last one.
const char *ptx_entry_name(const struct ptx_module *module, int index);

// Links one entry function. An unsupported opcode or form is an error that names the PTX text and the line of the .cu
// file. On failure returns NULL and writes one line to error.
struct ptx_kernel *ptx_link_kernel(const struct ptx_module *module, const char *name, char *error, size_t error_size);

void ptx_free_kernel(struct ptx_kernel *kernel);
void ptx_free_module(struct ptx_module *module);

const char *ptx_opcode_name(enum ptx_opcode opcode);
size_t ptx_type_size(enum ptx_type type); // bytes; 0 for PTX_PRED, PTX_NO_TYPE and sub-byte types
int ptx_type_bits(enum ptx_type type);    // size in bits, also of sub-byte types

#endif
