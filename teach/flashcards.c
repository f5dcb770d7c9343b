// A self-check is a <details> element of a page under the heading "Check yourself": the question in its <summary>, then
// the answer, in paragraphs and indented code. Each becomes a card.
#include "commands.h"

#include "files.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Sizes are relative to the page, so that a card fills paper of any size.
static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<title>Attention kernels: "
    "cards</title>\n<style>\n"
    "@page { size: A6 landscape; margin: 0; }\n"
    "* { box-sizing: border-box; }\n"
    "body { margin: 0; font: 2.7vw/1.4 \"DejaVu Sans\", sans-serif; color: #000; background: #fff; }\n"
    "section { height: 99vh; padding: 4vw 5vw; overflow: hidden; break-after: page; }\n"
    "section:last-child { break-after: auto; }\n"
    "h1 { font-size: 2vw; font-weight: normal; margin: 0 0 2vw; }\n"
    ".question { height: 30vh; font-size: 3.6vw; }\n"
    ".answer { border-top: 0.2vw dashed #000; padding-top: 2.5vw; }\n"
    "p { margin: 0 0 1.5vw; }\n"
    "pre, code { font-family: \"DejaVu Sans Mono\", monospace; font-size: 0.92em; }\n"
    "</style>\n</head>\n<body>\n";

static void print_html(FILE *out, const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        switch (text[i]) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        default:
            putc(text[i], out);
        }
}

// Prints text[0 .. length) with `code`, **strong** and *emphasis* as HTML, and only the text of a [text](link).
static void print_inline(FILE *out, const char *text, size_t length) {
    static const struct { const char *mark, *tag; } kinds[] = {{"`", "code"}, {"**", "b"}, {"*", "em"}};
    const char *end = text + length;
    while (text < end) {
        const char *close = NULL, *link;
        size_t kind = 0, size = 0;
        for (; kind < 3 && !close; kind += !close) {
            size = strlen(kinds[kind].mark);
            if (!strncmp(text, kinds[kind].mark, size) && (kind != 2 || text[1] != ' '))
                close = memmem(text + size, (size_t)(end - text) - size, kinds[kind].mark, size);
        }
        if (close) {
            fprintf(out, "<%s>", kinds[kind].tag);
            if (kind)
                print_inline(out, text + size, (size_t)(close - text) - size);
            else
                print_html(out, text + size, (size_t)(close - text) - size);
            fprintf(out, "</%s>", kinds[kind].tag);
            text = close + size;
        } else if (*text == '[' && (link = memmem(text, (size_t)(end - text), "](", 2)) &&
                   (close = memchr(link, ')', (size_t)(end - link)))) {
            print_inline(out, text + 1, (size_t)(link - text) - 1);
            text = close + 1;
        } else {
            print_html(out, text++, 1);
        }
    }
}

// A card while it is being read.
struct card {
    char *question, *paragraph, *code; // so far; "" if none is open
    char *answer;                      // HTML
    size_t answer_size;
    FILE *answer_stream;
    bool in_question;
};

static void append_text(char **text, const char *line, const char *separator) {
    char *joined;
    if (asprintf(&joined, "%s%s%s", *text, **text ? separator : "", line) < 0)
        message_exit(EXIT_CHECK_FAILED, "out of memory");
    free(*text);
    *text = joined;
}

static void begin_card(struct card *card) {
    *card = (struct card){
        .question = text_copy("", 0), .paragraph = text_copy("", 0), .code = text_copy("", 0), .in_question = false};
    card->answer_stream = open_memstream(&card->answer, &card->answer_size);
}

static void end_paragraph(struct card *card) {
    if (*card->code) {
        fputs("<pre>", card->answer_stream);
        print_html(card->answer_stream, card->code, strlen(card->code));
        fputs("\n</pre>\n", card->answer_stream);
    } else if (*card->paragraph) {
        fputs("<p>", card->answer_stream);
        print_inline(card->answer_stream, card->paragraph, strlen(card->paragraph));
        fputs("</p>\n", card->answer_stream);
    }
    *card->code = *card->paragraph = 0;
}

static void end_card(FILE *out, struct card *card, const char *title) {
    end_paragraph(card);
    fclose(card->answer_stream);
    fputs("<section>\n<h1>", out);
    print_html(out, title, strlen(title));
    fputs("</h1>\n<div class=\"question\">", out);
    print_inline(out, card->question, strlen(card->question));
    fprintf(out, "</div>\n<div class=\"answer\">\n%s</div>\n</section>\n", card->answer);
    free(card->question);
    free(card->paragraph);
    free(card->code);
    free(card->answer);
}

static void read_line(struct card *card, char *line) {
    char *summary = strstr(line, "<summary>");
    if (summary) {
        card->in_question = true;
        line = summary + strlen("<summary>");
    }
    if (card->in_question) {
        char *end = strstr(line, "</summary>");
        card->in_question = !end;
        if (end)
            *end = 0;
        if (*line)
            append_text(&card->question, line, " ");
    } else if (!line[strspn(line, " \t\r")]) {
        if (*card->code)
            append_text(&card->code, "", "\n");
        else
            end_paragraph(card);
    } else if (text_after_prefix(line, "    ") && !*card->paragraph) {
        append_text(&card->code, line + 4, "\n");
    } else {
        if (*card->code)
            end_paragraph(card);
        append_text(&card->paragraph, line, " ");
    }
}

// Prints the cards of a page and returns their number.
static int print_cards(FILE *out, const char *page) {
    struct lines lines;
    struct card card;
    const char *title = "";
    bool in_section = false, in_card = false;
    int cards = 0;
    lines_read(page, &lines);
    for (int i = 0; i < lines.count; i++) {
        char *line = lines.line[i];
        if (!i)
            title = line + strspn(line, "# ");
        if (text_after_prefix(line, "## "))
            in_section = !strcmp(line, "## Check yourself");
        if (in_section && text_after_prefix(line, "<details>")) {
            in_card = true;
            begin_card(&card);
            line += strlen("<details>");
            if (!*line)
                continue;
        }
        if (!in_section || !in_card)
            continue;
        if (text_after_prefix(line, "</details>")) {
            in_card = false;
            end_card(out, &card, title);
            cards++;
        } else {
            read_line(&card, line);
        }
    }
    lines_free(&lines);
    return cards;
}

int teach_flashcards(int count, char **word) {
    char scratch[PATH_TEXT];
    int cards = 0;
    for (int i = 1; i < count; i++)
        if (access(word[i], R_OK))
            message_exit(EXIT_BAD_INPUT, "flashcards: %s cannot be read [cannot-read]", word[i]);
    snprintf(scratch, sizeof scratch, "%s.new", word[0]);
    FILE *out = make_parent_folder(word[0]) ? fopen(scratch, "we") : NULL;
    if (!out)
        message_exit(EXIT_BAD_INPUT, "flashcards: %s cannot be written [cannot-write]", word[0]);
    fputs(head, out);
    for (int i = 1; i < count; i++)
        cards += print_cards(out, word[i]);
    fputs("</body>\n</html>\n", out);
    bool written = !ferror(out);
    if (fclose(out) || !written || !cards || rename(scratch, word[0])) {
        remove(scratch);
        message_exit(cards ? EXIT_BAD_INPUT : EXIT_CHECK_FAILED, "flashcards: %s",
                     cards ? "the cards could not be written: is the disk full? [cannot-write]"
                           : "the pages have no self-check [no-self-check]");
    }
    printf("%s: %d cards, one per page. Print it from a browser, on any paper; fold along the dashed line.\n", word[0],
           cards);
    return 0;
}
