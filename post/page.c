#include "page.h"

#include "files.h"
#include "highlight.h"
#include "picture.h"
#include "text.h"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct page {
    const struct page_sources *sources;
    cmark_syntax_extension *table;
    int pictures, tables;
    bool failed;
};

// ---- Nodes ------------------------------------------------------------------------------------------------

// A block of HTML that stands before and behind what is put into it.
static cmark_node *new_block(const char *before, const char *behind) {
    cmark_node *block = cmark_node_new(CMARK_NODE_CUSTOM_BLOCK);
    cmark_node_set_on_enter(block, before);
    cmark_node_set_on_exit(block, behind);
    return block;
}

static cmark_node *only_child(cmark_node *node, cmark_node_type type) {
    cmark_node *child = node ? cmark_node_first_child(node) : NULL;
    return child && !cmark_node_next(child) && cmark_node_get_type(child) == type ? child : NULL;
}

static void text_of(cmark_node *node, FILE *out) {
    cmark_iter *iter = cmark_iter_new(node);
    while (cmark_iter_next(iter) != CMARK_EVENT_DONE) {
        const char *literal = cmark_node_get_literal(cmark_iter_get_node(iter));
        if (literal)
            fputs(literal, out);
    }
    cmark_iter_free(iter);
}

static char *node_text(cmark_node *node) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    text_of(node, out);
    fclose(out);
    return text;
}

// The HTML of what a node holds, without its own tags. The node is then empty.
static char *take_words(cmark_node *node) {
    cmark_node *document = cmark_node_new(CMARK_NODE_DOCUMENT), *words = cmark_node_new(CMARK_NODE_PARAGRAPH);
    cmark_node_append_child(document, words);
    for (cmark_node *child; (child = cmark_node_first_child(node)) != NULL;)
        cmark_node_append_child(words, child);
    char *html = cmark_render_html(document, CMARK_OPT_DEFAULT, NULL);
    char *text = text_copy(html + strlen("<p>"), strlen(html) - strlen("<p></p>\n"));
    cmark_node_free(document);
    free(html);
    return text;
}

// The block of a text with %s in it.
__attribute__((format(printf, 1, 2))) static cmark_node *print_block(const char *format, ...) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    va_list words;
    va_start(words, format);
    vfprintf(out, format, words);
    va_end(words);
    fclose(out);
    cmark_node *block = new_block(text, "");
    free(text);
    return block;
}

// Puts the block in the place of a node, and a paragraph in italics that follows into it, as its caption.
static void put_figure(cmark_node *node, cmark_node *block) {
    cmark_node_replace(node, block);
    cmark_node *after = cmark_node_next(block);
    cmark_node *words =
        after && cmark_node_get_type(after) == CMARK_NODE_PARAGRAPH ? only_child(after, CMARK_NODE_EMPH) : NULL;
    if (!words)
        return;
    char *text = take_words(words);
    cmark_node_append_child(block, print_block("<figcaption>%s</figcaption>", text));
    free(text);
    cmark_node_unlink(after);
    cmark_node_free(after);
}

// ---- Figures ----------------------------------------------------------------------------------------------

static void write_picture(struct page *page, FILE *out, const char *name, const char *class) {
    char path[4096], prefix[16];
    snprintf(path, sizeof path, "%s/%s.svg", page->sources->folder, name);
    snprintf(prefix, sizeof prefix, "p%d-", ++page->pictures);
    page->failed |= !picture_write(out, path, class, prefix);
}

// A chart serves every width; a drawing may have another for a phone.
static void take_picture(struct page *page, cmark_node *paragraph, cmark_node *image) {
    const char *url = cmark_node_get_url(image), *dot = strrchr(url, '.');
    if (strchr(url, ':') || !dot) {
        fprintf(stderr, "post: a picture from elsewhere: %s\n", url);
        page->failed = true;
        return;
    }
    char name[1024], phone[4096 + 1100], *html = NULL;
    snprintf(name, sizeof name, "%.*s", (int)(dot - url), url);
    snprintf(phone, sizeof phone, "%s/%s-phone.svg", page->sources->folder, name);
    size_t size = 0;
    FILE *out = open_memstream(&html, &size);
    fputs("<figure>\n", out);
    if (!strcmp(dot, ".png")) {
        write_picture(page, out, name, "chart");
    } else if (!files_exist(phone)) {
        write_picture(page, out, name, "drawing");
    } else {
        write_picture(page, out, name, "wide drawing");
        strcat(name, "-phone");
        write_picture(page, out, name, "phone drawing");
    }
    fclose(out);
    put_figure(paragraph, new_block(html, "</figure>"));
    free(html);
    cmark_node_free(paragraph);
}

static void take_code(cmark_node *node) {
    const char *info = cmark_node_get_fence_info(node);
    char *html = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&html, &size);
    fputs("<figure>\n<pre tabindex=\"0\"><code>", out);
    if (!strcmp(info, "cuda") || !strcmp(info, "diff"))
        highlight(out, cmark_node_get_literal(node), !strcmp(info, "diff"));
    else
        html_text(out, cmark_node_get_literal(node), (int)strlen(cmark_node_get_literal(node)));
    fputs("</code></pre>", out);
    fclose(out);
    put_figure(node, new_block(html, "</figure>"));
    free(html);
    cmark_node_free(node);
}

// Reached by keyboard, since it scrolls where the page is narrow.
static void take_table(struct page *page, cmark_node *node) {
    cmark_node *place = cmark_node_new(CMARK_NODE_PARAGRAPH), *document = cmark_node_new(CMARK_NODE_DOCUMENT);
    cmark_node_replace(node, place);
    cmark_node_append_child(document, node);
    cmark_mem *memory = cmark_get_default_mem_allocator();
    cmark_llist *extensions = cmark_llist_append(memory, NULL, page->table);
    char *table = cmark_render_html(document, CMARK_OPT_TABLE_PREFER_STYLE_ATTRIBUTES, extensions);
    cmark_llist_free(memory, extensions);
    cmark_node *block =
        print_block("<figure>\n<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"Table %d\">\n%s</div>",
                    ++page->tables, table);
    cmark_node_set_on_exit(block, "</figure>");
    put_figure(place, block);
    cmark_node_free(place);
    cmark_node_free(document);
    free(table);
}

// ---- Headings ---------------------------------------------------------------------------------------------

// "Where the limit is" -> "where-the-limit-is", with a number behind it where that was there before.
static void make_id(const char *text, char *ids[], int count, char *id, size_t size) {
    size_t length = 0;
    for (; *text && length + 8 < size; text++)
        if (isalnum((unsigned char)*text))
            id[length++] = (char)tolower((unsigned char)*text);
        else if (length && id[length - 1] != '-')
            id[length++] = '-';
    while (length && id[length - 1] == '-')
        length--;
    id[length] = '\0';
    int same = 0;
    for (int i = 0; i < count; i++)
        same += !strcmp(ids[i], id);
    ids[count] = text_copy(id, length);
    if (same)
        snprintf(id + length, size - length, "-%d", same + 1);
}

// Gives headings ids, and puts links to the sections before the first.
static void take_headings(cmark_node *document) {
    enum { MOST = 200 };
    char *ids[MOST], id[160], *nav = NULL;
    int count = 0;
    size_t size = 0;
    FILE *links = open_memstream(&nav, &size);
    cmark_node *first = NULL;
    for (cmark_node *node = cmark_node_first_child(document), *next; node; node = next) {
        next = cmark_node_next(node);
        int level = cmark_node_get_type(node) == CMARK_NODE_HEADING ? cmark_node_get_heading_level(node) : 0;
        if (level < 2 || count == MOST)
            continue;
        char *text = node_text(node);
        make_id(text, ids, count++, id, sizeof id);
        char *words = take_words(node);
        if (level == 2)
            fprintf(links, "<li><a href=\"#%s\">%s</a></li>\n", id, words);
        cmark_node *block = print_block("<h%d id=\"%s\">%s</h%d>", level, id, words, level);
        cmark_node_replace(node, block);
        first = first ? first : level == 2 ? block : NULL;
        cmark_node_free(node);
        free(words);
        free(text);
    }
    fclose(links);
    if (first)
        cmark_node_insert_before(first, print_block("<nav aria-label=\"Contents\">\n<ul>\n%s</ul>\n</nav>", nav));
    free(nav);
    while (count)
        free(ids[--count]);
}

// ---- The page ---------------------------------------------------------------------------------------------

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

// A fact of the post, "author: ..."; "" where there is none.
static char *fact_of(const char *facts, const char *end, const char *name) {
    size_t length = strlen(name);
    for (const char *line = facts; line < end; line = strchr(line, '\n') + 1)
        if (!strncmp(line, name, length) && line[length] == ':') {
            const char *value = line + length + 1 + strspn(line + length + 1, " ");
            return text_copy(value, strcspn(value, "\n"));
        }
    return text_copy("", 0);
}

static void write_meta(FILE *out, const char *kind, const char *name, const char *value) {
    if (!*value)
        return;
    fprintf(out, "<meta %s=\"%s\" content=\"", kind, name);
    html_text(out, value, (int)strlen(value));
    fputs("\"/>\n", out);
}

static void write_head(FILE *out, const char *facts, const char *end, const char *title, const char *url) {
    char *author = fact_of(facts, end, "author"), *description = fact_of(facts, end, "description"),
         *image = fact_of(facts, end, "image"), *date = fact_of(facts, end, "date");
    write_meta(out, "name", "author", author);
    write_meta(out, "name", "description", description);
    write_meta(out, "property", "og:type", "article");
    write_meta(out, "property", "og:title", title);
    write_meta(out, "property", "og:description", description);
    char address[4096]; // what shows a preview takes no relative one
    snprintf(address, sizeof address, "%s%s", *image && !strchr(image, ':') ? url : "", image);
    write_meta(out, "property", "og:url", url);
    write_meta(out, "property", "og:image", address);
    write_meta(out, "property", "article:published_time", date);
    write_meta(out, "name", "twitter:card", *image ? "summary_large_image" : "");
    free(author);
    free(description);
    free(image);
    free(date);
}

// "By AUTHOR, DATE", below the title.
static void add_byline(cmark_node *document, const char *facts, const char *end) {
    char *author = fact_of(facts, end, "author"), *date = fact_of(facts, end, "date"), *html = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&html, &size);
    fputs("<p class=\"byline\">", out);
    if (*author) {
        fputs("By ", out);
        html_text(out, author, (int)strlen(author));
    }
    if (*date)
        fprintf(out, "%s<time datetime=\"%s\">%s</time>", *author ? ", measured " : "", date, date);
    fputs("</p>", out);
    fclose(out);
    cmark_node *title = cmark_node_first_child(document);
    if ((*author || *date) && title)
        cmark_node_insert_after(title, new_block(html, ""));
    free(author);
    free(date);
    free(html);
}

static char *write_body(struct page *page, cmark_node *document) {
    for (cmark_node *node = cmark_node_first_child(document), *next; node; node = next) {
        // Its caption goes with a figure, and may be what follows it.
        cmark_node *before = cmark_node_previous(node);
        cmark_node_type type = cmark_node_get_type(node);
        cmark_node *image = type == CMARK_NODE_PARAGRAPH ? only_child(node, CMARK_NODE_IMAGE) : NULL;
        if (image)
            take_picture(page, node, image);
        else if (type == CMARK_NODE_CODE_BLOCK)
            take_code(node);
        else if (!strcmp(cmark_node_get_type_string(node), "table"))
            take_table(page, node);
        cmark_node *here = before ? cmark_node_next(before) : cmark_node_first_child(document);
        next = page->failed ? NULL : cmark_node_next(here);
    }
    take_headings(document);
    return cmark_render_html(document, CMARK_OPT_UNSAFE, NULL);
}

static bool write_style(const struct page_sources *sources, FILE *out) {
    char *css = text_read(sources->css);
    if (!css) {
        fprintf(stderr, "post: %s cannot be read\n", sources->css);
        return false;
    }
    fputs(css, out);
    free(css);
    return picture_colours(out, sources->palette);
}

bool page_write(const struct page_sources *sources, FILE *out) {
    char *markdown = text_read(sources->markdown), *html = text_read(sources->html);
    if (!markdown || !html) {
        fprintf(stderr, "post: %s cannot be read\n", markdown ? sources->html : sources->markdown);
        free(markdown);
        free(html);
        return false;
    }
    const char *facts = markdown, *end = markdown, *text = markdown;
    const char *close = text_after(markdown, "---\n") ? strstr(markdown + 4, "\n---\n") : NULL;
    if (close) {
        facts = markdown + 4;
        end = close + 1;
        text = close + strlen("\n---\n");
    }
    cmark_gfm_core_extensions_ensure_registered();
    struct page page = {.sources = sources, .table = cmark_find_syntax_extension("table")};
    cmark_parser *parser = cmark_parser_new(CMARK_OPT_DEFAULT);
    cmark_parser_attach_syntax_extension(parser, page.table);
    cmark_parser_feed(parser, text, strlen(text));
    cmark_node *document = cmark_parser_finish(parser);
    cmark_parser_free(parser);
    page.failed = holds_html(document);
    if (page.failed)
        fprintf(stderr, "post: %s holds raw HTML\n", sources->markdown);
    cmark_node *heading = cmark_node_first_child(document);
    char *title = heading && cmark_node_get_type(heading) == CMARK_NODE_HEADING ? node_text(heading)
                                                                                : text_copy("Attention in CUDA", 17);
    add_byline(document, facts, end);
    char *body = write_body(&page, document);
    for (const char *at = html; *at;) {
        if (text_after(at, "@title@")) {
            html_text(out, title, (int)strlen(title));
            at += strlen("@title@");
        } else if (text_after(at, "@meta@\n")) {
            write_head(out, facts, end, title, sources->url);
            at += strlen("@meta@\n");
        } else if (text_after(at, "@style@\n")) {
            page.failed |= !write_style(sources, out);
            at += strlen("@style@\n");
        } else if (text_after(at, "@body@\n")) {
            fputs(body, out);
            at += strlen("@body@\n");
        } else
            fputc(*at++, out);
    }
    cmark_node_free(document);
    free(body);
    free(title);
    free(markdown);
    free(html);
    return !page.failed;
}
