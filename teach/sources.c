#include "sources.h"

#include "text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MAX_FILES = 64 };

static const struct lines *file_lines(const char *path) {
    static struct {
        char *path;
        struct lines lines;
    } file[MAX_FILES];
    static int files;
    for (int i = 0; i < files; i++)
        if (!strcmp(file[i].path, path))
            return &file[i].lines;
    if (files == MAX_FILES)
        message_exit(EXIT_CHECK_FAILED, "a kernel with more than %d source files cannot be shown", MAX_FILES);
    file[files].path = text_copy(path, strlen(path));
    if (lines_read(path, &file[files].lines))
        for (int i = 0; i < file[files].lines.count; i++)
            file[files].lines.line[i] = text_trim(file[files].lines.line[i]);
    return &file[files++].lines;
}

const char *source_line(const char *path, int line) {
    const struct lines *lines = file_lines(path);
    return line >= 1 && line <= lines->count ? lines->line[line - 1] : "";
}

int find_source_line(const char *path, const char *text) {
    const struct lines *lines = file_lines(path);
    for (int i = 0; i < lines->count; i++)
        if (strstr(lines->line[i], text))
            return i + 1;
    return 0;
}

enum { NAME_TEXT = 256 };

static void split(const char *source, const char *what, char folder[PATH_TEXT], char name[NAME_TEXT]) {
    const char *file = base_name(source);
    snprintf(folder, PATH_TEXT, "%.*s", file > source ? (int)(file - source) - 1 : 1, file > source ? source : ".");
    if (strcmp(file, "attention.cu"))
        snprintf(name, NAME_TEXT, "%.*s_%s.csv", (int)strcspn(file, "."), file, what);
    else
        snprintf(name, NAME_TEXT, "%s.csv", what);
}

bool source_table(const char *source, const char *what, char path[PATH_TEXT]) {
    char folder[PATH_TEXT], name[NAME_TEXT];
    split(source, what, folder, name);
    return snprintf(path, PATH_TEXT, "%s/%s", folder, name) < PATH_TEXT;
}

bool lesson_table(const char *source, const char *what, char path[PATH_TEXT]) {
    char folder[PATH_TEXT], name[NAME_TEXT];
    split(source, what, folder, name);
    return snprintf(path, PATH_TEXT, "lessons/%s/%s", base_name(folder), name) < PATH_TEXT;
}
