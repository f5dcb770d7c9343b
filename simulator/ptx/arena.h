// Memory for things that live and die together: a parsed module, a linked kernel. Nothing in it is freed by itself, so
// an error may leave from any depth (arena_fail) and the owner frees the whole.
#ifndef SIMULATOR_PTX_ARENA_H
#define SIMULATOR_PTX_ARENA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

struct arena {
    struct arena_block *blocks; // newest first
    char *next, *end;           // free bytes of the newest block
    size_t bytes, limit;        // taken from the host so far, and the most that may be
    jmp_buf on_error;           // set by the owner; where arena_fail goes
    char *error;                // [error_size], one line
    size_t error_size;
};

// NULL where the host has no memory left. The owner must setjmp(arena->on_error) before the next call.
struct arena *arena_create(size_t limit, char *error, size_t error_size);
void arena_destroy(struct arena *arena);

// Zeroed, aligned for any type. Fails by arena_fail past the limit.
void *arena_allocate(struct arena *arena, size_t size);

// Returns an array with room for count + 1 elements: items itself, or a copy twice as large. *capacity starts at 0.
void *arena_grow(struct arena *arena, void *items, int count, int *capacity, size_t item_size);

// A copy that ends in 0.
char *arena_string(struct arena *arena, const char *text, size_t length);

char *arena_format(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Writes the error and leaves for on_error.
_Noreturn void arena_fail(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void arena_fail_list(struct arena *arena, const char *format, va_list arguments);

#endif
