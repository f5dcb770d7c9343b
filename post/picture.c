#include "picture.h"

#include "text.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

// The opening tag, without its size (the page sets it), with prefixed aria-labelledby.
static void write_tag(FILE *out, const char *tag, const char *class, const char *prefix) {
    fprintf(out, "<svg class=\"%s\"", class);
    const char *name = tag + strlen("<svg");
    for (const char *quote; *(quote = strpbrk(name, "\"'>")) != '>';) {
        const char *close = strchr(quote + 1, *quote);
        name += strspn(name, " \t\r\n");
        if (text_after_prefix(name, "aria-labelledby=")) {
            const char *before = " aria-labelledby=\"";
            for (const char *id = quote + 1; id < close; id += strspn(id, " ")) {
                int length = (int)strcspn(id, " \"'");
                fprintf(out, "%s%s%.*s", before, prefix, length, id);
                before = " ";
                id += length;
            }
            fputc('"', out);
        } else if (!text_after_prefix(name, "width=") && !text_after_prefix(name, "height="))
            fprintf(out, " %.*s", (int)(close + 1 - name), name);
        name = close + 1;
    }
    fputc('>', out);
}

// Removes styles and empty lines and prefixes each id. False if a reference is not to this SVG.
static bool write_rest(FILE *out, const char *rest, const char *prefix) {
    bool own = true;
    regex_t special;
    regmatch_t found;
    regcomp(&special, "<style|\n(\n|$)| id=[\"']|(href=[\"']|url\\()#?", REG_EXTENDED);
    while (!regexec(&special, rest, 1, &found, 0)) {
        const char *at = rest + found.rm_so, *style_end = *at == '<' ? strstr(at, "</style>") : NULL;
        fprintf(out, "%.*s", (int)found.rm_so, rest);
        rest += found.rm_eo;
        if (*at == '\n')
            rest = at + 1;
        else if (style_end)
            rest = style_end + strlen("</style>");
        else {
            bool is_id = *at == ' ' || rest[-1] == '#';
            fprintf(out, "%.*s%s", found.rm_eo - found.rm_so, at, is_id ? prefix : "");
            own &= is_id || *at == '<';
        }
    }
    fputs(rest, out);
    regfree(&special);
    return own;
}

bool picture_write(FILE *out, const char *path, const char *class, int number) {
    char *svg = text_read(path), *tag = svg ? strstr(svg, "<svg") : NULL, *end = tag ? strchr(tag, '>') : NULL;
    char prefix[16];
    snprintf(prefix, sizeof prefix, "p%d-", number);
    if (end)
        write_tag(out, tag, class, prefix);
    bool own = end && write_rest(out, end + 1, prefix);
    if (!own)
        fprintf(stderr,
                end ? "post: %s refers to something outside the page [foreign-reference]\n"
                    : "post: %s is not an SVG [no-figure]\n",
                path);
    free(svg);
    return own;
}

void picture_colours(FILE *out, char *palette) {
    static const char *const uses[] = {"fill", "stroke", "color"};
    char light[8], dark[8];
    for (char *line = strtok(palette, "\n"); line; line = strtok(NULL, "\n"))
        for (int i = 0; i < 3 && sscanf(line, "%*s %7s %7s", light, dark) == 2; i++)
            fprintf(out, "svg.chart [%s=\"%s\"] { %s: light-dark(%s, %s); }\n", uses[i], light, uses[i], light, dark);
}
