// What results hold, by the words of a placeholder: "time 04 64" -> "3.17 ms". post/figures.sql makes it.
#ifndef FIGURES_H
#define FIGURES_H

#include <stdbool.h>

struct figures {
    char *text;
    struct figure {
        const char *key, *text;
    } * all; // [count], by key
    int count;
};

// Reads records "key US text RS" (0x1F, 0x1E). Ends the process where the file cannot be read.
void figures_read(const char *path, struct figures *figures);

// NULL where there is none.
const char *figures_find(const struct figures *figures, const char *key);

#endif
