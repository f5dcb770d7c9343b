#include "skeleton.h"

#include "commands.h"
#include "host/blanks.h"
#include "text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct skeleton {
    const char *path;
    FILE *errors; // NULL: marker errors are not printed
    bool filled;  // keep the contents of the blanks, drop their markers
    struct blank_reader reader;
    int last_number; // number of the last TODO
    bool failed;
};

__attribute__((format(printf, 2, 3))) static void report_marker_error(struct skeleton *s, const char *format, ...) {
    va_list arguments;
    s->failed = true;
    if (!s->errors)
        return;
    fprintf(s->errors, "%s:%d: ", s->path, s->reader.line);
    va_start(arguments, format);
    vfprintf(s->errors, format, arguments);
    va_end(arguments);
    fputc('\n', s->errors);
}

static void begin_blank(struct skeleton *s, bool open) {
    const struct blank_reader *r = &s->reader;
    if (open)
        report_marker_error(s, "TODO %d has no END before this line", s->last_number);
    if (r->about < 0)
        report_marker_error(s, "a marker is written: // TODO n (about m lines): task");
    else if (r->number != s->last_number + 1)
        report_marker_error(s, "TODO %d follows TODO %d", r->number, s->last_number);
    s->last_number++;
}

static void end_blank(struct skeleton *s) {
    const struct blank_reader *r = &s->reader;
    int off = abs(r->lines - r->about);
    if (!r->begun)
        report_marker_error(s, "END TODO %d has no TODO before it", r->number);
    else if (r->number != s->last_number)
        report_marker_error(s, "END TODO %d closes TODO %d", r->number, s->last_number);
    else if (!r->lines)
        report_marker_error(s, "TODO %d has no line to fill in", s->last_number);
    else if (r->about >= 0 && off > 2 && off > 0.3 * r->lines)
        report_marker_error(s, "TODO %d says about %d lines and has %d", s->last_number, r->about, r->lines);
}

// Whether the line is part of the skeleton.
static bool is_kept(struct skeleton *s, const char *line) {
    char *copy = text_copy(line, strlen(line));
    bool inside_blank = s->reader.begun && !s->reader.ended;
    enum blank_line kind = blank_read(&s->reader, copy);
    bool inside = kind == BLANK_INSIDE || kind == BLANK_TASK;
    if (kind == BLANK_BEGIN)
        begin_blank(s, inside_blank);
    else if (kind == BLANK_END)
        end_blank(s);
    else if (kind == BLANK_STRAY)
        report_marker_error(s, "a marker is written: // TODO n (about m lines): task");
    if (inside && text_after_prefix(line, "// architecture:"))
        report_marker_error(s, "the architecture line must be outside of all blanks");
    free(copy);
    return s->filled ? kind == BLANK_OUTSIDE || kind == BLANK_INSIDE : kind != BLANK_INSIDE;
}

// Writes the skeleton; false if a marker is wrong.
static bool write_skeleton(struct skeleton *s, const struct lines *lines, FILE *out) {
    for (int i = 0; i < lines->count; i++)
        if (is_kept(s, lines->line[i]))
            fprintf(out, "%s\n", lines->line[i]);
    if (s->reader.begun && !s->reader.ended)
        report_marker_error(s, "TODO %d has no END", s->last_number);
    if (!s->last_number)
        report_marker_error(s, "the file has no TODO");
    return !s->failed;
}

bool is_skeleton_of(const char *solution, const char *file) {
    struct skeleton s = {.path = solution};
    struct lines lines;
    char *skeleton = NULL;
    size_t size = 0;
    FILE *given = fopen(file, "re");
    if (!given || !lines_read(solution, &lines)) {
        if (given)
            fclose(given);
        return false;
    }
    FILE *out = open_memstream(&skeleton, &size);
    write_skeleton(&s, &lines, out);
    fclose(out);
    size_t same = 0;
    for (int c; (c = getc(given)) != EOF && same < size && c == (unsigned char)skeleton[same];)
        same++;
    bool whole = same == size && feof(given);
    fclose(given);
    free(skeleton);
    lines_free(&lines);
    return whole;
}

int teach_skeleton(int count, char **word) {
    bool filled = !strcmp(word[0], "--filled");
    struct skeleton s = {.path = word[count - 1], .errors = stderr, .filled = filled};
    struct lines lines;
    if (count != 1 + filled || !lines_read(s.path, &lines))
        message_exit(EXIT_BAD_INPUT, "usage: teach skeleton [--filled] FILE.cu; FILE.cu must be readable [usage]");
    bool right = write_skeleton(&s, &lines, stdout);
    lines_free(&lines);
    return !right || fflush(stdout) || ferror(stdout) ? EXIT_CHECK_FAILED : 0;
}
