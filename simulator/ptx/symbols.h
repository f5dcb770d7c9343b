// The symbol table of the PTX text. A symbol of an inner { } shadows an outer one of the same name until the closing
// brace. Labels have a namespace of their own.
#ifndef SIMULATOR_PTX_SYMBOLS_H
#define SIMULATOR_PTX_SYMBOLS_H

#include "arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum symbol_kind {
    SYMBOL_REGISTER,       // index: of the function's registers
    SYMBOL_REGISTER_RANGE, // .reg .b32 %r<count>: %r0, %r1, ...; index: the enum ptx_type
    SYMBOL_MODULE_VARIABLE,
    SYMBOL_LOCAL_VARIABLE,
    SYMBOL_KERNEL_PARAMETER,
    SYMBOL_CALL_VARIABLE,
    SYMBOL_FUNCTION,
    SYMBOL_LABEL,     // index: of an instruction
    SYMBOL_TARGETS,   // index: of the function's lists of branch targets
    SYMBOL_PROTOTYPE, // index: of the function's prototypes
    SYMBOL_KEYWORD,   // an opcode or suffix; index: in its table
};

enum { SYMBOLS_MAX_DEPTH = 64 };

struct symbol {
    const char *text;
    size_t length;
    enum symbol_kind kind;
    int32_t index;
    uint32_t count;
    int depth;
    bool local; // of the module: visible in its own text only
    uint32_t hash;
    struct symbol *chain;      // next in the hash bucket; of two symbols with the same name the inner one comes first
    struct symbol *same_scope; // next in the same scope
};

struct symbol_table {
    struct arena *arena;
    int buckets, count;
    struct symbol **bucket;
    int depth; // 0: the module
    struct symbol *scope[SYMBOLS_MAX_DEPTH];
};

void symbols_init(struct symbol_table *symbols, struct arena *arena);
bool symbols_enter_scope(struct symbol_table *symbols); // false: scopes are nested too deeply
void symbols_leave_scope(struct symbol_table *symbols);

// The innermost declaration, or NULL.
struct symbol *symbols_find(const struct symbol_table *symbols, const char *text, size_t length, bool label);

// Declares a symbol at that depth; no deeper scope may have declared it. Keeps text without a copy. Returns NULL if
// that scope already has the symbol.
struct symbol *symbols_add(struct symbol_table *symbols, const char *text, size_t length, enum symbol_kind kind,
                           int depth);

// Removes the module's local symbols before the next text.
void symbols_remove_local(struct symbol_table *symbols);

#endif
