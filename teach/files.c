#include "files.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool make_parent_folder(const char *file) {
    char path[PATH_TEXT];
    struct stat folder;
    if ((size_t)snprintf(path, sizeof path, "%s", file) >= sizeof path)
        return false;
    char *last = strrchr(path, '/');
    if (!last)
        return true;
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0777);
        *slash = '/';
    }
    *last = 0;
    return !*path || (!stat(path, &folder) && S_ISDIR(folder.st_mode));
}

bool append_line(const char *file, const char *format, ...) {
    if (!make_parent_folder(file))
        return false;
    FILE *to = fopen(file, "ae");
    if (!to)
        return false;
    va_list arguments;
    va_start(arguments, format);
    bool written = vfprintf(to, format, arguments) >= 0 && putc('\n', to) != EOF;
    va_end(arguments);
    return fclose(to) == 0 && written;
}

bool file_exists(const char *file) {
    return !access(file, F_OK);
}

void print_file(const char *file) {
    FILE *from = fopen(file, "re");
    char buffer[4096];
    fflush(stdout);
    if (!from)
        return;
    for (size_t size; (size = fread(buffer, 1, sizeof buffer, from)) > 0;)
        fwrite(buffer, 1, size, stderr);
    fclose(from);
}
