#include "outline.h"

#include "figures.h"
#include "form.h"
#include "kernel.h"
#include "literal.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 1024 };

// Stands for the charts that the text does not name until it is known which these are.
static const char rest_of_charts[] = "\f{{charts}}";

// One pass over an outline. Text is collected first, since a section may be taken back.
struct pass {
    const struct outline *outline;
    FILE *text, *drawings;
    int line;          // of the outline, from 1
    int level;         // of the last heading
    long heading;      // where that stands in text
    int skipped_level; // of the heading whose section is left out, 0 where none is
    int mistakes;
    char shown[TEXT * 4]; // " name name ": the charts that the text names
};

enum remark { NOTE, MISTAKE };

__attribute__((format(printf, 3, 4))) static void say(struct pass *pass, enum remark remark, const char *format, ...) {
    fprintf(stderr, "%s:%d: ", pass->outline->path, pass->line);
    va_list words;
    va_start(words, format);
    vfprintf(stderr, format, words);
    va_end(words);
    fputc('\n', stderr);
    pass->mistakes += remark == MISTAKE;
}

// What is wrong with a placeholder that is written as it should be, and that results do not answer.
static void refuse(struct pass *pass, const char *inner) {
    say(pass, MISTAKE,
        "{{%s}} is not in these results; a line or section that may go without it begins with {{needs ...}}", inner);
}

struct placeholder {
    const char *begin, *end; // where it stands, with its braces
    char inner[TEXT];        // what they hold
};

// The first placeholder of a text; false where there is none.
static bool next_placeholder(const char *text, struct placeholder *found) {
    found->begin = strstr(text, "{{");
    const char *close = found->begin ? strstr(found->begin, "}}") : NULL;
    if (!close)
        return false;
    snprintf(found->inner, sizeof found->inner, "%.*s", (int)(close - found->begin - 2), found->begin + 2);
    found->end = close + 2;
    return true;
}

// ---- What stands alone on a line --------------------------------------------------------------------------

// word: "code" or "diff", the lesson, and a file, a blank, both or neither.
static void show_code(struct pass *pass, const char *inner, char word[4][TEXT]) {
    const char *figures = pass->outline->figures, *lesson = word[1], *file = "attention.cu";
    int blank = 0;
    for (int i = 2; i < 4 && *word[i]; i++)
        if (isdigit((unsigned char)*word[i]))
            blank = atoi(word[i]);
        else
            file = word[i];
    struct kernel kernel;
    struct snippet snippet;
    bool own = figures_find(figures, "own %s", lesson) && kernel_read(figures, lesson, file, true, &kernel);
    if (own && !kernel_snippet(&kernel, blank, &snippet)) {
        say(pass, NOTE, "TODO %d is not marked in %s; the solution's lines are shown", blank, kernel.path);
        kernel_free(&kernel);
        own = false;
    }
    if (own || (kernel_read(figures, lesson, file, false, &kernel) && kernel_snippet(&kernel, blank, &snippet))) {
        bool with_gone = !strcmp(word[0], "diff");
        kernel_print(pass->text, &kernel, with_gone ? kernel_hunk(&kernel, snippet) : snippet, with_gone,
                     pass->outline->links);
        fputc('\n', pass->text);
    } else
        say(pass, MISTAKE, "{{%s}}: %s has no such lines", inner, *kernel.path ? kernel.path : "the repository");
    kernel_free(&kernel);
}

// The title of a drawing is its text alternative.
static void show_figure(struct pass *pass, const char *path) {
    char *svg = text_read(path), *title = svg ? strstr(svg, "<title") : NULL;
    title = title ? strchr(title, '>') : NULL;
    char *end = title ? strstr(title, "</title>") : NULL;
    if (end) {
        fprintf(pass->text, "![%.*s](%s)\n\n", (int)(end - title - 1), title + 1, text_base(path));
        fprintf(pass->drawings, "%s\n", path);
    } else
        say(pass, MISTAKE, "{{figure %s}}: there is no such SVG with a title", path);
    free(svg);
}

static void show_chart(struct pass *pass, const char *inner, const char *name) {
    const char *text = figures_find(pass->outline->figures, "chart %s", name);
    if (!text) {
        refuse(pass, inner);
        return;
    }
    size_t length = strlen(pass->shown);
    snprintf(pass->shown + length, sizeof pass->shown - length, "%s ", name);
    fprintf(pass->text, "%s\n\n", text);
}

// Lines or pictures in the place of a placeholder that stands alone. False where it is none of these.
static bool show_block(struct pass *pass, const char *inner) {
    char word[4][TEXT] = {"", "", "", ""};
    sscanf(inner, "%1023s %1023s %1023s %1023s", word[0], word[1], word[2], word[3]);
    if (!strcmp(word[0], "chart"))
        show_chart(pass, inner, word[1]);
    else if (!strcmp(word[0], "charts"))
        fprintf(pass->text, "%s\n", rest_of_charts);
    else if (!strcmp(word[0], "figure"))
        show_figure(pass, word[1]);
    else if (!strcmp(word[0], "code") || !strcmp(word[0], "diff"))
        show_code(pass, inner, word);
    else
        return false;
    return true;
}

// ---- Figures within a sentence ----------------------------------------------------------------------------

// NULL where there is none.
static const char *figure_of(struct pass *pass, const char *inner, char text[TEXT]) {
    const char *of_new = text_after(inner, "new "), *lesson = of_new ? of_new : text_after(inner, "gone ");
    struct kernel kernel;
    if (lesson && kernel_read(pass->outline->figures, lesson, "attention.cu", false, &kernel)) {
        bool compared = kernel.compared;
        snprintf(text, TEXT, "%d", of_new ? kernel.news : kernel.gone);
        kernel_free(&kernel);
        return compared ? text : NULL;
    }
    bool is_of_lines = text_after(inner, "needs") || text_after(inner, "chart");
    return is_of_lines ? NULL : figures_find(pass->outline->figures, "%s", inner);
}

static void resolve(struct pass *pass, const char *line) {
    struct placeholder found;
    for (; next_placeholder(line, &found); line = found.end) {
        char text[TEXT];
        const char *answer = figure_of(pass, found.inner, text);
        if (!answer)
            refuse(pass, found.inner);
        fprintf(pass->text, "%.*s%s", (int)(found.begin - line), line, answer ? answer : "");
    }
    fprintf(pass->text, "%s\n", line);
}

// ---- Mistakes that show without results -------------------------------------------------------------------

static void check_literal(struct pass *pass, const char *text) {
    char figure[64];
    if (literal_figure(text, figure, sizeof figure))
        say(pass, MISTAKE,
            "'%s' is a figure written by hand; a figure comes from results/ by a placeholder (post/README.md)", figure);
}

static void check_forms(struct pass *pass, const char *line) {
    struct placeholder found;
    for (; next_placeholder(line, &found); line = found.end) {
        const char *what = text_after(found.inner, "needs ");
        bool fits;
        const char *form = form_of(found.inner, &fits);
        if (!fits && what)
            form_of(what, &fits);
        if (!fits && form)
            say(pass, MISTAKE, "{{%s}} is not known; it is written {{%s}}", found.inner, form);
        else if (!fits)
            say(pass, MISTAKE, "{{%s}} is not known; post/README.md lists what there is", found.inner);
    }
}

// Takes what stands between two marks out of a text, and the marks.
static void cut(char *text, const char *open, const char *close) {
    for (char *from, *to; (from = strstr(text, open)) && (to = strstr(from + strlen(open), close));) {
        to += strlen(close);
        memmove(from, to, strlen(to) + 1);
    }
}

static void check(struct pass *pass, const char *line) {
    char *text = text_copy(line, strlen(line));
    cut(text, "{{", "}}");
    if (strstr(text, "{{") || strstr(text, "}}"))
        say(pass, MISTAKE, "a placeholder is written {{name ...}}, on one line");
    check_literal(pass, text);
    check_forms(pass, line);
    cut(text, "`", "`");
    const char *html = strchr(text, '<');
    while (html && !isalpha((unsigned char)html[1]) && html[1] != '/' && html[1] != '!')
        html = strchr(html + 1, '<');
    if (html)
        say(pass, MISTAKE, "HTML cannot be used here; write Markdown");
    if (strstr(text, "!["))
        say(pass, MISTAKE, "a picture is written {{chart NAME}} or {{figure FILE.svg}}");
    free(text);
}

// ---- Lines ------------------------------------------------------------------------------------------------

// {{needs WHAT}} at the beginning of a line: what follows it, or NULL where the line, or alone on it the section, is
// left out.
static const char *after_needs(struct pass *pass, const char *line) {
    struct placeholder first;
    bool begins = next_placeholder(line, &first) && first.begin == line;
    const char *what = begins ? text_after(first.inner, "needs ") : NULL, *figures = pass->outline->figures;
    if (!what)
        return line;
    const char *rest = first.end + strspn(first.end, " ");
    if (figures_find(figures, "needs %s", what) || figures_find(figures, "%s", what))
        return *rest ? rest : NULL;
    if (*rest) {
        say(pass, NOTE, "left out the sentence: results hold no %s", what);
    } else {
        say(pass, NOTE, "left out this section: results hold no %s", what);
        fseek(pass->text, pass->heading, SEEK_SET);
        pass->skipped_level = pass->level;
    }
    return NULL;
}

static void take_line(struct pass *pass, const char *line, bool is_fenced) {
    if (is_fenced) {
        if (!pass->outline->figures)
            check_literal(pass, line);
        if (!pass->skipped_level)
            fprintf(pass->text, "%s\n", line);
        return;
    }
    int level = (int)strspn(line, "#");
    if (level > 0 && line[level] == ' ' && (!pass->skipped_level || level <= pass->skipped_level)) {
        pass->skipped_level = 0;
        pass->level = level;
        pass->heading = ftell(pass->text);
    }
    if (!pass->outline->figures)
        check(pass, line);
    if (!pass->outline->figures || pass->skipped_level || !(line = after_needs(pass, line)))
        return;
    struct placeholder first;
    bool is_alone = next_placeholder(line, &first) && first.begin == line && !*first.end;
    if (!is_alone || !show_block(pass, first.inner))
        resolve(pass, line);
}

// The charts that the text does not name.
static void write_rest(const struct pass *pass, FILE *post) {
    const char *names = figures_find(pass->outline->figures, "charts");
    char *copy = names ? text_copy(names, strlen(names)) : NULL;
    for (char *name = copy ? strtok(copy, " ") : NULL; name; name = strtok(NULL, " ")) {
        char word[TEXT];
        snprintf(word, sizeof word, " %s ", name);
        if (!strstr(pass->shown, word))
            fprintf(post, "%s\n\n", figures_find(pass->outline->figures, "chart %s", name));
    }
    free(copy);
}

// Whether a line of text stands below a heading before the next one of its level. below: lines, each with its end.
static bool is_filled(const char *below, int level) {
    bool fenced = false;
    for (; *below; below = strchr(below, '\n') + 1) {
        fenced ^= text_after(below, "```") != NULL;
        int other = fenced ? 0 : (int)strspn(below, "#");
        if (other && below[other] == ' ' && other <= level)
            return false;
        if (!other && *below != '\n')
            return true;
    }
    return false;
}

static void write_post(const struct pass *pass, char *text, FILE *post) {
    bool fenced = false, was_empty = true;
    for (const char *line; (line = strsep(&text, "\n")) && text;) {
        fenced ^= text_after(line, "```") != NULL;
        if (!fenced && *line == '#' && !is_filled(text, (int)strspn(line, "#")))
            fprintf(stderr, "%s: left out the heading '%s': nothing is left below it\n", pass->outline->path, line);
        else if (strcmp(line, rest_of_charts)) {
            if (*line || !was_empty || fenced)
                fprintf(post, "%s\n", line);
            was_empty = !*line;
        } else if (!strstr(text, rest_of_charts))
            write_rest(pass, post);
    }
}

bool outline_write(const struct outline *outline, FILE *post, FILE *drawings) {
    struct lines source;
    if (!lines_read(outline->path, &source)) {
        fprintf(stderr, "post: %s cannot be read\n", outline->path);
        return false;
    }
    char *text;
    size_t size;
    struct pass pass = {.outline = outline, .text = open_memstream(&text, &size), .drawings = drawings, .shown = " "};
    bool fenced = false, in_comment = false;
    for (int i = 0; i < source.count; i++) {
        char *line = source.line[i];
        line[strcspn(line, "\r")] = '\0';
        pass.line = i + 1;
        if (!fenced && (in_comment || text_after(line, "<!--"))) {
            in_comment = !strstr(line, "-->");
            continue;
        }
        bool is_fence = text_after(line, "```") != NULL;
        fenced ^= is_fence;
        take_line(&pass, line, fenced || is_fence);
    }
    fclose(pass.text);
    const char *facts = text_after(text, "---\n"), *end = facts ? strstr(facts, "---\n") : NULL;
    const char *body = end ? end + strlen("---\n") : text;
    if (outline->figures && !pass.mistakes && !body[strspn(body, " \t\n")]) {
        fprintf(stderr, "%s: nothing in it makes a post\n", outline->path);
        pass.mistakes++;
    }
    if (outline->figures && !pass.mistakes)
        write_post(&pass, text, post);
    free(text);
    lines_free(&source);
    return !pass.mistakes;
}
