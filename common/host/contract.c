#include "host/contract.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 4096 };

// The initialiser without its spaces, "" where the file has none; *line is where it begins.
static void read_contract(const char *path, char text[MOST], int *line) {
    static const char start[] = "_lesson = {"; // of attention_lesson, or attention_backward_lesson
    FILE *file = fopen(path, "r");
    char row[1024];
    size_t length = 0;
    bool inside = false;
    *line = 0;
    *text = 0;
    for (int number = 1; file && fgets(row, sizeof row, file); number++) {
        const char *from = inside ? row : strstr(row, start);
        if (from && !inside)
            *line = number;
        inside = inside || from;
        for (; inside && from && *from && length < MOST - 1; from++)
            if (!isspace((unsigned char)*from))
                text[length++] = *from;
        text[length] = 0;
        if (inside && strstr(row, "};"))
            break;
    }
    if (file)
        fclose(file);
}

bool contract_is_the_lessons(const char *source, struct message *difference) {
    static const char lessons[] = "lessons/";
    char solution[PATH_MAX], own[MOST], required[MOST];
    int line, other;
    if (strncmp(source, lessons, strlen(lessons)))
        return true;
    if ((size_t)snprintf(solution, sizeof solution, "solutions/%s", source + strlen(lessons)) >= sizeof solution)
        return true;
    read_contract(solution, required, &other);
    read_contract(source, own, &line);
    if (!*required || !strcmp(own, required))
        return true;
    return message_set(difference,
                       "%.200s:%d: attention_lesson claims less than the lesson requires (%.200s:%d): every feature "
                       "that it omits counts as wrong [lesson-narrowed]",
                       source, line ? line : 1, solution, other);
}
