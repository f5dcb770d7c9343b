// Texts: whole files, their lines, and numbers and paragraphs for people.
#ifndef TEXT_H
#define TEXT_H

#include "message.h"

#include <stddef.h>
#include <stdio.h>

// The whole text of a file, for free(); NULL where it cannot be read.
char *text_read(const char *path);

// A file by its lines, without their ends. line[count] is NULL.
struct lines {
    char *text;
    char **line; // [count]
    int count;
};

// False, and no lines, where the file cannot be read.
bool lines_read(const char *path, struct lines *lines);
void lines_free(struct lines *lines);

// Without the blanks at both ends, in place.
char *text_trim(char *text);

// A copy of so many characters, or the process ends.
char *text_copy(const char *text, size_t length);

// What stands behind the last slash.
const char *text_base(const char *path);

// How the text goes on behind a prefix, NULL where it begins in another way.
const char *text_after(const char *text, const char *prefix);

enum { NUMBER_TEXT = 48 };

// A whole number, in groups of three digits.
const char *text_grouped(double number, char text[NUMBER_TEXT]);
// The same, and four digits of a number under 1000 that is not whole.
const char *text_number(double number, char text[NUMBER_TEXT]);
// "12.5 KiB"
const char *text_bytes(double bytes, char text[NUMBER_TEXT]);

// Prints a paragraph in lines of at most `width` characters.
void text_wrap(FILE *file, const char *text, int width);

#endif
