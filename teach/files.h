// Files that the commands write.
#ifndef FILES_H
#define FILES_H

#include <stdbool.h>

enum { PATH_TEXT = 4096 };

// Creates the folder of a file and all its parents. False if that fails.
bool make_parent_folder(const char *file);

// Appends a line to a file, whose folder is created if needed. False if that fails.
bool append_line(const char *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

bool file_exists(const char *file);

// Prints a file on stderr.
void print_file(const char *file);

#endif
