// Values from the results by the text of a placeholder: "time 04 64" -> "3.17 ms". Made by post/figures.sql.
#ifndef FIGURES_H
#define FIGURES_H

// Reads records "key US text RS" (0x1F, 0x1E), to be released with free(). Ends the process if the file cannot be read.
char *figures_read(const char *path);

// The text of a key, given as for printf; NULL if there is none.
const char *figures_find(const char *figures, const char *key, ...) __attribute__((format(printf, 2, 3)));

#endif
