// Lines of CUDA C as HTML, with what a reader looks for in colours.
#ifndef HIGHLIGHT_H
#define HIGHLIGHT_H

#include <stdbool.h>
#include <stdio.h>

// Writes text with what HTML takes as its own escaped.
void html_text(FILE *out, const char *text, size_t length);

// code: lines, each with its end. is_diff: each begins with "+ " where it is new, and with two blanks where it is not.
void highlight(FILE *out, const char *code, bool is_diff);

#endif
