// An outline to Markdown: every placeholder is replaced by what results say. post/README.md says what an outline may
// hold.
#ifndef OUTLINE_H
#define OUTLINE_H

#include <stdbool.h>
#include <stdio.h>

struct outline {
    const char *path;
    const char
        *figures; // of figures_read; NULL: it is checked as far as that goes without results, and nothing is written
    const char *links; // what goes before a path of the repository in a link
};

// Writes the post, and the paths of the drawings that it shows, a line each. False where there is a mistake; each is
// then said on stderr with file and line.
bool outline_write(const struct outline *outline, FILE *post, FILE *drawings);

#endif
