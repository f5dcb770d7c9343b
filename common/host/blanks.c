#include "host/blanks.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

static char *trim(char *line) {
    while (isspace((unsigned char)*line))
        line++;
    size_t length = strlen(line);
    while (length && isspace((unsigned char)line[length - 1]))
        line[--length] = 0;
    return line;
}

// The text of a comment line from its first word on, NULL where the line is none.
static const char *comment(const char *line) {
    if (strncmp(line, "//", 2))
        return NULL;
    line += 2;
    while (isspace((unsigned char)*line))
        line++;
    return line;
}

// Whether the text is "KEYWORD 12 ...", and the number.
static bool marker(const char *text, const char *keyword, int *number) {
    size_t length = strlen(keyword);
    if (!text || strncmp(text, keyword, length) || !isdigit((unsigned char)text[length]))
        return false;
    *number = (int)strtol(text + length, NULL, 10);
    return true;
}

// What "TODO 1 (about 4 lines): words" says of lines.
static int stated_lines(const char *text) {
    int lines, length = 0;
    if (sscanf(text, "TODO %*d (about %d line%n", &lines, &length) != 1 || !length)
        return -1;
    text += length + (text[length] == 's');
    return !strncmp(text, "): ", 3) && text[3] ? lines : -1;
}

enum blank_line blank_read(struct blank_reader *reader, char *line) {
    char *code = trim(line);
    reader->words = comment(code);
    reader->line++;
    if (reader->ended)
        reader->begun = 0;
    reader->ended = false;
    if (marker(reader->words, "TODO ", &reader->number)) {
        reader->begun = reader->line;
        reader->about = stated_lines(reader->words);
        reader->lines = 0;
        reader->filled = false;
        reader->in_task = true;
        return BLANK_BEGIN;
    }
    if (marker(reader->words, "END TODO ", &reader->number)) {
        reader->ended = true;
        return BLANK_END;
    }
    if (reader->words && !strncmp(reader->words, "TODO ", 5))
        return BLANK_STRAY;
    if (!reader->begun)
        return BLANK_OUTSIDE;
    reader->in_task = reader->in_task && reader->words;
    if (reader->in_task)
        return BLANK_TASK;
    reader->lines += *code != 0;
    reader->filled |= *code && !reader->words;
    return BLANK_INSIDE;
}

static bool ends_sentence(const char *text) {
    size_t length = strlen(text);
    return length && strchr(".?!", text[length - 1]);
}

bool blanks_find(const char *path, struct blank *blank) {
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    memset(blank, 0, sizeof *blank);
    struct blank_reader reader = {0};
    char *buffer = NULL, text[sizeof blank->text] = "";
    size_t size = 0;
    while (getline(&buffer, &size, file) >= 0) {
        enum blank_line kind = blank_read(&reader, buffer);
        if (kind == BLANK_BEGIN) {
            snprintf(text, sizeof text, "%s", reader.words);
        } else if (kind == BLANK_END && reader.begun) {
            blank->blanks++;
            if (!reader.filled && !blank->open++) {
                blank->line = reader.begun;
                memcpy(blank->text, text, sizeof text);
            }
        } else if (reader.begun && reader.words && !reader.filled && !ends_sentence(text)) {
            size_t used = strlen(text);
            snprintf(text + used, sizeof text - used, " %s", reader.words);
        }
    }
    free(buffer);
    fclose(file);
    return true;
}
