#include "literal.h"

#include "text.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#define UNIT                                                                                                           \
    "([num]?s|(nano|micro|milli)?sec(ond)?s?|min(ute)?s?|[MGTP]FLOP(/s|S|s)?|(giga|tera)flops?|[MGT]i?B(/s)?|"         \
    "(mega|giga|tera)bytes?|[MG]Hz|W|watts?|x|times|fold|percent|per cent)"

// The texts are UTF-8, and the patterns of bytes.
static void replace(char *text, const char *from, char to) {
    for (char *at = text; (at = strstr(at, from)) != NULL; at++) {
        *at = to;
        memmove(at + 1, at + strlen(from), strlen(at + strlen(from)) + 1);
    }
}

static bool matches(const char *pattern, const char *text, int part, char *figure, size_t size) {
    regex_t regex;
    regmatch_t match[8];
    regcomp(&regex, pattern, REG_EXTENDED);
    bool found = !regexec(&regex, text, 8, match, 0);
    regfree(&regex);
    if (found && figure)
        snprintf(figure, size, "%.*s", (int)(match[part].rm_eo - match[part].rm_so), text + match[part].rm_so);
    return found;
}

bool literal_figure(const char *text, char *figure, size_t size) {
    char *copy = text_copy(text, strlen(text));
    replace(copy, "\302\240", ' ');
    replace(copy, "\303\227", 'x');
    replace(copy, "\302\265", 'u');
    replace(copy, "\316\274", 'u');
    bool found = matches("[0-9][0-9.,]* ?%", copy, 0, figure, size);
    if (!found) {
        // A shape, 4096 x 64, goes on with a number.
        for (char *at = copy; (at = strstr(at, " x ")) != NULL; at++)
            if (strchr("0123456789(", at[3]) && at[3])
                at[1] = ' ';
        found = matches("([0-9][0-9.,]*[ -]?" UNIT ")([^A-Za-z0-9_/]|$)", copy, 1, figure, size);
    }
    free(copy);
    return found;
}
