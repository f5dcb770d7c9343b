// Detects a measured figure that was typed by hand: digits with a unit of time, rate or ratio. N=4096, 8x8, 32 queries,
// 16-byte and 48 KB do not count.
#ifndef LITERAL_H
#define LITERAL_H

#include <stdbool.h>
#include <stddef.h>

// Finds the first one in a text.
bool literal_figure(const char *text, char *figure, size_t size);

#endif
