#include "host/results_csv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONGEST_HEADER = 1024 };

// The whole file as text, NULL where it cannot be read.
static char *read_text(int file) {
    struct stat status;
    if (fstat(file, &status))
        return NULL;
    char *text = malloc((size_t)status.st_size + 1);
    ssize_t got = 0, length = 0;
    while (text && length < status.st_size &&
           (got = pread(file, text + length, (size_t)(status.st_size - length), length)) > 0)
        length += got;
    if (text)
        text[length] = 0;
    if (text && got < 0) {
        free(text);
        return NULL;
    }
    return text;
}

// Whether column number `column`, counted from 0, of the line is value.
static bool is_field(const char *line, int column, const char *value) {
    for (; column; column--) {
        line = strchr(line, ',');
        if (!line)
            return false;
        line++;
    }
    size_t length = strlen(value);
    return !strncmp(line, value, length) && (line[length] == ',' || line[length] == '\n');
}

// The number of a column of the file whose first line text begins with; -1: it has none of that name.
static int column_of(const char *text, const char *name) {
    size_t length = strlen(name);
    for (int column = 0;; column++) {
        if (!strncmp(text, name, length) && (text[length] == ',' || text[length] == '\n'))
            return column;
        text += strcspn(text, ",\n");
        if (*text++ != ',')
            return -1;
    }
}

// The header that is written: the names alone, as one line.
static void header_of(const char *columns, char header[LONGEST_HEADER]) {
    size_t length = 0;
    bool name = true;
    for (const char *c = columns; *c && length < LONGEST_HEADER - 2; c++) {
        name = *c == ',' || (name && *c != '=');
        if (name)
            header[length++] = *c;
    }
    header[length++] = '\n';
    header[length] = 0;
}

// What rows of a file with the first line of text lack of the columns: the list of their values, "" where they lack
// none. False where the line is no beginning of the columns.
static bool find_lacking(const char *text, const char *columns, char lacking[LONGEST_HEADER]) {
    char header[LONGEST_HEADER];
    size_t line = strcspn(text, "\n"), length = 0;
    header_of(columns, header);
    *lacking = 0;
    if (strncmp(text, header, line) || (header[line] != ',' && header[line] != '\n'))
        return false;
    int missing = 0;
    for (const char *c = header + line; *c; c++)
        missing += *c == ',';
    const char *at = columns + strlen(columns);
    for (int i = 0; i < missing; i++)
        while (*--at != ',')
            ;
    while (*at == ',') {
        size_t column = 1 + strcspn(at + 1, ",");
        const char *value = memchr(at, '=', column);
        if (!value)
            return false; // columns that were always there
        length += (size_t)snprintf(lacking + length, LONGEST_HEADER - length, ",%.*s", (int)(at + column - value - 1),
                                   value + 1);
        at += column;
    }
    return true;
}

static bool check_text(const char *path, const char *text, const char *columns, const char *device,
                       const char *sm_count, struct message *error) {
    char lacking[LONGEST_HEADER];
    size_t all = strlen(text);
    if (!all)
        return true;
    if (!find_lacking(text, columns, lacking))
        return message_set(error, "%s has other columns than this version writes: move it away first", path);
    if (text[all - 1] != '\n')
        return message_set(error, "%s ends in half a row: delete its last line first", path);
    int device_column = column_of(text, "device"), sm_column = column_of(text, "sm_count");
    for (const char *line = strchr(text, '\n') + 1; *line; line = strchr(line, '\n') + 1)
        if (!is_field(line, device_column, device) || !is_field(line, sm_column, sm_count))
            return message_set(error,
                               "%s has rows of another GPU than %s with %s SMs: give RESULTS=another folder, or "
                               "move it away first",
                               path, device, sm_count);
    return true;
}

bool results_csv_check(const char *path, const char *columns, const char *device, const char *sm_count,
                       struct message *error) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return errno == ENOENT || message_set(error, "%s cannot be opened: %s", path, strerror(errno));
    char *text = read_text(file);
    bool good = text ? check_text(path, text, columns, device, sm_count, error)
                     : message_set(error, "%s cannot be read: %s", path, strerror(errno));
    free(text);
    close(file);
    return good;
}

static bool write_whole(int file, const char *path, const char *text, struct message *error) {
    struct stat before;
    size_t length = strlen(text);
    if (!fstat(file, &before) && write(file, text, length) == (ssize_t)length)
        return true;
    message_set(error, "%s cannot be written: %s", path, strerror(errno ? errno : ENOSPC));
    if (ftruncate(file, before.st_size))
        message_set(error, "%s cannot be written, and ends in half a row: delete its last line", path);
    return false;
}

// The text with the columns that it lacks, or NULL.
static char *widen(const char *text, const char *columns, const char *lacking) {
    char header[LONGEST_HEADER], *wide;
    size_t size, added = strlen(lacking), lines = 1;
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    size = strlen(text) + lines * added + LONGEST_HEADER;
    wide = malloc(size);
    if (!wide)
        return NULL;
    header_of(columns, header);
    size_t length = (size_t)snprintf(wide, size, "%s", header);
    for (const char *line = strchr(text, '\n') + 1; *line; line = strchr(line, '\n') + 1)
        length += (size_t)snprintf(wide + length, size - length, "%.*s%s\n", (int)strcspn(line, "\n"), line, lacking);
    return wide;
}

// The file is locked, and grows, so that it is never shorter than it was. Where not all can be written, what was there
// is written again.
static bool add_columns(const char *path, const char *text, const char *columns, struct message *error) {
    char lacking[LONGEST_HEADER];
    if (!*text || !find_lacking(text, columns, lacking) || !*lacking)
        return true;
    char *wide = widen(text, columns, lacking);
    int file = open(path, O_WRONLY | O_CLOEXEC);
    bool good = wide && file >= 0 && pwrite(file, wide, strlen(wide), 0) == (ssize_t)strlen(wide);
    bool restored =
        good || file < 0 ||
        (pwrite(file, text, strlen(text), 0) == (ssize_t)strlen(text) && ftruncate(file, (off_t)strlen(text)) == 0);
    free(wide);
    if (file >= 0)
        close(file);
    return good || message_set(error, "%s cannot be written: %s%s", path, strerror(errno ? errno : ENOSPC),
                               restored ? "" : "; the file is damaged now");
}

bool results_csv_append(const char *path, const char *columns, const char *device, const char *sm_count,
                        const char *rows, struct message *error) {
    char header[LONGEST_HEADER];
    int file = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0)
        return message_set(error, "%s cannot be opened: %s", path, strerror(errno));
    bool good = flock(file, LOCK_EX) == 0 || message_set(error, "%s cannot be locked: %s", path, strerror(errno));
    char *text = good ? read_text(file) : NULL;
    if (good && !text)
        good = message_set(error, "%s cannot be read: %s", path, strerror(errno));
    good = good && check_text(path, text, columns, device, sm_count, error);
    errno = 0;
    good = good && add_columns(path, text, columns, error);
    header_of(columns, header);
    if (good && !*text)
        good = write_whole(file, path, header, error);
    good = good && write_whole(file, path, rows, error);
    free(text);
    close(file);
    return good;
}

// What the columns say of rows that were written before this one was there, "" where they say nothing.
static void value_before(const char *columns, const char *name, char *value, size_t size) {
    size_t length = strlen(name);
    *value = 0;
    for (const char *at = columns; *at; at += strcspn(at, ","), at += *at == ',')
        if (!strncmp(at, name, length) && at[length] == '=')
            snprintf(value, size, "%.*s", (int)strcspn(at + length + 1, ","), at + length + 1);
}

int results_csv_count(const char *path, const char *columns, int count, const char *name, size_t name_size,
                      const char *value, size_t value_size) {
    int file = open(path, O_RDONLY | O_CLOEXEC), found = 0;
    char *text = file < 0 ? NULL : read_text(file);
    const char *line = text ? strchr(text, '\n') : NULL;
    bool lacking = false; // a column in which no row of the file has the value
    for (int i = 0; i < count && text; i++) {
        char before[64];
        value_before(columns, name + (size_t)i * name_size, before, sizeof before);
        lacking = lacking || (column_of(text, name + (size_t)i * name_size) < 0 && *before &&
                              strcmp(before, value + (size_t)i * value_size));
    }
    for (line = line && !lacking ? line + 1 : ""; *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : "") {
        bool same = true;
        for (int i = 0; i < count && same; i++) {
            int column = column_of(text, name + (size_t)i * name_size);
            same = column < 0 || is_field(line, column, value + (size_t)i * value_size);
        }
        found += same;
    }
    free(text);
    if (file >= 0)
        close(file);
    return found;
}
