// Pictures within a page.
#ifndef PICTURE_H
#define PICTURE_H

#include <stdbool.h>
#include <stdio.h>

// Writes an SVG into a page, with a class in the place of its size, without its own styles, and with ids that begin
// with the number. False, and one line on stderr, where there is no such file or it refers to something outside the
// page.
bool picture_write(FILE *out, const char *path, const char *class, int number);

// The colours of charts on white and on dark paper, as rules of CSS for svg.chart. Takes the text of plots/palette
// apart.
void picture_colours(FILE *out, char *palette);

#endif
