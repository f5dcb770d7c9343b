#include "names.h"

#include <string.h>

static bool is_label(enum name_kind kind) {
    return kind == NAME_LABEL || kind == NAME_TARGETS || kind == NAME_PROTOTYPE;
}

static uint32_t hash_text(const char *text, size_t length) { // FNV-1a
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash ^ hash >> 15;
}

void names_start(struct names *names, struct arena *arena) {
    *names = (struct names){.arena = arena, .buckets = 1024};
    names->bucket = arena_allocate(arena, (size_t)names->buckets * sizeof *names->bucket);
}

bool names_enter(struct names *names) {
    if (names->depth + 1 >= NAMES_MAX_DEPTH)
        return false;
    names->scope[++names->depth] = NULL;
    return true;
}

static void forget(struct names *names, const struct name *name) {
    struct name **link = &names->bucket[name->hash & (uint32_t)(names->buckets - 1)];
    while (*link != name)
        link = &(*link)->chain;
    *link = name->chain;
    names->count--;
}

void names_leave(struct names *names) {
    for (struct name *name = names->scope[names->depth]; name; name = name->same_scope)
        forget(names, name);
    names->depth--;
}

void names_forget_local(struct names *names) {
    for (struct name **link = &names->scope[0]; *link;) {
        struct name *name = *link;
        if (name->local) {
            *link = name->same_scope;
            forget(names, name);
        } else {
            link = &name->same_scope;
        }
    }
}

static struct name *find(const struct names *names, const char *text, size_t length, uint32_t hash, bool label) {
    struct name *name = names->bucket[hash & (uint32_t)(names->buckets - 1)];
    while (name && !(name->hash == hash && name->length == length && is_label(name->kind) == label &&
                     memcmp(name->text, text, length) == 0))
        name = name->chain;
    return name;
}

struct name *names_find(const struct names *names, const char *text, size_t length, bool label) {
    return find(names, text, length, hash_text(text, length), label);
}

// Appends to the end of each new bucket, because the order within a bucket tells inner names from outer ones.
static void grow(struct names *names) {
    int buckets = names->buckets * 2;
    struct name **bucket = arena_allocate(names->arena, (size_t)buckets * sizeof *bucket);
    for (int i = 0; i < names->buckets; i++) {
        struct name **low = &bucket[i], **high = &bucket[i + names->buckets];
        for (struct name *name = names->bucket[i]; name; name = name->chain) {
            struct name ***end = name->hash & (uint32_t)names->buckets ? &high : &low;
            **end = name;
            *end = &name->chain;
        }
        *low = *high = NULL;
    }
    names->bucket = bucket;
    names->buckets = buckets;
}

struct name *names_add(struct names *names, const char *text, size_t length, enum name_kind kind, int depth) {
    uint32_t hash = hash_text(text, length);
    struct name *outer = find(names, text, length, hash, is_label(kind));
    if (outer && outer->depth >= depth)
        return NULL;
    if (names->count >= names->buckets)
        grow(names);
    struct name *name = arena_allocate(names->arena, sizeof *name);
    struct name **first = &names->bucket[hash & (uint32_t)(names->buckets - 1)];
    *name = (struct name){.text = text, .length = length, .kind = kind, .depth = depth, .hash = hash};
    name->chain = *first;
    *first = name;
    name->same_scope = names->scope[depth];
    names->scope[depth] = name;
    names->count++;
    return name;
}
