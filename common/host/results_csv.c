#include "host/results_csv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

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

static int column_of(const char *header, const char *name) {
    for (int column = 0; header; column++) {
        size_t length = strlen(name);
        if (!strncmp(header, name, length) && (header[length] == ',' || header[length] == '\n'))
            return column;
        header = strchr(header, ',');
        header += header != NULL;
    }
    return -1;
}

static bool check_text(const char *path, const char *text, const char *header, const char *device, const char *sm_count,
                       struct message *error) {
    size_t length = strlen(header), all = strlen(text);
    int device_column = column_of(header, "device"), sm_column = column_of(header, "sm_count");
    if (!all)
        return true;
    if (strncmp(text, header, length))
        return message_set(error, "%s has other columns than this version writes: move it away first", path);
    if (text[all - 1] != '\n')
        return message_set(error, "%s ends in half a row: delete its last line first", path);
    for (const char *line = text + length; *line; line = strchr(line, '\n') + 1)
        if (!is_field(line, device_column, device) || !is_field(line, sm_column, sm_count))
            return message_set(error,
                               "%s has rows of another GPU than %s with %s SMs: give RESULTS=another folder, or "
                               "move it away first",
                               path, device, sm_count);
    return true;
}

bool results_csv_check(const char *path, const char *header, const char *device, const char *sm_count,
                       struct message *error) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return errno == ENOENT || message_set(error, "%s cannot be opened: %s", path, strerror(errno));
    char *text = read_text(file);
    bool good = text ? check_text(path, text, header, device, sm_count, error)
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

bool results_csv_append(const char *path, const char *header, const char *device, const char *sm_count,
                        const char *rows, struct message *error) {
    int file = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0)
        return message_set(error, "%s cannot be opened: %s", path, strerror(errno));
    bool good = flock(file, LOCK_EX) == 0 || message_set(error, "%s cannot be locked: %s", path, strerror(errno));
    char *text = good ? read_text(file) : NULL;
    if (good && !text)
        good = message_set(error, "%s cannot be read: %s", path, strerror(errno));
    good = good && check_text(path, text, header, device, sm_count, error);
    errno = 0;
    if (good && !*text)
        good = write_whole(file, path, header, error);
    good = good && write_whole(file, path, rows, error);
    free(text);
    close(file);
    return good;
}

int results_csv_count(const char *path, const char *start, const char *part) {
    int file = open(path, O_RDONLY | O_CLOEXEC), count = 0;
    char *text = file < 0 ? NULL : read_text(file), *rest = NULL;
    for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest))
        count += !strncmp(line, start, strlen(start)) && strstr(line, part);
    free(text);
    if (file >= 0)
        close(file);
    return count;
}
