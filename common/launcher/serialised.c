#include "launcher/serialised.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

bool serialised_read(const char *library, char *line, size_t size) {
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s.serialised", library);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    bool read = fgets(line, (int)size, file);
    fclose(file);
    if (read)
        line[strcspn(line, "\n")] = 0;
    return read;
}
