// Finds the blanks of a lesson that nobody has filled in yet.
//
//     // TODO 1 (about 4 lines): a question or a task;
//     // more lines of the same comment.
//     ...                                    the blank
//     // END TODO 1
#ifndef HOST_BLANKS_H
#define HOST_BLANKS_H

#include <stdbool.h>

struct blank {
    int open;       // how many blanks have nothing but empty lines and comments in them
    int blanks;     // how many there are
    int line;       // of the first open one's TODO; 0 where none is open
    char text[800]; // "TODO 1 (about 4 lines): a question or a task", up to a line that ends a sentence
};

// False where the file cannot be read.
bool blanks_find(const char *path, struct blank *blank);

#endif
