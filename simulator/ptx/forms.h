// The suffixes and operands of each opcode. A suffix that is not listed for an opcode is an error, so that the parser
// never ignores a modifier silently.
#ifndef SIMULATOR_PTX_FORMS_H
#define SIMULATOR_PTX_FORMS_H

#include "program.h"

// Suffixes of one class share a meaning. A suffix may belong to several classes (.lo selects the low half of a product,
// or compares unsigned integers); an opcode allows at most one of them.
enum suffix_class {
    TYPES,
    FTZ,
    SAT,
    ROUND,
    APPROX,
    HALF,
    CC,
    UNIFORM,
    COMPARE,
    BOOLEAN,
    SPACE,
    ORDER,
    SCOPE,
    CACHE,
    NC,
    VECTOR,
    NAN_PROPAGATION,
    XORSIGN,
    CLAMP,
    TRANS,
    ALIGNED,
    SYNC,
    TO,
    RELU,
    LAYOUT,
    SHAPE,
    SHIFTAMT,
    ATOMIC,
    NOFTZ,
    SHUFFLE_MODE,
    VOTE_MODE,
    MATCH_MODE,
    PRMT_MODE,
    SHIFT_DIRECTION,
    BARRIER,
    TESTP_CLASS,
    MATRIX_COUNT,
    ASYNC_GROUP,
    OOB,
    FENCE_SEMANTICS,
    PROXY,
    PARITY,
    MBARRIER,
    COMPLETION,
    MULTICAST,
    TILE,
    DIMENSIONS,
    WAIT_READ,
    GRID_DEPENDENCE,
    FRAGMENT_LAYOUT,
    OOB_MODE,
    PLUS_ONE,
    SCALE,
    SUB_BYTE_TYPES,
    MMA_BIT_OPERATION,
    MMA_POPC,
    SPARSE,
    WGMMA_AND,
    WGMMA_POPC,
    MAP_FIELD,
    MAP_SIZE,
    TENSORMAP_PROXY,
};

enum suffix_field {
    NO_FIELD,
    FLAG,
    TYPE_FIELD,
    ROUNDING,
    COMPARISON,
    VARIANT,
    SPACE_FIELD,
    VECTOR_FIELD,
    COMPLETION_FIELD,
    CLUSTER_SPACE_FIELD
};

struct suffix {
    const char *text;
    enum suffix_class class;
    enum suffix_field field;
    int value;
};

// operands: one word per operand, in order: a letter, then a colon and the constraint; a ? before the word: optional.
//   d  destination register or _         t  (or nothing) the instruction's type
//   D  the same, or a vector             u  the second type
//   P  d|p, p is optional                w  twice as wide as the type, with .wide
//   s  register, constant, address       l  at least as wide as the type (ld, st, cvt: registers may be wider)
//   S  the same, or a vector             L  at least as wide as the second type
//   m  [address]                         p  a predicate
//   M  [address, {coordinates}]          4  8  bytes;  *  any type but .pred
//   A  a vector that is read and written
//   x  a custom parser
struct form {
    const char *operands;
    int min_types, max_types;
    uint64_t allowed, required; // bit sets of enum suffix_class
};

extern const struct suffix PTX_SUFFIXES[];
extern const int PTX_SUFFIX_COUNT;
extern const struct form PTX_FORMS[PTX_OPCODES];

#endif
