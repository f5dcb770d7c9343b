// Text files, lines, and the formatting of numbers and paragraphs.
#ifndef TEXT_H
#define TEXT_H

#include "message.h"

#include <stddef.h>
#include <stdio.h>

// The whole text of a file, to be released with free(); NULL if it cannot be read.
char *text_read(const char *path);

// The lines of a file without their newlines. line[count] is NULL.
struct lines {
    char *text;
    char **line; // [count]
    int count;
};

// False, and no lines, if the file cannot be read.
bool lines_read(const char *path, struct lines *lines);
void lines_free(struct lines *lines);

// Removes white space at both ends, in place.
char *text_trim(char *text);

// A copy of `length` characters; ends the process if memory runs out.
char *text_copy(const char *text, size_t length);

// The part after the last slash.
const char *base_name(const char *path);

// The rest of a text after a prefix; NULL if the text does not start with it.
const char *text_after_prefix(const char *text, const char *prefix);

enum { NUMBER_TEXT = 48 };

// An integer with its digits grouped in threes: "1,234,567".
const char *format_grouped(double number, char text[NUMBER_TEXT]);
// The same; a fraction under 1000 has four significant digits.
const char *format_number(double number, char text[NUMBER_TEXT]);
// "12.5 KiB"
const char *format_bytes(double bytes, char text[NUMBER_TEXT]);

// Prints a paragraph in lines of at most `width` characters.
void text_wrap(FILE *file, const char *text, int width);

#endif
