#include "page.h"

#include "files.h"
#include "text.h"

#include <glob.h>
#include <string.h>

// Copies all files of the folder with this ending between the tags of an element.
static bool embed_files(FILE *to, const char *folder, const char *ending, const char *element, struct message *error) {
    char pattern[PATH_TEXT], closing[32];
    glob_t found;
    bool right = true;
    snprintf(pattern, sizeof pattern, "%s/*%s", folder, ending);
    snprintf(closing, sizeof closing, "</%s", element);
    if (glob(pattern, 0, NULL, &found))
        return message_set(error, "%s has no *%s; restore it with: git checkout %s [missing-file]", folder, ending,
                           folder);
    fprintf(to, "<%s>\n", element);
    for (size_t i = 0; i < found.gl_pathc && right; i++) {
        struct lines lines;
        if (!lines_read(found.gl_pathv[i], &lines))
            right = message_set(error, "%s cannot be read [cannot-read]", found.gl_pathv[i]);
        for (int l = 0; right && l < lines.count; l++) {
            if (strstr(lines.line[l], closing))
                right = message_set(error, "%s:%d contains %s, which would end the element in the page [early-end-tag]",
                                    found.gl_pathv[i], l + 1, closing);
            fprintf(to, "%s\n", lines.line[l]);
        }
        lines_free(&lines);
    }
    fprintf(to, "</%s>\n", element);
    globfree(&found);
    return right;
}

bool page_write(FILE *to, const char *folder, void (*data)(FILE *to, const void *context), const void *context,
                struct message *error) {
    char path[PATH_TEXT];
    struct lines lines;
    bool right = true;
    snprintf(path, sizeof path, "%s/page.html", folder);
    if (!lines_read(path, &lines))
        return message_set(error, "%s is missing; restore it with: git checkout %s [missing-file]", path, folder);
    for (int i = 0; i < lines.count && right; i++) {
        const char *line = text_trim(lines.line[i]);
        if (!strcmp(line, "@style@")) {
            right = embed_files(to, folder, ".css", "style", error);
        } else if (!strcmp(line, "@script@")) {
            right = embed_files(to, folder, ".js", "script", error);
        } else if (!strcmp(line, "@data@")) {
            fputs("<script type=\"application/json\" id=\"recording\">\n", to);
            data(to, context);
            fputs("</script>\n", to);
        } else {
            fprintf(to, "%s\n", line);
        }
    }
    lines_free(&lines);
    return right;
}
