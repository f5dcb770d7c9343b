// Pictures of a page.
#ifndef PICTURE_H
#define PICTURE_H

#include <stdbool.h>
#include <stdio.h>

// Writes an SVG into a page, with a class instead of its size, without its own styles, and with ids prefixed by the
// number. False, with one line on stderr, if the file does not exist or refers to something outside of the page.
bool picture_write(FILE *out, const char *path, const char *class, int number);

// Prints CSS rules for the colours of charts in the light and dark theme. Modifies the text of plots/palette.
void picture_colours(FILE *out, char *palette);

#endif
