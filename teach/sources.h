// Lines of source files by their number; each file is read once.
#ifndef SOURCES_H
#define SOURCES_H

// The line without the blanks around it, "" where the file or the line is not there. Lines count from 1.
const char *source_line(const char *path, int line);

// The first line that contains the text, 0 where none does.
int source_find(const char *path, const char *text);

#endif
