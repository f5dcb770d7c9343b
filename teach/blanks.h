// The list of the blanks in a lesson's files.
#ifndef BLANKS_H
#define BLANKS_H

#include <stdbool.h>

enum { MAX_BLANKS = 100 };

struct listed_blank {
    const char *file; // owned by the caller
    int number, line;
    bool open;
    char text[200]; // first line of its comment: "TODO 1 (about 4 lines): ..."
};

struct blank_list {
    struct listed_blank blank[MAX_BLANKS];
    int count;
};

// Appends the blanks of a file that have both markers. False if the file cannot be read.
bool blank_list_add(struct blank_list *list, const char *file);

// NULL if all blanks are filled.
const struct listed_blank *first_open_blank(const struct blank_list *list);

#endif
