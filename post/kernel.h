// A lesson's source without the marks of its blanks, and what of it the solution before has not.
#ifndef KERNEL_H
#define KERNEL_H

#include "text.h"

struct kernel_line {
    char mark;  // '+' new, '-' gone, ' ' neither
    int number; // in its own file, from 1
    int blank;  // the TODO that it fills in, 0 for none
    const char *text;
};

struct kernel {
    char path[1024];
    struct kernel_line *line; // [count]; what is gone stands before what came in its place
    int count;
    bool compared; // there is a solution before it
    int news, gone;
    struct lines file, before;
};

// The few lines of a kernel that a post shows: places in line[].
struct snippet {
    int first, end;
};

// figures: of figures_read; lesson: a number, "05"; own: the learner's file. False where there is no such lesson or
// file; kernel_free() may be called all the same.
bool kernel_read(const char *figures, const char *lesson, const char *file, bool own, struct kernel *kernel);
void kernel_free(struct kernel *kernel);

// What a learner fills in at TODO `blank`. Blank 0 is the longest that is short enough to read, or, where nothing is
// marked, the longest run of new lines that is. False where there is none.
bool kernel_snippet(const struct kernel *kernel, int blank, struct snippet *snippet);

// With all that changes around it, and an unchanged line on each side; the same where that is too long to read.
struct snippet kernel_hunk(const struct kernel *kernel, struct snippet snippet);

// As Markdown: a listing, with marks where only a part is new or something is gone, and where it stands, as a link.
// with_gone: the lines that are gone, too.
void kernel_print(FILE *out, const struct kernel *kernel, struct snippet snippet, bool with_gone, const char *links);

#endif
