#include "literal.h"

#include "text.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#define UNIT                                                                                                           \
    "([num]?s|(nano|micro|milli)?sec(ond)?s?|min(ute)?s?|[MGTP]FLOP(/s|S|s)?|(giga|tera)flops?|[MGT]i?B(/s)?|"         \
    "(mega|giga|tera)bytes?|[MG]Hz|W|watts?|x|times|fold|percent|per cent)"

static const char *const patterns[] = {
    "([0-9][0-9.,]* ?%)",
    "([0-9][0-9.,]*[ -]?" UNIT ")([^A-Za-z0-9_/]|$)",
};

// Patterns match bytes of UTF-8 texts.
static void replace(char *text, const char *from, char to) {
    for (char *at = text; (at = strstr(at, from)) != NULL; at++) {
        *at = to;
        memmove(at + 1, at + strlen(from), strlen(at + strlen(from)) + 1);
    }
}

bool literal_figure(const char *text, char *figure, size_t size) {
    char *copy = text_copy(text, strlen(text));
    replace(copy, "\302\240", ' ');
    replace(copy, "\303\227", 'x');
    replace(copy, "\302\265", 'u');
    replace(copy, "\316\274", 'u');
    // A shape such as 4096 x 64 continues with a number.
    for (char *at = copy; (at = strstr(at, " x ")) != NULL; at++)
        if (strchr("0123456789(", at[3]) && at[3])
            at[1] = ' ';
    bool found = false;
    for (size_t i = 0; !found && i < sizeof patterns / sizeof *patterns; i++) {
        regex_t regex;
        regmatch_t match[2];
        regcomp(&regex, patterns[i], REG_EXTENDED);
        found = !regexec(&regex, copy, 2, match, 0);
        regfree(&regex);
        if (found)
            snprintf(figure, size, "%.*s", (int)(match[1].rm_eo - match[1].rm_so), copy + match[1].rm_so);
    }
    free(copy);
    return found;
}
