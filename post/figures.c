#include "figures.h"

#include "message.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

static int by_key(const void *a, const void *b) {
    return strcmp(((const struct figure *)a)->key, ((const struct figure *)b)->key);
}

void figures_read(const char *path, struct figures *figures) {
    *figures = (struct figures){.text = text_read(path)};
    if (!figures->text)
        message_exit(EXIT_BAD_INPUT, "%s cannot be read", path);
    for (char *at = figures->text; *at;) {
        char *text = strchr(at, 0x1f), *end = strchr(at, 0x1e);
        if (!text || !end || text > end)
            message_exit(EXIT_BAD_INPUT, "%s is no list of figures", path);
        *text++ = *end = '\0';
        figures->all = realloc(figures->all, (size_t)(figures->count + 1) * sizeof *figures->all);
        figures->all[figures->count++] = (struct figure){.key = at, .text = text};
        at = end + 1;
    }
    qsort(figures->all, (size_t)figures->count, sizeof *figures->all, by_key);
}

const char *figures_find(const struct figures *figures, const char *key) {
    struct figure wanted = {.key = key};
    const struct figure *found = bsearch(&wanted, figures->all, (size_t)figures->count, sizeof *figures->all, by_key);
    return found ? found->text : NULL;
}
