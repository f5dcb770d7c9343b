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

static bool starts_todo(const char *text) {
    return text && !strncmp(text, "TODO ", 5) && isdigit((unsigned char)text[5]);
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
    char *buffer = NULL, text[sizeof blank->text] = "";
    size_t size = 0;
    int line = 0, start = 0; // start: line of the TODO that is being read, 0 outside of one
    bool empty = true;
    while (getline(&buffer, &size, file) >= 0) {
        line++;
        char *code = trim(buffer);
        const char *words = comment(code);
        if (starts_todo(words)) {
            start = line;
            empty = true;
            snprintf(text, sizeof text, "%s", words);
        } else if (start && words && !strncmp(words, "END TODO", 8)) {
            blank->blanks++;
            if (empty && !blank->open++) {
                blank->line = start;
                memcpy(blank->text, text, sizeof text);
            }
            start = 0;
        } else if (start && words && empty && !ends_sentence(text)) {
            size_t used = strlen(text);
            snprintf(text + used, sizeof text - used, " %s", words);
        } else if (*code && !words) {
            empty = false;
        }
    }
    free(buffer);
    fclose(file);
    return true;
}
