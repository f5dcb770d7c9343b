#include "message.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

bool message_set(struct message *message, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message->text, sizeof message->text, format, arguments);
    va_end(arguments);
    // What a file or a command line holds must not break the line, nor steer the terminal.
    for (char *c = message->text; *c; c++)
        if (iscntrl((unsigned char)*c))
            *c = '?';
    return false;
}

void message_exit(int status, const char *format, ...) {
    va_list arguments;
    message_before_error();
    fputs("error: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(status);
}

bool message_on_terminal(void) {
    return isatty(STDOUT_FILENO);
}

static void close_stdout(void) {
    bool failed = ferror(stdout);
    if (fflush(stdout) == 0 && !failed)
        return;
    fputs("error: stdout cannot be written: is the disk full?\n", stderr);
    _exit(EXIT_BAD_INPUT);
}

void message_guard_stdout(void) {
    atexit(close_stdout);
}

void message_clear_line(void) {
    if (message_on_terminal())
        fputs("\r\033[K", stdout);
}

void message_before_error(void) {
    message_clear_line();
    fflush(stdout);
}

const char *colour(enum colour colour) {
    static const char *const start[] = {
        [COLOUR_PLAIN] = "\033[0m", [COLOUR_GOOD] = "\033[32m", [COLOUR_BAD] = "\033[31m", [COLOUR_FAINT] = "\033[2m"};
    const char *no_color = getenv("NO_COLOR");
    if (!message_on_terminal() || (no_color && *no_color))
        return "";
    return start[colour];
}
