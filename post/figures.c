#include "figures.h"

#include "message.h"
#include "text.h"

#include <stdarg.h>
#include <string.h>

enum { BEHIND_KEY = 0x1f, BEHIND_TEXT = 0x1e };

char *figures_read(const char *path) {
    char *figures = text_read(path);
    if (!figures)
        message_exit(EXIT_BAD_INPUT, "%s cannot be read [cannot-read]", path);
    for (char *record = figures; *record;) {
        char *key_end = strchr(record, BEHIND_KEY), *end = strchr(record, BEHIND_TEXT);
        if (!key_end || !end || key_end > end)
            message_exit(EXIT_BAD_INPUT, "%s is not a list of figures [bad-figures]", path);
        *end = '\0';
        record = end + 1;
    }
    return figures;
}

const char *figures_find(const char *figures, const char *key, ...) {
    char wanted[1024];
    va_list words;
    va_start(words, key);
    vsnprintf(wanted, sizeof wanted, key, words);
    va_end(words);
    for (const char *record = figures; *record; record += strlen(record) + 1) {
        const char *key_end = text_after_prefix(record, wanted);
        if (key_end && *key_end == BEHIND_KEY)
            return key_end + 1;
    }
    return NULL;
}
