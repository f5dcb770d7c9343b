// The blanks of a lesson's files as a list.
#ifndef BLANKS_H
#define BLANKS_H

#include <stdbool.h>

enum { MOST_BLANKS = 100 };

struct listed_blank {
    const char *file; // the caller's
    int number, line;
    bool open;
    char text[200]; // of its comment, the first line: "TODO 1 (about 4 lines): ..."
};

struct blank_list {
    struct listed_blank blank[MOST_BLANKS];
    int count;
};

// Adds the blanks of a file that have both markers. False where the file cannot be read.
bool blank_list_add(struct blank_list *list, const char *file);

// The first one that is open, NULL where none is.
const struct listed_blank *blank_list_open(const struct blank_list *list);

#endif
