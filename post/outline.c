#include "outline.h"

#include "form.h"
#include "kernel.h"
#include "literal.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 8, TEXT = 1024 };

// One pass over an outline. Lines are collected first, since a section may be taken back.
struct pass {
    const struct outline *outline;
    FILE *drawings;
    struct lines source;
    char **out;
    int outs, line; // line: of the outline, from 1
    int level;      // of the last heading, and where it stands in out
    int heading;
    int skipped_level; // of the heading whose section is left out, 0 where none is
    int mistakes;
    char shown[TEXT * 4]; // " name name ": the charts that the text names
    int rest;             // where {{charts}} stands in out, -1 for nowhere
};

static void complain(const struct pass *pass, const char *format, va_list words) {
    fprintf(stderr, "%s:%d: ", pass->outline->path, pass->line);
    vfprintf(stderr, format, words);
    fputc('\n', stderr);
}

__attribute__((format(printf, 2, 3))) static void mistake(struct pass *pass, const char *format, ...) {
    va_list words;
    va_start(words, format);
    complain(pass, format, words);
    va_end(words);
    pass->mistakes++;
}

__attribute__((format(printf, 2, 3))) static void say(const struct pass *pass, const char *format, ...) {
    va_list words;
    va_start(words, format);
    complain(pass, format, words);
    va_end(words);
}

static void emit(struct pass *pass, const char *text) {
    pass->out = realloc(pass->out, (size_t)(pass->outs + 1) * sizeof *pass->out);
    pass->out[pass->outs++] = text_copy(text, strlen(text));
}

static void emit_lines(struct pass *pass, char *text) {
    for (char *end; (end = strchr(text, '\n')) != NULL; text = end + 1) {
        *end = '\0';
        emit(pass, text);
    }
    emit(pass, text);
}

static int split(char *text, char *word[WORDS]) {
    int words = 0;
    for (char *at = strtok(text, " "); at && words < WORDS; at = strtok(NULL, " "))
        word[words++] = at;
    return words;
}

static const char *find(const struct pass *pass, const char *format, const char *word) {
    char key[TEXT];
    snprintf(key, sizeof key, format, word);
    return figures_find(pass->outline->figures, key);
}

// What is wrong with a placeholder that is written as it should be, and that results do not answer.
static void refuse(struct pass *pass, const char *inner) {
    mistake(pass, "{{%s}} is not in these results; a line or section that may go without it begins with {{needs ...}}",
            inner);
}

// ---- Kernels ----------------------------------------------------------------------------------------------

static void show_code(struct pass *pass, const char *inner, char *word[WORDS], int words) {
    const struct figures *figures = pass->outline->figures;
    const char *file = "attention.cu";
    int blank = 0;
    for (int i = 2; i < words; i++)
        if (isdigit((unsigned char)*word[i]))
            blank = atoi(word[i]);
        else
            file = word[i];
    struct kernel kernel;
    struct snippet snippet;
    bool own = find(pass, "own %s", word[1]) && kernel_read(figures, word[1], file, true, &kernel);
    if (own && !kernel_snippet(&kernel, blank, &snippet)) {
        say(pass, "TODO %d is not marked in %s; the solution's lines are shown", blank, kernel.path);
        kernel_free(&kernel);
        own = false;
    }
    if (own || (kernel_read(figures, word[1], file, false, &kernel) && kernel_snippet(&kernel, blank, &snippet))) {
        bool with_gone = !strcmp(word[0], "diff");
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        kernel_print(out, &kernel, with_gone ? kernel_hunk(&kernel, snippet) : snippet, with_gone,
                     pass->outline->links);
        fclose(out);
        emit_lines(pass, text);
        free(text);
    } else
        mistake(pass, "{{%s}}: %s has no such lines", inner, *kernel.path ? kernel.path : "the repository");
    kernel_free(&kernel);
}

// ---- Placeholders -----------------------------------------------------------------------------------------

// The title of a drawing is its text alternative.
static void show_figure(struct pass *pass, const char *path) {
    char *svg = text_read(path), *title = svg ? strstr(svg, "<title") : NULL;
    title = title ? strchr(title, '>') : NULL;
    char *end = title ? strstr(title, "</title>") : NULL;
    if (!end) {
        mistake(pass, "{{figure %s}}: there is no such SVG with a title", path);
    } else {
        *end = '\0';
        char text[TEXT * 2];
        snprintf(text, sizeof text, "![%s](%s)", title + 1, text_base(path));
        emit(pass, text);
        emit(pass, "");
        fprintf(pass->drawings, "%s\n", path);
    }
    free(svg);
}

static void show_chart(struct pass *pass, const char *inner, const char *name) {
    const char *text = find(pass, "chart %s", name);
    if (!text) {
        refuse(pass, inner);
        return;
    }
    size_t length = strlen(pass->shown);
    snprintf(pass->shown + length, sizeof pass->shown - length, "%s ", name);
    emit(pass, text);
    emit(pass, "");
}

// Lines or pictures in the place of a placeholder that stands alone. False where it is none of these.
static bool show_block(struct pass *pass, const char *inner) {
    char copy[TEXT], *word[WORDS];
    snprintf(copy, sizeof copy, "%s", inner);
    int words = split(copy, word);
    if (words == 2 && !strcmp(word[0], "chart"))
        show_chart(pass, inner, word[1]);
    else if (words == 1 && !strcmp(word[0], "charts"))
        pass->rest = pass->outs;
    else if (words == 2 && !strcmp(word[0], "figure"))
        show_figure(pass, word[1]);
    else if (words >= 2 && (!strcmp(word[0], "code") || !strcmp(word[0], "diff")))
        show_code(pass, inner, word, words);
    else
        return false;
    return true;
}

// A figure within a sentence; NULL where there is none.
static const char *figure_of(struct pass *pass, const char *inner, char text[TEXT]) {
    const char *lesson = text_after(inner, "new ");
    bool is_new = lesson != NULL;
    lesson = lesson ? lesson : text_after(inner, "gone ");
    struct kernel kernel;
    if (lesson && kernel_read(pass->outline->figures, lesson, "attention.cu", false, &kernel)) {
        bool compared = kernel.compared;
        snprintf(text, TEXT, "%d", is_new ? kernel.news : kernel.gone);
        kernel_free(&kernel);
        return compared ? text : NULL;
    }
    bool is_public = strncmp(inner, "folder ", 7) && strncmp(inner, "own ", 4) && strncmp(inner, "needs", 5) &&
                     strncmp(inner, "chart", 5);
    return is_public ? figures_find(pass->outline->figures, inner) : NULL;
}

static void resolve(struct pass *pass, const char *line, FILE *out) {
    for (const char *open; (open = strstr(line, "{{")) != NULL;) {
        const char *close = strstr(open, "}}");
        if (!close)
            break;
        char inner[TEXT], text[TEXT];
        snprintf(inner, sizeof inner, "%.*s", (int)(close - open - 2), open + 2);
        const char *answer = figure_of(pass, inner, text);
        if (!answer)
            refuse(pass, inner);
        fprintf(out, "%.*s%s", (int)(open - line), line, answer ? answer : "");
        line = close + 2;
    }
    fputs(line, out);
}

// ---- Lines ------------------------------------------------------------------------------------------------

// A line without its placeholders, and without what stands in backticks where that is wanted.
static char *bare(const char *line, bool without_code) {
    char *text = text_copy(line, strlen(line));
    for (char *open, *close; (open = strstr(text, "{{")) && (close = strstr(open, "}}"));)
        memmove(open, close + 2, strlen(close + 2) + 1);
    for (char *open, *close; without_code && (open = strchr(text, '`')) && (close = strchr(open + 1, '`'));)
        memmove(open, close + 1, strlen(close + 1) + 1);
    return text;
}

static void check_literal(struct pass *pass, const char *text) {
    char figure[64];
    if (literal_figure(text, figure, sizeof figure))
        mistake(pass,
                "'%s' is a figure written by hand; a figure comes from results/ by a placeholder (post/README.md)",
                figure);
}

static void check_forms(struct pass *pass, const char *line) {
    for (const char *open, *close; (open = strstr(line, "{{")) && (close = strstr(open, "}}")); line = close + 2) {
        char inner[TEXT];
        snprintf(inner, sizeof inner, "%.*s", (int)(close - open - 2), open + 2);
        const char *what = text_after(inner, "needs ");
        bool fits;
        const char *form = form_of(inner, &fits);
        if (!fits && what)
            form_of(what, &fits);
        if (!fits && form)
            mistake(pass, "{{%s}} is not known; it is written {{%s}}", inner, form);
        else if (!fits)
            mistake(pass, "{{%s}} is not known; post/README.md lists what there is", inner);
    }
}

static void check(struct pass *pass, const char *line) {
    char *text = bare(line, false);
    if (strstr(text, "{{") || strstr(text, "}}"))
        mistake(pass, "a placeholder is written {{name ...}}, on one line");
    check_literal(pass, text);
    free(text);
    check_forms(pass, line);
    text = bare(line, true);
    for (const char *at = text; (at = strchr(at, '<')) != NULL; at++)
        if (isalpha((unsigned char)at[1]) || at[1] == '/' || at[1] == '!') {
            mistake(pass, "HTML cannot be used here; write Markdown");
            break;
        }
    if (strstr(text, "!["))
        mistake(pass, "a picture is written {{chart NAME}} or {{figure FILE.svg}}");
    free(text);
}

// {{needs WHAT}} at the beginning of a line: what follows it, or NULL where the line, or alone on it the section, is
// left out.
static const char *after_needs(struct pass *pass, const char *line) {
    const char *what = text_after(line, "{{needs ");
    const char *close = what ? strstr(what, "}}") : NULL;
    if (!close)
        return line;
    char name[TEXT];
    snprintf(name, sizeof name, "%.*s", (int)(close - what), what);
    const char *rest = close + 2 + strspn(close + 2, " ");
    if (find(pass, "needs %s", name) || figures_find(pass->outline->figures, name))
        return *rest ? rest : NULL;
    if (*rest) {
        say(pass, "left out the sentence: results hold no %s", name);
    } else {
        say(pass, "left out this section: results hold no %s", name);
        pass->outs = pass->heading;
        pass->skipped_level = pass->level;
    }
    return NULL;
}

static void take_line(struct pass *pass, const char *line, bool is_fenced) {
    if (is_fenced) {
        if (!pass->outline->figures)
            check_literal(pass, line);
        if (!pass->skipped_level)
            emit(pass, line);
        return;
    }
    int level = (int)strspn(line, "#");
    if (level > 0 && line[level] == ' ' && (!pass->skipped_level || level <= pass->skipped_level)) {
        pass->skipped_level = 0;
        pass->level = level;
        pass->heading = pass->outs;
    }
    if (!pass->outline->figures)
        check(pass, line);
    if (!pass->outline->figures || pass->skipped_level || !(line = after_needs(pass, line)))
        return;
    size_t length = strlen(line);
    if (!strncmp(line, "{{", 2) && length > 4 && strstr(line, "}}") == line + length - 2) {
        char inner[TEXT];
        snprintf(inner, sizeof inner, "%.*s", (int)length - 4, line + 2);
        if (show_block(pass, inner))
            return;
    }
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    resolve(pass, line, out);
    fclose(out);
    emit(pass, text);
    free(text);
}

// The charts that the text does not name, where it asks for them.
static void write_rest(struct pass *pass, FILE *post) {
    const char *names = figures_find(pass->outline->figures, "charts");
    char *copy = names ? text_copy(names, strlen(names)) : NULL;
    for (char *name = copy ? strtok(copy, " ") : NULL; name; name = strtok(NULL, " ")) {
        char word[TEXT];
        snprintf(word, sizeof word, " %s ", name);
        if (!strstr(pass->shown, word))
            fprintf(post, "%s\n\n", find(pass, "chart %s", name));
    }
    free(copy);
}

// Whether a line of text stands below a heading before the next one of its level.
static bool is_filled(const struct pass *pass, int heading) {
    int level = (int)strspn(pass->out[heading], "#");
    bool fenced = false;
    for (int i = heading + 1; i <= pass->outs; i++) {
        if (i == pass->rest)
            return true;
        if (i == pass->outs)
            break;
        fenced ^= !strncmp(pass->out[i], "```", 3);
        int other = fenced ? 0 : (int)strspn(pass->out[i], "#");
        if (other && pass->out[i][other] == ' ' && other <= level)
            return false;
        if (!other && *pass->out[i])
            return true;
    }
    return false;
}

static void write_post(struct pass *pass, FILE *post) {
    bool fenced = false, was_empty = true;
    for (int i = 0; i < pass->outs; i++) {
        const char *line = pass->out[i];
        if (i == pass->rest)
            write_rest(pass, post);
        fenced ^= !strncmp(line, "```", 3);
        if (!fenced && line[0] == '#' && !is_filled(pass, i)) {
            fprintf(stderr, "%s: left out the heading '%s': nothing is left below it\n", pass->outline->path, line);
            continue;
        }
        if (*line || !was_empty || fenced)
            fprintf(post, "%s\n", line);
        was_empty = !*line;
    }
    if (pass->rest == pass->outs)
        write_rest(pass, post);
}

bool outline_write(const struct outline *outline, FILE *post, FILE *drawings) {
    struct pass pass = {.outline = outline, .drawings = drawings, .shown = " ", .rest = -1};
    if (!lines_read(outline->path, &pass.source)) {
        fprintf(stderr, "post: %s cannot be read\n", outline->path);
        return false;
    }
    bool fenced = false, in_comment = false;
    for (int i = 0; i < pass.source.count; i++) {
        char *line = pass.source.line[i];
        line[strcspn(line, "\r")] = '\0';
        pass.line = i + 1;
        if (!fenced && (in_comment || !strncmp(line, "<!--", 4))) {
            in_comment = !strstr(line, "-->");
            continue;
        }
        bool is_fence = !strncmp(line, "```", 3);
        fenced ^= is_fence;
        take_line(&pass, line, fenced || is_fence);
    }
    bool is_empty = true;
    for (int i = 0; i < pass.outs; i++)
        is_empty &= !*pass.out[i];
    if (outline->figures && !pass.mistakes && is_empty && pass.rest < 0) {
        fprintf(stderr, "%s: nothing in it makes a post\n", outline->path);
        pass.mistakes++;
    }
    if (outline->figures && !pass.mistakes)
        write_post(&pass, post);
    for (int i = 0; i < pass.outs; i++)
        free(pass.out[i]);
    free(pass.out);
    lines_free(&pass.source);
    return !pass.mistakes;
}
