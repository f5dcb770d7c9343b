// An arena allocator for objects with the same lifetime: a parsed module, a linked kernel. No object is freed
// individually, so code at any depth can abandon the work with arena_fail(), and the owner frees the whole arena.
#ifndef SIMULATOR_PTX_ARENA_H
#define SIMULATOR_PTX_ARENA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

struct arena {
    struct arena_block *blocks; // newest first
    char *next, *end;           // free bytes of the newest block
    size_t bytes, limit;        // allocated from the host so far, and the limit
    jmp_buf on_error;           // set by the owner; arena_fail jumps to it
    char *error;                // [error_size], one line
    size_t error_size;
};

// NULL if the host is out of memory. The owner must call setjmp(arena->on_error) before the next call.
struct arena *arena_create(size_t limit, char *error, size_t error_size);
void arena_destroy(struct arena *arena);

// Zeroed, aligned for any type. Calls arena_fail() beyond the limit.
void *arena_allocate(struct arena *arena, size_t size);

// Returns an array with capacity for count + 1 elements: items itself, or a copy with twice the capacity. *capacity
// starts at 0.
void *arena_grow(struct arena *arena, void *items, int count, int *capacity, size_t item_size);

// A null-terminated copy.
char *arena_string(struct arena *arena, const char *text, size_t length);

char *arena_format(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Writes the error and jumps to on_error.
_Noreturn void arena_fail(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void arena_vfail(struct arena *arena, const char *format, va_list arguments);

#endif
