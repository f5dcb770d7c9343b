// One line that says what is wrong and what to do, and the colours of what people read.
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

enum { EXIT_CHECK_FAILED = 1, EXIT_BAD_INPUT = 2 };

struct message {
    char text[600];
};

// Writes the line and returns false, so that a function that failed can say so in one statement.
bool message_set(struct message *message, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Prints "error: ..." on stderr and ends the process with status.
_Noreturn void message_exit(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

enum colour { COLOUR_PLAIN, COLOUR_GOOD, COLOUR_BAD, COLOUR_FAINT };

// The escape sequence that starts the colour on stdout: "" where stdout is no terminal or NO_COLOR is set.
const char *colour(enum colour colour);

// True where stdout is a terminal, so that a progress line can be written over itself.
bool message_on_terminal(void);

// To be called first: what is printed and cannot be written (a full disk) ends the process with status 2 and a line,
// however it ends by itself.
void message_guard_stdout(void);

// Takes away what a terminal shows of the progress, so that a line can be printed in its place.
void message_clear_line(void);

// The same, and all of stdout is out: a line on stderr may follow.
void message_before_error(void);

#endif
