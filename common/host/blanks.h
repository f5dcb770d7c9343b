// The blanks of a lesson's file, and which of them nobody has filled in yet.
//
//     // TODO 1 (about 4 lines): a question or a task;
//     // more lines of the same comment.
//     ...                                    the blank
//     // END TODO 1
//
// A blank is open while nothing but empty lines and comments stands in it. All that reads these markers reads them
// here.
#ifndef HOST_BLANKS_H
#define HOST_BLANKS_H

#include <stdbool.h>

// What a line is to the blanks of its file.
enum blank_line {
    BLANK_OUTSIDE, // none of a blank, or none that says anything
    BLANK_BEGIN,   // TODO n
    BLANK_TASK,    // a line of the comment that TODO n began
    BLANK_INSIDE,  // of what stands in the blank
    BLANK_END,     // END TODO n
    BLANK_STRAY,   // a comment that begins with TODO and no number
};

// Begins as {0}, and is given the lines of a file in their order.
struct blank_reader {
    int line;     // of the line that was read last, from 1
    int begun;    // line of the TODO of the blank that the line belongs to; 0 outside of one
    int number;   // of the last marker, TODO or END TODO
    int about;    // lines that the last TODO says, -1 where it does not say them as above
    int lines;    // of the blank, those that are not empty, and not of its task
    bool filled;  // there is one that is no comment
    bool in_task; // only comments have come
    bool ended;
    const char *words; // the comment's text in the line that was read last, NULL where it is none; the caller's memory
};

// Takes the blanks from both ends of the line.
enum blank_line blank_read(struct blank_reader *reader, char *line);

struct blank {
    int open;       // how many blanks are
    int blanks;     // how many there are
    int line;       // of the first open one's TODO; 0 where none is open
    char text[800]; // "TODO 1 (about 4 lines): a question or a task", up to a line that ends a sentence
};

// False where the file cannot be read.
bool blanks_find(const char *path, struct blank *blank);

#endif
