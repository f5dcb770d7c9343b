// What results hold, by the words of a placeholder: "time 04 64" -> "3.17 ms". post/figures.sql makes it.
#ifndef FIGURES_H
#define FIGURES_H

// Reads records "key US text RS" (0x1F, 0x1E) for figures_find and free(). Ends the process where the file cannot be
// read.
char *figures_read(const char *path);

// The text of a key, which is printed as by printf; NULL where there is none.
const char *figures_find(const char *figures, const char *key, ...) __attribute__((format(printf, 2, 3)));

#endif
