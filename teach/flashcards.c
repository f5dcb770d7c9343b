// A self-check is what stands on a page between <details> and </details>, under the heading "Check yourself": the
// question in its <summary>, then the answer, in paragraphs and indented code.
#include "commands.h"

#include "files.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Sizes follow the page, so that a card fills whatever paper it is printed on.
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

static void put_html(FILE *out, const char *text, size_t length) {
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

// `code`, **strong**, *emphasis* and [text](link), of which only the text is printed, in text[0 .. length).
static void put_inline(FILE *out, const char *text, size_t length) {
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
                put_inline(out, text + size, (size_t)(close - text) - size);
            else
                put_html(out, text + size, (size_t)(close - text) - size);
            fprintf(out, "</%s>", kinds[kind].tag);
            text = close + size;
        } else if (*text == '[' && (link = memmem(text, (size_t)(end - text), "](", 2)) &&
                   (close = memchr(link, ')', (size_t)(end - link)))) {
            put_inline(out, text + 1, (size_t)(link - text) - 1);
            text = close + 1;
        } else {
            put_html(out, text++, 1);
        }
    }
}

// What is being read of a card.
struct card {
    char *question, *paragraph, *code; // with blanks between lines; "" where there is none
    char *answer;                      // HTML
    size_t answer_size;
    FILE *to_answer;
    bool asking;
};

static void join(char **text, const char *line, const char *between) {
    char *joined;
    if (asprintf(&joined, "%s%s%s", *text, **text ? between : "", line) < 0)
        message_exit(EXIT_CHECK_FAILED, "out of memory");
    free(*text);
    *text = joined;
}

static void begin_card(struct card *card) {
    *card = (struct card){
        .question = text_copy("", 0), .paragraph = text_copy("", 0), .code = text_copy("", 0), .asking = false};
    card->to_answer = open_memstream(&card->answer, &card->answer_size);
}

static void end_paragraph(struct card *card) {
    if (*card->code) {
        fputs("<pre>", card->to_answer);
        put_html(card->to_answer, card->code, strlen(card->code));
        fputs("\n</pre>\n", card->to_answer);
    } else if (*card->paragraph) {
        fputs("<p>", card->to_answer);
        put_inline(card->to_answer, card->paragraph, strlen(card->paragraph));
        fputs("</p>\n", card->to_answer);
    }
    *card->code = *card->paragraph = 0;
}

static void end_card(FILE *out, struct card *card, const char *title) {
    end_paragraph(card);
    fclose(card->to_answer);
    fputs("<section>\n<h1>", out);
    put_html(out, title, strlen(title));
    fputs("</h1>\n<div class=\"question\">", out);
    put_inline(out, card->question, strlen(card->question));
    fprintf(out, "</div>\n<div class=\"answer\">\n%s</div>\n</section>\n", card->answer);
    free(card->question);
    free(card->paragraph);
    free(card->code);
    free(card->answer);
}

static void read_line(struct card *card, char *line) {
    char *summary = strstr(line, "<summary>");
    if (summary) {
        card->asking = true;
        line = summary + strlen("<summary>");
    }
    if (card->asking) {
        char *end = strstr(line, "</summary>");
        card->asking = !end;
        if (end)
            *end = 0;
        if (*line)
            join(&card->question, line, " ");
    } else if (!line[strspn(line, " \t\r")]) {
        if (*card->code)
            join(&card->code, "", "\n");
        else
            end_paragraph(card);
    } else if (text_after(line, "    ") && !*card->paragraph) {
        join(&card->code, line + 4, "\n");
    } else {
        if (*card->code)
            end_paragraph(card);
        join(&card->paragraph, line, " ");
    }
}

// Prints the cards of a page and returns how many they are.
static int put_cards(FILE *out, const char *page) {
    struct lines lines;
    struct card card;
    const char *title = "";
    bool here = false, inside = false;
    int cards = 0;
    lines_read(page, &lines);
    for (int i = 0; i < lines.count; i++) {
        char *line = lines.line[i];
        if (!i)
            title = line + strspn(line, "# ");
        if (text_after(line, "## "))
            here = !strcmp(line, "## Check yourself");
        if (here && text_after(line, "<details>")) {
            inside = true;
            begin_card(&card);
            line += strlen("<details>");
            if (!*line)
                continue;
        }
        if (!here || !inside)
            continue;
        if (text_after(line, "</details>")) {
            inside = false;
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
            message_exit(EXIT_BAD_INPUT, "flashcards: %s cannot be read", word[i]);
    snprintf(scratch, sizeof scratch, "%s.new", word[0]);
    FILE *out = files_make_folder(word[0]) ? fopen(scratch, "we") : NULL;
    if (!out)
        message_exit(EXIT_BAD_INPUT, "flashcards: %s cannot be written", word[0]);
    fputs(head, out);
    for (int i = 1; i < count; i++)
        cards += put_cards(out, word[i]);
    fputs("</body>\n</html>\n", out);
    bool written = !ferror(out);
    if (fclose(out) || !written || !cards || rename(scratch, word[0])) {
        remove(scratch);
        message_exit(cards ? EXIT_BAD_INPUT : EXIT_CHECK_FAILED, "flashcards: %s",
                     cards ? "the cards could not be written: is the disk full?" : "no self-check is on the pages");
    }
    printf("%s: %d cards, one a page. Print it from a browser, on any paper; fold along the dashed line.\n", word[0],
           cards);
    return 0;
}
