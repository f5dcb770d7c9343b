#include "page.h"

#include "files.h"
#include "highlight.h"
#include "picture.h"
#include "text.h"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum fact { AUTHOR, DESCRIPTION, IMAGE, DATE, FACTS };

struct page {
    FILE *out;
    const char *folder, *url, *title;
    const char *fact[FACTS]; // "" if there is none
    int pictures, tables;
    bool has_contents, failed;
};

static char *read_source(const char *path) {
    char *text = text_read(path);
    if (!text) {
        fprintf(stderr, "post: %s cannot be read [cannot-read]\n", path);
        exit(EXIT_BAD_INPUT);
    }
    return text;
}

// ---- Nodes ------------------------------------------------------------------------------------------------

// The only child of a paragraph, if it has this type.
static cmark_node *alone_in(cmark_node *paragraph, cmark_node_type type) {
    bool is_paragraph = cmark_node_get_type(paragraph) == CMARK_NODE_PARAGRAPH;
    cmark_node *child = is_paragraph ? cmark_node_first_child(paragraph) : NULL;
    return cmark_node_get_type(child) == type && !cmark_node_next(child) ? child : NULL;
}

// Writes the HTML of a node's children, without its own tags.
static void write_words(FILE *out, cmark_node *node) {
    char *html = cmark_render_html(node, CMARK_OPT_DEFAULT, NULL);
    const char *words = strchr(html, '>') + 1;
    fprintf(out, "%.*s", (int)(strrchr(html, '<') - words), words);
    free(html);
}

static bool holds_html(cmark_node *document) {
    bool found = false;
    cmark_iter *iter = cmark_iter_new(document);
    while (cmark_iter_next(iter) != CMARK_EVENT_DONE) {
        cmark_node_type type = cmark_node_get_type(cmark_iter_get_node(iter));
        found |= type == CMARK_NODE_HTML_BLOCK || type == CMARK_NODE_HTML_INLINE;
    }
    cmark_iter_free(iter);
    return found;
}

// ---- Figures ----------------------------------------------------------------------------------------------

static void write_picture(struct page *page, cmark_node *image) {
    const char *url = cmark_node_get_url(image), *dot = strrchr(url, '.');
    if (strchr(url, ':') || !dot) {
        fprintf(stderr, "post: a picture from another place: %s [foreign-picture]\n", url);
        page->failed = true;
        return;
    }
    char path[PATH_TEXT];
    snprintf(path, sizeof path, "%s/%.*s.svg", page->folder, (int)(dot - url), url);
    page->failed |= !picture_write(page->out, path, strcmp(dot, ".png") ? "drawing" : "chart", ++page->pictures);
}

static void write_code(FILE *out, cmark_node *node) {
    const char *info = cmark_node_get_fence_info(node), *code = cmark_node_get_literal(node);
    fputs("<pre tabindex=\"0\"><code>", out);
    if (!strcmp(info, "cuda") || !strcmp(info, "diff"))
        highlight(out, code, !strcmp(info, "diff"));
    else
        html_text(out, code, strlen(code));
    fputs("</code></pre>", out);
}

// Focusable by keyboard, since it scrolls on a narrow page.
static void write_table(struct page *page, cmark_node *node) {
    char *table = cmark_render_html(node, CMARK_OPT_TABLE_PREFER_STYLE_ATTRIBUTES, NULL);
    fprintf(page->out, "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"Table %d\">\n%s</div>",
            ++page->tables, table);
    free(table);
}

// Writes a picture, code or a table, with a following paragraph in italics as its caption. Returns the last node of the
// figure, NULL if the node is none of these.
static cmark_node *write_figure(struct page *page, cmark_node *node) {
    cmark_node *image = alone_in(node, CMARK_NODE_IMAGE);
    bool is_code = cmark_node_get_type(node) == CMARK_NODE_CODE_BLOCK;
    if (!image && !is_code && strcmp(cmark_node_get_type_string(node), "table"))
        return NULL;
    fputs("<figure>\n", page->out);
    if (image)
        write_picture(page, image);
    else if (is_code)
        write_code(page->out, node);
    else
        write_table(page, node);
    cmark_node *caption = alone_in(cmark_node_next(node), CMARK_NODE_EMPH);
    if (caption) {
        fputs("\n<figcaption>", page->out);
        write_words(page->out, caption);
        fputs("</figcaption>", page->out);
    }
    fputs("\n</figure>\n", page->out);
    return caption ? cmark_node_next(node) : node;
}

// ---- Headings ---------------------------------------------------------------------------------------------

enum { ID_TEXT = 160 };

// "Where the limit is" -> "where-the-limit-is"; returns its length.
static size_t make_id(cmark_node *heading, char id[ID_TEXT]) {
    char *text = cmark_render_plaintext(heading, CMARK_OPT_DEFAULT, 0);
    size_t length = 0;
    for (const char *at = text; *at && length + 8 < ID_TEXT; at++)
        if (isalnum((unsigned char)*at))
            id[length++] = (char)tolower((unsigned char)*at);
        else if (length && id[length - 1] != '-')
            id[length++] = '-';
    length -= length && id[length - 1] == '-';
    id[length] = '\0';
    free(text);
    return length;
}

// The same, with a number appended if earlier headings have the same id.
static void make_unique_id(cmark_node *heading, char id[ID_TEXT]) {
    size_t length = make_id(heading, id);
    int same = 1;
    for (cmark_node *node = heading; (node = cmark_node_previous(node)) != NULL;) {
        char other[ID_TEXT];
        if (cmark_node_get_heading_level(node) >= 2) {
            make_id(node, other);
            same += !strcmp(other, id);
        }
    }
    if (same > 1)
        snprintf(id + length, ID_TEXT - length, "-%d", same);
}

// The table of contents.
static void write_contents(FILE *out, cmark_node *heading) {
    fputs("<nav aria-label=\"Contents\">\n<ul>\n", out);
    for (; heading; heading = cmark_node_next(heading))
        if (cmark_node_get_heading_level(heading) == 2) {
            char id[ID_TEXT];
            make_unique_id(heading, id);
            fprintf(out, "<li><a href=\"#%s\">", id);
            write_words(out, heading);
            fputs("</a></li>\n", out);
        }
    fputs("</ul>\n</nav>\n", out);
}

static void write_heading(struct page *page, cmark_node *heading, int level) {
    if (level == 2 && !page->has_contents) {
        page->has_contents = true;
        write_contents(page->out, heading);
    }
    char id[ID_TEXT];
    make_unique_id(heading, id);
    fprintf(page->out, "<h%d id=\"%s\">", level, id);
    write_words(page->out, heading);
    fprintf(page->out, "</h%d>\n", level);
}

// ---- The page ---------------------------------------------------------------------------------------------

// Reads the metadata, "author: ...", between two lines of --- at the beginning; returns the rest of the text.
static const char *read_facts(struct page *page, char *markdown) {
    static const char *const name[FACTS] = {"author:", "description:", "image:", "date:"};
    for (int i = 0; i < FACTS; i++)
        page->fact[i] = "";
    char *facts = markdown + strlen("---\n"),
         *end = text_after_prefix(markdown, "---\n") ? strstr(facts, "\n---\n") : NULL;
    if (!end)
        return markdown;
    *end = '\0';
    for (char *line = strtok(facts, "\n"); line; line = strtok(NULL, "\n"))
        for (int i = 0; i < FACTS; i++) {
            const char *value = text_after_prefix(line, name[i]);
            if (value && !*page->fact[i])
                page->fact[i] = value + strspn(value, " ");
        }
    return end + strlen("\n---\n");
}

static void write_meta(const struct page *page) {
    // Link previews take an absolute URL only, so without URL= there is no image; post/card.gp draws card.png.
    const char *image = strchr(page->fact[IMAGE], ':') || *page->url ? page->fact[IMAGE] : "";
    const bool is_card = *image && !strcmp(image, "card.png");
    char address[PATH_TEXT];
    snprintf(address, sizeof address, "%s%s", *image && !strchr(image, ':') ? page->url : "", image);
    const char *const meta[][3] = {
        {"name", "author", page->fact[AUTHOR]},
        {"name", "description", page->fact[DESCRIPTION]},
        {"property", "og:type", "article"},
        {"property", "og:title", page->title},
        {"property", "og:description", page->fact[DESCRIPTION]},
        {"property", "og:url", page->url},
        {"property", "og:image", address},
        {"property", "og:image:width", is_card ? "1200" : ""},
        {"property", "og:image:height", is_card ? "630" : ""},
        {"property", "article:published_time", page->fact[DATE]},
        {"name", "twitter:card", *image ? "summary_large_image" : "summary"},
    };
    for (size_t i = 0; i < sizeof meta / sizeof *meta; i++)
        if (*meta[i][2]) {
            fprintf(page->out, "<meta %s=\"%s\" content=\"", meta[i][0], meta[i][1]);
            html_text(page->out, meta[i][2], strlen(meta[i][2]));
            fputs("\"/>\n", page->out);
        }
}

static void write_style(FILE *out) {
    char *css = read_source("post/page.css"), *palette = read_source("plots/palette");
    fputs(css, out);
    picture_colours(out, palette);
    free(css);
    free(palette);
}

// "By AUTHOR, DATE", below the title.
static void write_byline(const struct page *page) {
    const char *author = page->fact[AUTHOR], *date = page->fact[DATE];
    fprintf(page->out, "<p class=\"byline\">%s", *author ? "By " : "");
    html_text(page->out, author, strlen(author));
    if (*date)
        fprintf(page->out, "%s<time datetime=\"%s\">%s</time>", *author ? ", measured " : "", date, date);
    fputs("</p>\n", page->out);
}

static void write_body(struct page *page, cmark_node *document) {
    cmark_node *node = cmark_node_first_child(document), *end;
    for (; node; node = page->failed ? NULL : cmark_node_next(node)) {
        int level = cmark_node_get_heading_level(node);
        if ((end = write_figure(page, node)) != NULL) {
            node = end;
        } else if (level >= 2) {
            write_heading(page, node, level);
        } else if (cmark_node_get_type(node) == CMARK_NODE_CUSTOM_BLOCK) {
            write_byline(page);
        } else {
            char *html = cmark_render_html(node, CMARK_OPT_UNSAFE, NULL);
            fputs(html, page->out);
            free(html);
        }
    }
}

bool page_write(FILE *out, const char *markdown, const char *folder, const char *url) {
    char *source = read_source(markdown), *template = read_source("post/page.html");
    struct page page = {.out = out, .folder = folder, .url = url};
    const char *text = read_facts(&page, source);
    cmark_gfm_core_extensions_ensure_registered();
    cmark_parser *parser = cmark_parser_new(CMARK_OPT_DEFAULT);
    cmark_parser_attach_syntax_extension(parser, cmark_find_syntax_extension("table"));
    cmark_parser_feed(parser, text, strlen(text));
    cmark_node *document = cmark_parser_finish(parser), *heading = cmark_node_first_child(document);
    cmark_parser_free(parser);
    page.failed = holds_html(document);
    if (page.failed)
        fprintf(stderr, "post: %s contains raw HTML [raw-html]\n", markdown);
    bool has_title = cmark_node_get_heading_level(heading) > 0;
    char *title = cmark_render_plaintext(has_title ? heading : document, CMARK_OPT_DEFAULT, 0);
    page.title = has_title ? text_trim(title) : "Attention in CUDA";
    if (heading && (*page.fact[AUTHOR] || *page.fact[DATE])) // the byline comes after the title
        cmark_node_insert_after(heading, cmark_node_new(CMARK_NODE_CUSTOM_BLOCK));

    char *rest = template;
    while (rest) {
        fputs(strsep(&rest, "@"), out);
        const char *name = rest ? strsep(&rest, "@") : "";
        if (!strcmp(name, "title"))
            html_text(out, page.title, strlen(page.title));
        else if (!strcmp(name, "meta"))
            write_meta(&page);
        else if (!strcmp(name, "style"))
            write_style(out);
        else if (!strcmp(name, "body"))
            write_body(&page, document);
    }
    cmark_node_free(document);
    free(title);
    free(source);
    free(template);
    return !page.failed;
}
