// Lines of source files by line number (each file is read once), and the CSV tables that belong to a source.
#ifndef SOURCES_H
#define SOURCES_H

#include "files.h"

// The trimmed line, counted from 1; "" if the file or the line does not exist.
const char *source_line(const char *path, int line);

// The number of the first line that contains the text, 0 if none does.
int find_source_line(const char *path, const char *text);

// The table `what` of attention.cu is WHAT.csv, the one of softmax.cu softmax_WHAT.csv: in the folder of the source, or
// in the folder of lessons/ with the same name, which a solution shares with its skeleton. False if the path is too
// long.
bool source_table(const char *source, const char *what, char path[PATH_TEXT]);
bool lesson_table(const char *source, const char *what, char path[PATH_TEXT]);

#endif
