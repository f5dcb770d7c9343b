// Folders and files that the commands write.
#ifndef FILES_H
#define FILES_H

#include <stdbool.h>

enum { PATH_TEXT = 4096 };

// Makes the folder of a file with all above it. False where that cannot be done.
bool files_make_folder(const char *file);

// Adds a line at the end of a file, in a folder that is made where it is missing. False where that cannot be done.
bool files_append(const char *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

bool files_exist(const char *file);

// Prints a file on stderr.
void files_show(const char *file);

#endif
