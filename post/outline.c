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

// Placeholder for the charts that the text does not name, which are known only after the last line.
static const char remaining_charts_mark[] = "\f{{charts}}";

// One pass over an outline. Text is collected in memory, since a whole section may be dropped.
struct pass {
    const struct outline *outline;
    FILE *text, *drawings;
    int line;          // of the outline, from 1
    int level;         // of the last heading
    long heading;      // its position in text
    int skipped_level; // level of the heading whose section is skipped, 0 if none is
    int errors;
    int sentences, sections; // that are skipped
    char lacking[TEXT];      // "profile, ceilings": the first words of what the results have not
    char shown[TEXT * 4];    // " name name ": the charts that the text names
};

// Details are for the writer of an outline: make post V=1 prints them.
enum severity { DETAIL, NOTE, ERROR };

static bool is_detailed(void) {
    const char *v = getenv("V");
    return v && *v && strcmp(v, "0");
}

__attribute__((format(printf, 3, 4))) static void report(struct pass *pass, enum severity severity, const char *format,
                                                         ...) {
    if (severity == DETAIL && !is_detailed())
        return;
    fprintf(stderr, "%s:%d: ", pass->outline->path, pass->line);
    va_list words;
    va_start(words, format);
    vfprintf(stderr, format, words);
    va_end(words);
    fputc('\n', stderr);
    pass->errors += severity == ERROR;
}

// Reports a well-formed placeholder for which the results have no value.
static void refuse(struct pass *pass, const char *inner) {
    report(pass, ERROR,
           "{{%s}} is not in these results; a line or section that may go without it begins with {{needs ...}}", inner);
}

struct placeholder {
    const char *begin, *end; // with its braces
    char inner[TEXT];        // between the braces
};

// Finds the first placeholder of a text.
static bool next_placeholder(const char *text, struct placeholder *found) {
    found->begin = strstr(text, "{{");
    const char *close = found->begin ? strstr(found->begin, "}}") : NULL;
    if (!close)
        return false;
    snprintf(found->inner, sizeof found->inner, "%.*s", (int)(close - found->begin - 2), found->begin + 2);
    found->end = close + 2;
    return true;
}

// ---- Placeholders alone on a line --------------------------------------------------------------------------

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
        report(pass, NOTE, "TODO %d is not marked in %s; showing the lines of the solution [unmarked-blank]", blank,
               kernel.path);
        kernel_free(&kernel);
        own = false;
    }
    if (own || (kernel_read(figures, lesson, file, false, &kernel) && kernel_snippet(&kernel, blank, &snippet))) {
        bool with_removed = !strcmp(word[0], "diff");
        kernel_print(pass->text, &kernel, with_removed ? kernel_hunk(&kernel, snippet) : snippet, with_removed,
                     pass->outline->links);
        fputc('\n', pass->text);
    } else
        report(pass, ERROR, "{{%s}}: %s has no such lines [no-lines]", inner,
               *kernel.path ? kernel.path : "the repository");
    kernel_free(&kernel);
}

// The title of a drawing is its text alternative.
static void show_figure(struct pass *pass, const char *path) {
    char *svg = text_read(path), *title = svg ? strstr(svg, "<title") : NULL;
    title = title ? strchr(title, '>') : NULL;
    char *end = title ? strstr(title, "</title>") : NULL;
    if (end) {
        fprintf(pass->text, "![%.*s](%s)\n\n", (int)(end - title - 1), title + 1, base_name(path));
        fprintf(pass->drawings, "%s\n", path);
    } else
        report(pass, ERROR, "{{figure %s}}: no SVG file of this name with a title [no-figure]", path);
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

// Replaces a placeholder that is alone on its line by lines or pictures. False if it is none of these.
static bool show_block(struct pass *pass, const char *inner) {
    char word[4][TEXT] = {"", "", "", ""};
    sscanf(inner, "%1023s %1023s %1023s %1023s", word[0], word[1], word[2], word[3]);
    if (!strcmp(word[0], "chart"))
        show_chart(pass, inner, word[1]);
    else if (!strcmp(word[0], "charts"))
        fprintf(pass->text, "%s\n", remaining_charts_mark);
    else if (!strcmp(word[0], "figure"))
        show_figure(pass, word[1]);
    else if (!strcmp(word[0], "code") || !strcmp(word[0], "diff"))
        show_code(pass, inner, word);
    else
        return false;
    return true;
}

// ---- Figures within a sentence ----------------------------------------------------------------------------

// NULL if there is none.
static const char *figure_of(struct pass *pass, const char *inner, char text[TEXT]) {
    const char *of_new = text_after_prefix(inner, "new "),
               *lesson = of_new ? of_new : text_after_prefix(inner, "gone ");
    struct kernel kernel;
    if (lesson && kernel_read(pass->outline->figures, lesson, "attention.cu", false, &kernel)) {
        bool compared = kernel.compared;
        snprintf(text, TEXT, "%d", of_new ? kernel.added : kernel.removed);
        kernel_free(&kernel);
        return compared ? text : NULL;
    }
    bool is_of_lines = text_after_prefix(inner, "needs") || text_after_prefix(inner, "chart");
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

// ---- Errors that do not depend on results -------------------------------------------------------------------

static void check_literal(struct pass *pass, const char *text) {
    char figure[64];
    if (literal_figure(text, figure, sizeof figure))
        report(pass, ERROR,
               "'%s' is a figure written by hand; a figure comes from results/ by a placeholder (post/README.md)",
               figure);
}

static void check_forms(struct pass *pass, const char *line) {
    struct placeholder found;
    for (; next_placeholder(line, &found); line = found.end) {
        const char *what = text_after_prefix(found.inner, "needs ");
        bool fits;
        const char *form = form_of(found.inner, &fits);
        if (!fits && what)
            form_of(what, &fits);
        if (!fits && form)
            report(pass, ERROR, "{{%s}} is malformed; write {{%s}} [bad-placeholder]", found.inner, form);
        else if (!fits)
            report(pass, ERROR, "{{%s}} is unknown; post/README.md lists all placeholders [bad-placeholder]",
                   found.inner);
    }
}

// Removes two marks and the text between them.
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
        report(pass, ERROR, "a placeholder is {{name ...}}, on one line [bad-placeholder]");
    check_literal(pass, text);
    check_forms(pass, line);
    cut(text, "`", "`");
    const char *html = strchr(text, '<');
    while (html && !isalpha((unsigned char)html[1]) && html[1] != '/' && html[1] != '!')
        html = strchr(html + 1, '<');
    if (html)
        report(pass, ERROR, "HTML is not allowed; write Markdown [raw-html]");
    if (strstr(text, "!["))
        report(pass, ERROR, "write a picture as {{chart NAME}} or {{figure FILE.svg}} [bad-picture]");
    free(text);
}

// ---- Lines ------------------------------------------------------------------------------------------------

static void add_lacking(struct pass *pass, const char *what) {
    char word[TEXT];
    snprintf(word, sizeof word, "%s%.*s", isdigit((unsigned char)*what) ? "lesson " : "", (int)strcspn(what, " "),
             what);
    if (strstr(pass->lacking, word))
        return;
    size_t length = strlen(pass->lacking);
    snprintf(pass->lacking + length, sizeof pass->lacking - length, "%s%s", length ? ", " : "", word);
}

// One line for all that is skipped, so that the pages that were written stay in sight.
static void report_skipped(const struct pass *pass) {
    const char *device = figures_find(pass->outline->figures, "device");
    if (pass->sentences + pass->sections > 0)
        fprintf(stderr, "%s: left out %d sentence%s and %d section%s: the results of %s have no %s%s [skipped]\n",
                pass->outline->path, pass->sentences, pass->sentences == 1 ? "" : "s", pass->sections,
                pass->sections == 1 ? "" : "s", device ? device : "this GPU", pass->lacking,
                is_detailed() ? "" : "; make post V=1 lists them");
}

// {{needs WHAT}} at the beginning of a line: returns the rest of the line, or NULL if the line is skipped; alone on a
// line it skips the section.
static const char *after_needs(struct pass *pass, const char *line) {
    struct placeholder first;
    bool begins = next_placeholder(line, &first) && first.begin == line;
    const char *what = begins ? text_after_prefix(first.inner, "needs ") : NULL, *figures = pass->outline->figures;
    if (!what)
        return line;
    const char *rest = first.end + strspn(first.end, " ");
    if (figures_find(figures, "needs %s", what) || figures_find(figures, "%s", what))
        return *rest ? rest : NULL;
    add_lacking(pass, what);
    if (*rest) {
        pass->sentences++;
        report(pass, DETAIL, "skipped the sentence: the results have no %s [skipped]", what);
    } else {
        pass->sections++;
        report(pass, DETAIL, "skipped this section: the results have no %s [skipped]", what);
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

// Whether there is text between a heading and the next heading of its level. below: the lines after the heading.
static bool is_filled(const char *below, int level) {
    bool fenced = false;
    for (; *below; below = strchr(below, '\n') + 1) {
        fenced ^= text_after_prefix(below, "```") != NULL;
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
        fenced ^= text_after_prefix(line, "```") != NULL;
        if (!fenced && *line == '#' && !is_filled(text, (int)strspn(line, "#"))) {
            if (is_detailed())
                fprintf(stderr, "%s: left out the heading '%s': nothing is left below it [skipped]\n",
                        pass->outline->path, line);
        } else if (strcmp(line, remaining_charts_mark)) {
            if (*line || !was_empty || fenced)
                fprintf(post, "%s\n", line);
            was_empty = !*line;
        } else if (!strstr(text, remaining_charts_mark))
            write_rest(pass, post);
    }
}

bool outline_write(const struct outline *outline, FILE *post, FILE *drawings) {
    struct lines source;
    if (!lines_read(outline->path, &source)) {
        fprintf(stderr, "post: %s cannot be read [cannot-read]\n", outline->path);
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
        if (!fenced && (in_comment || text_after_prefix(line, "<!--"))) {
            in_comment = !strstr(line, "-->");
            continue;
        }
        bool is_fence = text_after_prefix(line, "```") != NULL;
        fenced ^= is_fence;
        take_line(&pass, line, fenced || is_fence);
    }
    fclose(pass.text);
    const char *facts = text_after_prefix(text, "---\n"), *end = facts ? strstr(facts, "---\n") : NULL;
    const char *body = end ? end + strlen("---\n") : text;
    if (outline->figures && !pass.errors && !body[strspn(body, " \t\n")]) {
        fprintf(stderr, "%s: nothing in it makes a post\n", outline->path);
        pass.errors++;
    }
    if (outline->figures && !pass.errors) {
        write_post(&pass, text, post);
        report_skipped(&pass);
    }
    free(text);
    lines_free(&source);
    return !pass.errors;
}
