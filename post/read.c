#include "read.h"

#include <stdio.h>
#include <stdlib.h>

char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    char *text = NULL;
    size_t size = 0;
    if (getdelim(&text, &size, '\0', file) < 0) {
        free(text);
        text = ferror(file) ? NULL : calloc(1, 1);
    }
    fclose(file);
    return text;
}
