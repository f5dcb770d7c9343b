#include "kernel.h"

#include "snippet.h"

#include <stdio.h>
#include <stdlib.h>

static const char *folder_of(const struct figures *figures, const char *lesson) {
    char key[64];
    snprintf(key, sizeof key, "folder %s", lesson);
    return figures_find(figures, key);
}

void kernel_free(struct kernel *kernel) {
    lines_free(&kernel->lines);
    free(kernel->is_new);
}

bool kernel_read(const struct figures *figures, const char *lesson, const char *file, bool own, struct kernel *kernel) {
    const char *folder = folder_of(figures, lesson);
    *kernel = (struct kernel){0};
    if (!folder)
        return false;
    snprintf(kernel->path, sizeof kernel->path, "%s/%s/%s", own ? "lessons" : "solutions", folder, file);
    if (!lines_read(kernel->path, &kernel->lines))
        return false;
    char number[16], path[1024];
    snprintf(number, sizeof number, "%02d", atoi(folder) - 1);
    const char *before = folder_of(figures, number);
    struct lines lines;
    snprintf(path, sizeof path, "solutions/%s/%s", before ? before : "", file);
    if (before && lines_read(path, &lines)) {
        kernel->is_new = calloc((size_t)kernel->lines.count + 1, sizeof *kernel->is_new);
        kernel->gone = snippet_compare(&lines, &kernel->lines, kernel->is_new);
        for (int i = 0; i < kernel->lines.count; i++)
            kernel->news += kernel->is_new[i];
        lines_free(&lines);
    }
    return true;
}
