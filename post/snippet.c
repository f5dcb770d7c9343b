#include "snippet.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 20 };

static const char *comment_of(const char *line) {
    while (isspace((unsigned char)*line))
        line++;
    if (strncmp(line, "//", 2))
        return NULL;
    line += 2;
    while (*line == ' ')
        line++;
    return line;
}

static bool is_empty(const char *line) {
    return line[strspn(line, " \t\r")] == '\0';
}

bool snippet_of_blank(const struct lines *file, int blank, struct snippet *snippet) {
    *snippet = (struct snippet){0};
    for (int i = 0; i < file->count; i++) {
        const char *comment = comment_of(file->line[i]);
        const char *number = comment ? text_after(comment, "TODO ") : NULL;
        if (!number || !isdigit((unsigned char)*number) || (blank && atoi(number) != blank))
            continue;
        int first = i + 1;
        while (first < file->count && (comment_of(file->line[first]) || is_empty(file->line[first])) &&
               !(comment_of(file->line[first]) && text_after(comment_of(file->line[first]), "END TODO")))
            first++;
        int end = first;
        while (end < file->count &&
               !(comment_of(file->line[end]) && text_after(comment_of(file->line[end]), "END TODO")))
            end++;
        while (end > first && is_empty(file->line[end - 1]))
            end--;
        if (end - first > snippet->count && (blank || end - first <= MOST))
            *snippet = (struct snippet){.first = first, .count = end - first};
    }
    return snippet->count > 0;
}

bool snippet_of_news(const struct lines *file, const bool *is_new, struct snippet *snippet) {
    *snippet = (struct snippet){0};
    for (int i = 0, run = 0; i < file->count; i++) {
        run = is_new[i] ? run + 1 : 0;
        if (run > snippet->count && run <= MOST)
            *snippet = (struct snippet){.first = i - run + 1, .count = run};
    }
    return snippet->count > 0;
}

int snippet_compare(const struct lines *before, const struct lines *after, bool *is_new) {
    int rows = before->count + 1, columns = after->count + 1;
    // common[i * columns + j]: the longest common part of what follows line i of one and line j of the other.
    int *common = calloc((size_t)rows * (size_t)columns, sizeof *common);
    for (int i = before->count - 1; i >= 0; i--)
        for (int j = after->count - 1; j >= 0; j--) {
            int down = common[(i + 1) * columns + j], right = common[i * columns + j + 1];
            common[i * columns + j] = !strcmp(before->line[i], after->line[j]) ? common[(i + 1) * columns + j + 1] + 1
                                                                               : (down > right ? down : right);
        }
    int gone = before->count - common[0];
    for (int i = 0, j = 0; j < after->count;) {
        bool same = i < before->count && !strcmp(before->line[i], after->line[j]);
        if (!same && i < before->count && common[(i + 1) * columns + j] >= common[i * columns + j + 1]) {
            i++;
            continue;
        }
        is_new[j++] = !same;
        i += same;
    }
    free(common);
    return gone;
}

int snippet_indent(const struct lines *file, struct snippet snippet) {
    int least = -1;
    for (int i = snippet.first; i < snippet.first + snippet.count; i++) {
        int indent = (int)strspn(file->line[i], " ");
        if (!is_empty(file->line[i]) && file->line[i][0] != '#' && (least < 0 || indent < least))
            least = indent;
    }
    return least < 0 ? 0 : least;
}
