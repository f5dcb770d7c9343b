// Lines of source files by their number; each file is read once. And the tables that lie beside them.
#ifndef SOURCES_H
#define SOURCES_H

#include "files.h"

// The line without the blanks around it, "" where the file or the line is not there. Lines count from 1.
const char *source_line(const char *path, int line);

// The first line that contains the text, 0 where none does.
int source_find(const char *path, const char *text);

// The table `what` of attention.cu is WHAT.csv, that of softmax.cu softmax_WHAT.csv: beside the source, or in lessons/,
// in the folder of the same name, since a solution has those of its skeleton. false where the path is too long.
bool source_table_beside(const char *source, const char *what, char path[PATH_TEXT]);
bool source_table_of_lesson(const char *source, const char *what, char path[PATH_TEXT]);

#endif
