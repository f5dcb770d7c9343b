#include "symbols.h"

#include <string.h>

static bool is_label(enum symbol_kind kind) {
    return kind == SYMBOL_LABEL || kind == SYMBOL_TARGETS || kind == SYMBOL_PROTOTYPE;
}

static uint32_t hash_text(const char *text, size_t length) { // FNV-1a
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash ^ hash >> 15;
}

void symbols_init(struct symbol_table *symbols, struct arena *arena) {
    *symbols = (struct symbol_table){.arena = arena, .buckets = 1024};
    symbols->bucket = arena_allocate(arena, (size_t)symbols->buckets * sizeof *symbols->bucket);
}

bool symbols_enter_scope(struct symbol_table *symbols) {
    if (symbols->depth + 1 >= SYMBOLS_MAX_DEPTH)
        return false;
    symbols->scope[++symbols->depth] = NULL;
    return true;
}

static void unlink_symbol(struct symbol_table *symbols, const struct symbol *symbol) {
    struct symbol **link = &symbols->bucket[symbol->hash & (uint32_t)(symbols->buckets - 1)];
    while (*link != symbol)
        link = &(*link)->chain;
    *link = symbol->chain;
    symbols->count--;
}

void symbols_leave_scope(struct symbol_table *symbols) {
    for (struct symbol *symbol = symbols->scope[symbols->depth]; symbol; symbol = symbol->same_scope)
        unlink_symbol(symbols, symbol);
    symbols->depth--;
}

void symbols_remove_local(struct symbol_table *symbols) {
    for (struct symbol **link = &symbols->scope[0]; *link;) {
        struct symbol *symbol = *link;
        if (symbol->local) {
            *link = symbol->same_scope;
            unlink_symbol(symbols, symbol);
        } else {
            link = &symbol->same_scope;
        }
    }
}

static struct symbol *find(const struct symbol_table *symbols, const char *text, size_t length, uint32_t hash,
                           bool label) {
    struct symbol *symbol = symbols->bucket[hash & (uint32_t)(symbols->buckets - 1)];
    while (symbol && !(symbol->hash == hash && symbol->length == length && is_label(symbol->kind) == label &&
                       memcmp(symbol->text, text, length) == 0))
        symbol = symbol->chain;
    return symbol;
}

struct symbol *symbols_find(const struct symbol_table *symbols, const char *text, size_t length, bool label) {
    return find(symbols, text, length, hash_text(text, length), label);
}

// Appends to the end of each new bucket, because lookup relies on the order within a bucket: inner symbols come before
// outer ones.
static void grow(struct symbol_table *symbols) {
    int buckets = symbols->buckets * 2;
    struct symbol **bucket = arena_allocate(symbols->arena, (size_t)buckets * sizeof *bucket);
    for (int i = 0; i < symbols->buckets; i++) {
        struct symbol **low = &bucket[i], **high = &bucket[i + symbols->buckets];
        for (struct symbol *symbol = symbols->bucket[i]; symbol; symbol = symbol->chain) {
            struct symbol ***end = symbol->hash & (uint32_t)symbols->buckets ? &high : &low;
            **end = symbol;
            *end = &symbol->chain;
        }
        *low = *high = NULL;
    }
    symbols->bucket = bucket;
    symbols->buckets = buckets;
}

struct symbol *symbols_add(struct symbol_table *symbols, const char *text, size_t length, enum symbol_kind kind,
                           int depth) {
    uint32_t hash = hash_text(text, length);
    struct symbol *outer = find(symbols, text, length, hash, is_label(kind));
    if (outer && outer->depth >= depth)
        return NULL;
    if (symbols->count >= symbols->buckets)
        grow(symbols);
    struct symbol *symbol = arena_allocate(symbols->arena, sizeof *symbol);
    struct symbol **first = &symbols->bucket[hash & (uint32_t)(symbols->buckets - 1)];
    *symbol = (struct symbol){.text = text, .length = length, .kind = kind, .depth = depth, .hash = hash};
    symbol->chain = *first;
    *first = symbol;
    symbol->same_scope = symbols->scope[depth];
    symbols->scope[depth] = symbol;
    symbols->count++;
    return symbol;
}
