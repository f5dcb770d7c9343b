// Converts an outline to Markdown: placeholders are replaced by values from the results. Syntax: post/README.md.
#ifndef OUTLINE_H
#define OUTLINE_H

#include <stdbool.h>
#include <stdio.h>

struct outline {
    const char *path;
    const char *figures; // from figures_read; NULL: only check what does not depend on results, and write nothing
    const char *links;   // prefix of repository paths in links
};

// Writes the post, and the paths of its drawings, one per line. False if there is an error; each error is reported on
// stderr with file and line.
bool outline_write(const struct outline *outline, FILE *post, FILE *drawings);

#endif
