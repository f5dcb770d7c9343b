// The skeleton of a solution: the file without what stands in its blanks.
#ifndef SKELETON_H
#define SKELETON_H

#include <stdbool.h>

// Whether a file is the skeleton of a solution, byte by byte.
bool skeleton_is(const char *solution, const char *file);

#endif
