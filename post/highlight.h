// CUDA C as HTML with syntax highlighting.
#ifndef HIGHLIGHT_H
#define HIGHLIGHT_H

#include <stdbool.h>
#include <stdio.h>

// Writes text with HTML characters escaped.
void html_text(FILE *out, const char *text, size_t length);

// code: lines with their newlines. is_diff: each begins with "+ ", "- " or two spaces.
void highlight(FILE *out, const char *code, bool is_diff);

#endif
