// What a name in the PTX text stands for, scope by scope: an inner { } may declare a name again, and what it hid is
// seen again after the closing brace. Labels and everything else are two separate worlds.
#ifndef SIMULATOR_PTX_NAMES_H
#define SIMULATOR_PTX_NAMES_H

#include "arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum name_kind {
    NAME_REGISTER,       // index: of the function's registers
    NAME_REGISTER_RANGE, // .reg .b32 %r<count>: %r0, %r1, ...; index: the enum ptx_type
    NAME_MODULE_VARIABLE,
    NAME_LOCAL_VARIABLE,
    NAME_KERNEL_PARAMETER,
    NAME_CALL_VARIABLE,
    NAME_FUNCTION,
    NAME_LABEL,     // index: of an instruction
    NAME_TARGETS,   // index: of the function's lists of branch targets
    NAME_PROTOTYPE, // index: of the function's prototypes
    NAME_KEYWORD,   // an opcode or suffix; index: in its table
};

enum { NAMES_MAX_DEPTH = 64 };

struct name {
    const char *text;
    size_t length;
    enum name_kind kind;
    int32_t index;
    uint32_t count;
    int depth;
    bool local; // of the module: seen in its own text alone
    uint32_t hash;
    struct name *chain;      // next in the same hash bucket; of two with the same text the inner one comes first
    struct name *same_scope; // next of the same { }
};

struct names {
    struct arena *arena;
    int buckets, count;
    struct name **bucket;
    int depth; // 0: the module
    struct name *scope[NAMES_MAX_DEPTH];
};

void names_start(struct names *names, struct arena *arena);
bool names_enter(struct names *names); // false where scopes are nested too deep
void names_leave(struct names *names);

// The innermost declaration, or NULL.
struct name *names_find(const struct names *names, const char *text, size_t length, bool label);

// Declares a name at that depth, which no deeper scope may have declared. text is kept, not copied. Returns NULL where
// that scope has the name already.
struct name *names_add(struct names *names, const char *text, size_t length, enum name_kind kind, int depth);

// Forgets the module's local names: the next text has its own.
void names_forget_local(struct names *names);

#endif
