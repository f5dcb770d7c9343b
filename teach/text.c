#include "text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *check_allocation(void *memory) {
    if (!memory)
        message_exit(EXIT_CHECK_FAILED, "out of memory");
    return memory;
}

char *text_read(const char *path) {
    FILE *file = fopen(path, "re");
    if (!file)
        return NULL;
    size_t size = 0, capacity = 4096;
    char *text = check_allocation(malloc(capacity));
    for (size_t got; (got = fread(text + size, 1, capacity - size - 1, file)) > 0;) {
        size += got;
        if (size + 1 == capacity)
            text = check_allocation(realloc(text, capacity *= 2));
    }
    text[size] = 0;
    if (ferror(file)) {
        free(text);
        text = NULL;
    }
    fclose(file);
    return text;
}

bool lines_read(const char *path, struct lines *lines) {
    *lines = (struct lines){.text = text_read(path)};
    if (!lines->text)
        return false;
    int capacity = 2;
    for (const char *c = lines->text; *c; c++)
        capacity += *c == '\n';
    lines->line = check_allocation(calloc((size_t)capacity, sizeof *lines->line));
    for (char *at = lines->text; *at;) {
        lines->line[lines->count++] = at;
        at += strcspn(at, "\n");
        if (*at)
            *at++ = 0;
    }
    return true;
}

void lines_free(struct lines *lines) {
    free(lines->text);
    free(lines->line);
    *lines = (struct lines){NULL, NULL, 0};
}

char *text_trim(char *text) {
    while (isspace((unsigned char)*text))
        text++;
    size_t length = strlen(text);
    while (length && isspace((unsigned char)text[length - 1]))
        text[--length] = 0;
    return text;
}

char *text_copy(const char *text, size_t length) {
    return check_allocation(strndup(text, length));
}

const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *text_after_prefix(const char *text, const char *prefix) {
    size_t length = strlen(prefix);
    return strncmp(text, prefix, length) ? NULL : text + length;
}

const char *format_grouped(double number, char text[NUMBER_TEXT]) {
    char digits[NUMBER_TEXT];
    // From 1e24 on the digits would be noise.
    int length = snprintf(digits, sizeof digits, fabs(number) < 1e24 ? "%.0f" : "%.4g", number), out = 0;
    if (strpbrk(digits, "ein"))
        return strcpy(text, digits);
    for (int i = 0; i < length; i++) {
        text[out++] = digits[i];
        if (isdigit((unsigned char)digits[i]) && i + 1 < length && (length - i - 1) % 3 == 0)
            text[out++] = ',';
    }
    text[out] = 0;
    return text;
}

const char *format_number(double number, char text[NUMBER_TEXT]) {
    if (number == trunc(number) || number >= 1000)
        return format_grouped(number, text);
    snprintf(text, NUMBER_TEXT, "%.4g", number);
    return text;
}

const char *format_bytes(double bytes, char text[NUMBER_TEXT]) {
    enum { KIB = 1024 };
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB"};
    int i = 0;
    for (; bytes >= 10 * KIB && i < 3; i++)
        bytes /= KIB;
    snprintf(text, NUMBER_TEXT, i ? "%.1f %s" : "%.0f %s", bytes, unit[i]);
    return text;
}

void text_wrap(FILE *file, const char *text, int width) {
    int column = 0;
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        int length = (int)strcspn(text, " ");
        if (column && column + 1 + length > width) {
            fputc('\n', file);
            column = 0;
        }
        column += fprintf(file, "%s%.*s", column ? " " : "", length, text);
        text += length;
    }
    fputc('\n', file);
}
