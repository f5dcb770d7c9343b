#include "blanks.h"

#include "commands.h"
#include "host/blanks.h"
#include "text.h"

bool blank_list_add(struct blank_list *list, const char *file) {
    struct lines lines;
    struct blank_reader reader = {0};
    struct listed_blank blank = {.file = file};
    if (!lines_read(file, &lines))
        return false;
    for (int i = 0; i < lines.count && list->count < MAX_BLANKS; i++) {
        enum blank_line kind = blank_read(&reader, lines.line[i]);
        if (kind == BLANK_BEGIN) {
            blank.number = reader.number;
            blank.line = reader.line;
            snprintf(blank.text, sizeof blank.text, "%s", reader.words);
        } else if (kind == BLANK_END && reader.begun) {
            blank.open = !reader.filled;
            list->blank[list->count++] = blank;
        }
    }
    lines_free(&lines);
    return true;
}

const struct listed_blank *first_open_blank(const struct blank_list *list) {
    for (int i = 0; i < list->count; i++)
        if (list->blank[i].open)
            return &list->blank[i];
    return NULL;
}

int teach_blanks(int count, char **word) {
    int status = 0;
    for (int i = 0; i < count; i++) {
        struct blank_list list = {.count = 0};
        if (!blank_list_add(&list, word[i])) {
            fprintf(stderr, "%s cannot be read [cannot-read]\n", word[i]);
            status = EXIT_BAD_INPUT;
        }
        for (int j = 0; j < list.count; j++) {
            const struct listed_blank *b = &list.blank[j];
            printf("%s\t%d\t%d\t%s\t%s\n", b->file, b->number, b->line, b->open ? "open" : "filled", b->text);
        }
    }
    return status;
}
