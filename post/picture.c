#include "picture.h"

#include "text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool begins(const char *text, const char *prefix) {
    return !strncmp(text, prefix, strlen(prefix));
}

// The opening tag: its size is the page's business, what it is labelled by gets the prefix.
static void write_tag(FILE *out, const char *tag, const char *end, const char *class, const char *prefix) {
    fprintf(out, "<svg class=\"%s\"", class);
    for (const char *at = tag + 4; at < end;) {
        const char *name = at + strspn(at, " \t\r\n"), *quote = strpbrk(name, "\"'>");
        if (!quote || quote >= end)
            break;
        const char *close = strchr(quote + 1, *quote);
        if (begins(name, "aria-labelledby=")) {
            fputs(" aria-labelledby=\"", out);
            for (const char *id = quote + 1; id < close; id += strspn(id, " ")) {
                int length = (int)strcspn(id, " \"'");
                fprintf(out, "%s%s%.*s", id > quote + 1 ? " " : "", prefix, length, id);
                id += length;
            }
            fputc('"', out);
        } else if (!begins(name, "width=") && !begins(name, "height="))
            fprintf(out, " %.*s", (int)(close + 1 - name), name);
        at = close + 1;
    }
    fputc('>', out);
}

bool picture_write(FILE *out, const char *path, const char *class, const char *prefix) {
    char *svg = text_read(path), *tag = svg ? strstr(svg, "<svg") : NULL, *end = tag ? strchr(tag, '>') : NULL;
    if (!end) {
        fprintf(stderr, "post: there is no SVG in %s\n", path);
        free(svg);
        return false;
    }
    write_tag(out, tag, end, class, prefix);
    static const char *const ids[] = {" id=\"", " id='", "href=\"#", "href='#", "url(#"};
    bool own = true;
    for (const char *at = end + 1; *at;) {
        const char *close;
        if (begins(at, "<style") && (close = strstr(at, "</style>"))) {
            at = close + strlen("</style>");
            continue;
        }
        if ((begins(at, "href=\"") || begins(at, "href='")) && at[6] != '#')
            own = false;
        if (begins(at, "url(") && at[4] != '#')
            own = false;
        size_t i = 0;
        while (i < sizeof ids / sizeof *ids && !begins(at, ids[i]))
            i++;
        if (i < sizeof ids / sizeof *ids) {
            fprintf(out, "%s%s", ids[i], prefix);
            at += strlen(ids[i]);
        } else if (*at == '\n' && (at[1] == '\n' || !at[1]))
            at++;
        else
            fputc(*at++, out);
    }
    if (!own)
        fprintf(stderr, "post: %s refers to something outside the page\n", path);
    free(svg);
    return own;
}

bool picture_colours(FILE *out, const char *palette) {
    struct lines lines;
    if (!lines_read(palette, &lines)) {
        fprintf(stderr, "post: %s cannot be read\n", palette);
        return false;
    }
    static const char *const uses[] = {"fill", "stroke", "color"};
    for (int i = 0; i < lines.count; i++) {
        char light[8], dark[8];
        for (int j = 0; j < 3 && sscanf(lines.line[i], "%*s %7s %7s", light, dark) == 2; j++)
            fprintf(out, "svg.chart [%s=\"%s\"] { %s: light-dark(%s, %s); }\n", uses[j], light, uses[j], light, dark);
    }
    lines_free(&lines);
    return true;
}
