// A lesson's source without the markers of its blanks, as a diff from the previous solution.
#ifndef KERNEL_H
#define KERNEL_H

#include "text.h"

struct kernel_line {
    char mark;  // '+' added, '-' removed, ' ' unchanged
    int number; // line number in its file
    int blank;  // number of its blank, 0 for none
    const char *text;
};

struct kernel {
    char path[1024];
    struct kernel_line *line; // [count]; removed lines come before the lines that replace them
    int count;
    bool compared; // there is a previous solution
    int added, removed;
    struct lines file, before;
};

// The lines of a kernel that a post shows, as indices of line[].
struct snippet {
    int first, end;
};

// figures: from figures_read; lesson: a number, "05"; own: the learner's file. False if there is no such lesson or
// file; kernel_free() may be called in any case.
bool kernel_read(const char *figures, const char *lesson, const char *file, bool own, struct kernel *kernel);
void kernel_free(struct kernel *kernel);

// The lines of blank `blank`. Blank 0 selects the longest blank that is short enough to read, or, if none is marked,
// the longest such run of added lines. False if there is none.
bool kernel_snippet(const struct kernel *kernel, int blank, struct snippet *snippet);

// The snippet extended to all adjacent changes and one unchanged line on each side, unless that is too long to read.
struct snippet kernel_hunk(const struct kernel *kernel, struct snippet snippet);

// Prints a Markdown listing with a link to its source, and diff marks if only a part was added or lines were removed.
// with_removed: also prints removed lines.
void kernel_print(FILE *out, const struct kernel *kernel, struct snippet snippet, bool with_removed, const char *links);

#endif
