// Error messages of one line, which state the problem and the remedy, and terminal colours.
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

// EXIT_NOT_VERIFIED: the check found nothing wrong, but cases that count were not compared.
enum { EXIT_CHECK_FAILED = 1, EXIT_BAD_INPUT = 2, EXIT_NOT_VERIFIED = 3 };

struct message {
    char text[600];
};

// Writes the line and returns false, so that a function can set its message and fail in one statement.
bool message_set(struct message *message, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Prints "error: ..." on stderr and ends the process with status.
_Noreturn void message_exit(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

enum colour { COLOUR_PLAIN, COLOUR_GOOD, COLOUR_BAD, COLOUR_FAINT };

// The escape sequence that starts the colour on stdout: "" if stdout is no terminal or NO_COLOR is set.
const char *colour(enum colour colour);

// True if stdout is a terminal, so that a progress line can be overwritten.
bool message_on_terminal(void);

// Call first: if output cannot be written (a full disk), the process exits with status 2 and a line, whatever its own
// status.
void message_guard_stdout(void);

// Erases the progress line of a terminal, so that another line can be printed.
void message_clear_line(void);

// The same, and flushes stdout: a line on stderr may follow.
void message_before_error(void);

#endif
