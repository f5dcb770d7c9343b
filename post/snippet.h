// The few lines of a kernel that a post shows.
#ifndef SNIPPET_H
#define SNIPPET_H

#include "text.h"

struct snippet {
    int first, count; // lines of the file, from 0
};

// What a learner fills in at TODO `blank`: the lines between the task and END TODO. Blank 0 is the longest that is
// short enough to read. False where the file has no such blank, or nothing stands in it.
bool snippet_of_blank(const struct lines *file, int blank, struct snippet *snippet);

// The longest run of new lines, shortened to what can be read. False where none is new.
bool snippet_of_news(const struct lines *file, const bool *is_new, struct snippet *snippet);

// Which lines of `after` stand in no longest common part with `before`: is_new[after->count]. How many of `before` do
// not stand in it.
int snippet_compare(const struct lines *before, const struct lines *after, bool *is_new);

// How many blanks all lines of the snippet begin with. Directives stand at the margin of a source and do not count.
int snippet_indent(const struct lines *file, struct snippet snippet);

#endif
