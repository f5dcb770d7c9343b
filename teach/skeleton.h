// The skeleton of a solution: the file without the contents of its blanks.
#ifndef SKELETON_H
#define SKELETON_H

#include <stdbool.h>

// Whether a file equals the skeleton of a solution, byte by byte.
bool is_skeleton_of(const char *solution, const char *file);

#endif
