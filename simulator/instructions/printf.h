// The kernel's printf, and reads through its pointers.
#ifndef SIMULATOR_INSTRUCTIONS_PRINTF_H
#define SIMULATOR_INSTRUCTIONS_PRINTF_H

#include "../memory/spaces.h"

// One thread's printf: format and arguments are generic addresses. Returns the number of arguments in the format, or
// -1.
int printf_lane(const struct warp *warp, int lane, uint64_t format, uint64_t arguments);

// Copies up to size bytes from a thread's generic address; returns the number of bytes copied. system.c
size_t system_read(const struct warp *warp, int lane, uint64_t address, void *to, size_t size);
void system_read_text(const struct warp *warp, int lane, uint64_t address, char *text, size_t size);

#endif
