// Whole files as texts.
#ifndef READ_H
#define READ_H

// The caller frees it; NULL where the file cannot be read.
char *read_file(const char *path);

#endif
