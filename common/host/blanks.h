// The blanks of a lesson's file, and which of them are still open.
//
//     // TODO 1 (about 4 lines): a question or a task;
//     // more lines of the same comment.
//     ...                                    the blank
//     // END TODO 1
//
// A blank is open while it contains only empty lines and comments. All programs that need these markers use these
// functions.
#ifndef HOST_BLANKS_H
#define HOST_BLANKS_H

#include <stdbool.h>

// The role of a line among the blanks of its file.
enum blank_line {
    BLANK_OUTSIDE, // outside a blank, or an empty line
    BLANK_BEGIN,   // TODO n
    BLANK_TASK,    // a line of the comment that TODO n began
    BLANK_INSIDE,  // code or comment in the blank
    BLANK_END,     // END TODO n
    BLANK_STRAY,   // a comment that begins with TODO and no number
};

// Starts as {0}; blank_read() takes the lines of a file in order.
struct blank_reader {
    int line;     // of the line that was read last, from 1
    int begun;    // line of the TODO of the blank that the line belongs to; 0 outside of one
    int number;   // of the last marker, TODO or END TODO
    int about;    // number of lines that the last TODO states, -1: none
    int lines;    // nonempty lines of the blank, without its task
    bool filled;  // the blank has a line that is no comment
    bool in_task; // only comments so far
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
