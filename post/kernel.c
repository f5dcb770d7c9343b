#include "kernel.h"

#include "figures.h"
#include "host/blanks.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 20, MOST_CHANGED = 26 }; // lines of a listing, and of a listing with removed lines

void kernel_free(struct kernel *kernel) {
    lines_free(&kernel->file);
    lines_free(&kernel->before);
    free(kernel->line);
}

// Reads a file without the markers and tasks of its blanks; returns the number of lines.
static int read_without_markers(const struct lines *file, struct kernel_line *code) {
    struct blank_reader reader = {0};
    int count = 0;
    for (int i = 0; i < file->count; i++) {
        enum blank_line kind = blank_read(&reader, file->line[i]);
        if (kind == BLANK_OUTSIDE || kind == BLANK_INSIDE)
            code[count++] = (struct kernel_line){' ', i + 1, kind == BLANK_INSIDE ? reader.number : 0, file->line[i]};
    }
    return count;
}

// Merges both versions by their longest common subsequence.
static void compare(struct kernel *kernel, const struct kernel_line *old, int old_count, const struct kernel_line *new,
                    int new_count) {
    // common[i][j]: length of the longest common subsequence from line i of one and line j of the other.
    int(*common)[new_count + 1] = calloc((size_t)old_count + 1, sizeof *common);
    for (int i = old_count - 1; i >= 0; i--)
        for (int j = new_count - 1; j >= 0; j--) {
            int down = common[i + 1][j], right = common[i][j + 1];
            bool same = !strcmp(old[i].text, new[j].text);
            common[i][j] = same ? common[i + 1][j + 1] + 1 : down > right ? down : right;
        }
    for (int i = 0, j = 0; i < old_count || j < new_count;) {
        struct kernel_line *line = &kernel->line[kernel->count++];
        bool same = i < old_count && j < new_count && !strcmp(old[i].text, new[j].text);
        bool is_removed = !same && i < old_count && (j == new_count || common[i + 1][j] >= common[i][j + 1]);
        *line = is_removed ? old[i] : new[j];
        line->mark = same ? ' ' : is_removed ? '-' : '+';
        if (is_removed)
            line->blank = 0;
        i += same || is_removed;
        j += !is_removed;
        kernel->removed += is_removed;
        kernel->added += !same && !is_removed;
    }
    free(common);
}

bool kernel_read(const char *figures, const char *lesson, const char *file, bool own, struct kernel *kernel) {
    const char *folder = figures_find(figures, "folder %s", lesson);
    *kernel = (struct kernel){0};
    if (!folder)
        return false;
    snprintf(kernel->path, sizeof kernel->path, "%s/%s/%s", own ? "lessons" : "solutions", folder, file);
    if (!lines_read(kernel->path, &kernel->file))
        return false;
    const char *before = figures_find(figures, "folder %02d", atoi(folder) - 1);
    char path[1024];
    snprintf(path, sizeof path, "solutions/%s/%s", before ? before : "", file);
    kernel->compared = before && lines_read(path, &kernel->before);

    size_t most = (size_t)(kernel->file.count + kernel->before.count) + 1;
    struct kernel_line *old = calloc(most, sizeof *old), *new = calloc(most, sizeof *new);
    kernel->line = calloc(most, sizeof *kernel->line);
    int old_count = read_without_markers(&kernel->before, old), new_count = read_without_markers(&kernel->file, new);
    compare(kernel, old, old_count, new, new_count);
    free(old);
    free(new);
    return true;
}

static bool is_empty(const char *line) {
    return line[strspn(line, " \t\r")] == '\0';
}

// The number of lines of the kernel in the snippet, without removed lines.
static int length_of(const struct kernel *kernel, struct snippet snippet) {
    int lines = 0;
    for (int i = snippet.first; i < snippet.end; i++)
        lines += kernel->line[i].mark != '-';
    return lines;
}

static struct snippet snippet_of_blank(const struct kernel *kernel, int blank) {
    struct snippet snippet = {0};
    for (int i = 0; i < kernel->count; i++)
        if (kernel->line[i].blank == blank && !is_empty(kernel->line[i].text))
            snippet = (struct snippet){snippet.end ? snippet.first : i, i + 1};
    return snippet;
}

static struct snippet longer(const struct kernel *kernel, struct snippet a, struct snippet b) {
    int lines = length_of(kernel, b);
    return lines > length_of(kernel, a) && lines <= MOST ? b : a;
}

bool kernel_snippet(const struct kernel *kernel, int blank, struct snippet *snippet) {
    *snippet = (struct snippet){0};
    if (blank)
        *snippet = snippet_of_blank(kernel, blank);
    for (int i = 0; !blank && i < kernel->count; i++)
        if (kernel->line[i].blank)
            *snippet = longer(kernel, *snippet, snippet_of_blank(kernel, kernel->line[i].blank));
    if (blank || snippet->end || !kernel->compared)
        return snippet->end > 0;
    for (int i = 0, first = 0; i < kernel->count; i++)
        if (kernel->line[i].mark == '+')
            *snippet = longer(kernel, *snippet, (struct snippet){first, i + 1});
        else
            first = i + 1;
    return snippet->end > 0;
}

struct snippet kernel_hunk(const struct kernel *kernel, struct snippet snippet) {
    struct snippet hunk = snippet;
    while (hunk.first > 0 && kernel->line[hunk.first - 1].mark != ' ')
        hunk.first--;
    while (hunk.end < kernel->count && kernel->line[hunk.end].mark != ' ')
        hunk.end++;
    hunk.first -= hunk.first > 0 && !is_empty(kernel->line[hunk.first - 1].text);
    hunk.end += hunk.end < kernel->count && !is_empty(kernel->line[hunk.end].text);
    return kernel->compared && hunk.end - hunk.first <= MOST_CHANGED ? hunk : snippet;
}

void kernel_print(FILE *out, const struct kernel *kernel, struct snippet snippet, bool with_removed,
                  const char *links) {
    int added = 0, removed = 0, first = 0, last = 0, indent = -1;
    for (int i = snippet.first; i < snippet.end; i++) {
        const struct kernel_line *line = &kernel->line[i];
        int blanks = (int)strspn(line->text, " ");
        added += line->mark == '+';
        removed += line->mark == '-';
        if (line->mark == '-' && !with_removed)
            continue;
        last = line->mark == '-' ? last : line->number;
        first = first ? first : last;
        // Preprocessor directives are not indented and do not count.
        if (!is_empty(line->text) && *line->text != '#' && (indent < 0 || blanks < indent))
            indent = blanks;
    }
    bool marked = kernel->compared && ((with_removed && removed) || (added && added < length_of(kernel, snippet)));
    fprintf(out, marked ? "```diff\n" : "```cuda\n");
    for (int i = snippet.first; i < snippet.end; i++) {
        const struct kernel_line *line = &kernel->line[i];
        int blanks = (int)strspn(line->text, " ");
        if (line->mark == '-' && !with_removed)
            continue;
        if (marked)
            fprintf(out, "%c ", line->mark);
        fprintf(out, "%s\n", line->text + (blanks < indent ? blanks : indent));
    }
    fprintf(out, "```\n\n*From [`%s`, lines %d to %d](%s%s#L%d-L%d)%s", kernel->path, first, last, links, kernel->path,
            first, last, text_after_prefix(kernel->path, "lessons/") ? "; an own kernel" : "");
    if (marked && added)
        fprintf(out, "; %d of these lines %s new", added, added == 1 ? "is" : "are");
    if (marked && with_removed && removed)
        fprintf(out, ", %d were removed", removed);
    fprintf(out, ".*\n");
}
