#include "arena.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_BLOCK = 64 * 1024, ARENA_LARGEST_BLOCK = 4 * 1024 * 1024 };

struct arena_block {
    struct arena_block *older;
    alignas(max_align_t) char bytes[];
};

struct arena *arena_create(size_t limit, char *error, size_t error_size) {
    struct arena *arena = calloc(1, sizeof *arena);
    if (arena) {
        arena->limit = limit;
        arena->error = error;
        arena->error_size = error_size;
    } else {
        snprintf(error, error_size, "out of memory");
    }
    return arena;
}

void arena_destroy(struct arena *arena) {
    if (!arena)
        return;
    for (struct arena_block *block = arena->blocks; block;) {
        struct arena_block *older = block->older;
        free(block);
        block = older;
    }
    free(arena);
}

_Noreturn void arena_vfail(struct arena *arena, const char *format, va_list arguments) {
    vsnprintf(arena->error, arena->error_size, format, arguments);
    longjmp(arena->on_error, 1);
}

_Noreturn void arena_fail(struct arena *arena, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    arena_vfail(arena, format, arguments);
}

static void arena_add_block(struct arena *arena, size_t minimum) {
    size_t size = arena->bytes / 4; // blocks grow with the arena, so that a large module needs few of them
    size = size < ARENA_BLOCK ? ARENA_BLOCK : size > ARENA_LARGEST_BLOCK ? ARENA_LARGEST_BLOCK : size;
    if (size < minimum)
        size = minimum;
    if (size > arena->limit - arena->bytes)
        arena_fail(arena, "the PTX is too large: it needs more than %zu MiB", arena->limit >> 20);
    struct arena_block *block = calloc(1, sizeof *block + size);
    if (!block)
        arena_fail(arena, "out of memory");
    block->older = arena->blocks;
    arena->blocks = block;
    arena->bytes += size;
    arena->next = block->bytes;
    arena->end = block->bytes + size;
}

void *arena_allocate(struct arena *arena, size_t size) {
    if (size > arena->limit)
        arena_fail(arena, "the PTX is too large: it needs more than %zu MiB", arena->limit >> 20);
    size = (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
    if (size > (size_t)(arena->end - arena->next))
        arena_add_block(arena, size);
    void *result = arena->next;
    arena->next += size;
    return result;
}

void *arena_grow(struct arena *arena, void *items, int count, int *capacity, size_t item_size) {
    if (count < *capacity)
        return items;
    if (*capacity > INT32_MAX / 4)
        arena_fail(arena, "the PTX is too large");
    *capacity = *capacity ? *capacity * 2 : 8;
    void *larger = arena_allocate(arena, (size_t)*capacity * item_size);
    if (count > 0)
        memcpy(larger, items, (size_t)count * item_size);
    return larger;
}

char *arena_string(struct arena *arena, const char *text, size_t length) {
    char *copy = arena_allocate(arena, length + 1);
    if (length > 0)
        memcpy(copy, text, length);
    return copy;
}

char *arena_format(struct arena *arena, const char *format, ...) {
    va_list arguments, arguments_copy;
    va_start(arguments, format);
    va_copy(arguments_copy, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *text = arena_allocate(arena, length < 0 ? 1 : (size_t)length + 1);
    if (length >= 0)
        vsnprintf(text, (size_t)length + 1, format, arguments_copy);
    va_end(arguments_copy);
    return text;
}
