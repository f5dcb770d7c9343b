// Which suffixes and operands each opcode takes. A suffix that is not listed for an opcode is an error, so that nothing
// in the text is passed over in silence.
#ifndef SIMULATOR_PTX_FORMS_H
#define SIMULATOR_PTX_FORMS_H

#include "program.h"

// Suffixes of one class share a meaning. A word may be in several classes (.lo halves a product, or compares unsigned
// integers); an opcode takes at most one of them.
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
    NANS,
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
    SHUFFLE,
    VOTING,
    MATCHING,
    PERMUTE,
    SIDE,
    BARRIER,
    TESTING,
    MATRICES,
    GROUPS,
    OOB,
    FENCING,
    PROXY,
    PARITY,
    MBARRIER,
    COMPLETION,
    MULTICAST,
    TILE,
    DIMENSIONS,
    READING,
    DEPENDENCE,
    LINES,
    BEYOND,
    PLUS_ONE,
    SCALE,
    NARROW_TYPES,
    BITWISE,
    COUNTING,
    SPARSE,
    COMBINED,
    COUNTED,
    MAP_FIELD,
    MAP_SIZE,
    TO_MAPS,
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

// operands: one word an operand, in order. A letter, then after a colon what it must be made of; ? before it: may be
// missing.
//   d  destination register or _         t  (or nothing) the instruction's type
//   D  the same, or a vector             u  the second type
//   P  d|p, p may be missing             w  twice as wide as the type, where .wide
//   s  register, constant, address       l  at least as wide as the type (ld, st, cvt: registers may be wider)
//   S  the same, or a vector             L  at least as wide as the second type
//   m  [address]                         p  a predicate
//   M  [address, {coordinates}]          4  8  bytes;  *  whatever is no predicate
//   A  a vector that is read and written
//   x  nothing: a parser of its own
struct form {
    const char *operands;
    int least_types, most_types;
    uint64_t allowed, needed; // sets of enum suffix_class
};

extern const struct suffix PTX_SUFFIXES[];
extern const int PTX_SUFFIX_COUNT;
extern const struct form PTX_FORMS[PTX_OPCODES];

#endif
