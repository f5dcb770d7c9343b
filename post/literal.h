// A figure that only a measurement can give, written by hand: digits and a unit of time, rate or ratio. N=4096, 8x8, 32
// queries, 16-byte and 48 KB are none.
#ifndef LITERAL_H
#define LITERAL_H

#include <stdbool.h>
#include <stddef.h>

// The first in a text, or false.
bool literal_figure(const char *text, char *figure, size_t size);

#endif
