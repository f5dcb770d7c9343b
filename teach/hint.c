// In FOLDER/hints a line "== FILE N" begins the hints for blank N of FILE, "== whole" those for when no blank is open;
// "--" stands between two hints, # begins a comment. .progress/hints/LESSON has a line for each hint that was shown,
// FILE N or whole.
#include "commands.h"

#include "blanks.h"
#include "files.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_TEXT = 280 };

static int shown_of(const struct lines *shown, const char *key) {
    int count = 0;
    for (int i = 0; i < shown->count; i++)
        count += !strcmp(shown->line[i], key);
    return count;
}

// Goes through the hints of a key: prints number `wanted`, from 1, and returns how many there are.
static int hints_of(const struct lines *hints, const char *key, int wanted) {
    int count = 0, empty = 0; // lines above that stand between two of the hint, or end it
    bool inside = false;
    for (int i = 0; i < hints->count; i++) {
        const char *line = hints->line[i], *begun = text_after(line, "== ");
        if (*line == '#')
            continue;
        if (begun)
            inside = !strcmp(begun, key);
        if (inside && (begun || !strcmp(line, "--"))) {
            count++;
            empty = 0;
        } else if (inside && count == wanted && *line) {
            for (; empty; empty--)
                putchar('\n');
            puts(line);
        } else {
            empty++;
        }
    }
    return count;
}

// All hints that were shown, in the order of the file.
static int show_again(const char *lesson, const struct lines *hints, const struct lines *shown) {
    if (!shown->count)
        printf("No hint of %s was shown yet; make %s hint shows the first.\n", lesson, lesson);
    for (int i = 0; i < hints->count; i++) {
        const char *key = text_after(hints->line[i], "== ");
        if (!key)
            continue;
        int last = shown_of(shown, key), count = hints_of(hints, key, 0);
        const char *number = strrchr(key, ' ');
        for (int n = 1; n <= last && n <= count; n++) {
            if (number)
                printf("TODO %s of %.*s, hint %d:\n", number + 1, (int)(number - key), key, n);
            else
                printf("%s, hint %d:\n", key, n);
            hints_of(hints, key, n);
            putchar('\n');
        }
    }
    return 0;
}

// Of several files the one with open blanks is meant, else the last.
static const struct listed_blank *choose(const struct blank_list *list, const char *wanted) {
    const char *colon = strrchr(wanted, ':'), *number = colon ? colon + 1 : wanted;
    const struct listed_blank *open = blank_list_open(list);
    const char *file = open ? open->file : list->count ? list->blank[list->count - 1].file : "";
    char name[KEY_TEXT], text[16];
    snprintf(name, sizeof name, "%.*s", colon ? (int)(colon - wanted) : KEY_TEXT, colon ? wanted : text_base(file));
    for (int i = 0; i < list->count; i++) {
        snprintf(text, sizeof text, "%d", list->blank[i].number);
        if (!strcmp(text_base(list->blank[i].file), text_base(name)) && !strcmp(text, number))
            return &list->blank[i];
    }
    return NULL;
}

_Noreturn static void no_such_blank(const char *lesson, const char *wanted, const struct blank_list *list) {
    char *all = NULL;
    size_t size;
    FILE *out = open_memstream(&all, &size);
    for (int i = 0; i < list->count; i++)
        fprintf(out, "%s %s:%d", i ? "," : "", text_base(list->blank[i].file), list->blank[i].number);
    fclose(out);
    message_exit(EXIT_BAD_INPUT, "BLANK=%s is no blank of %s; there are%s", wanted, lesson, all);
}

static int show_next(const char *lesson, const char *path, const struct listed_blank *blank, const struct lines *hints,
                     const struct lines *shown) {
    char key[KEY_TEXT] = "whole", about[PATH_TEXT];
    snprintf(about, sizeof about, "No blank of %s is open", lesson);
    if (blank) {
        snprintf(key, sizeof key, "%.250s %d", text_base(blank->file), blank->number);
        snprintf(about, sizeof about, "%s:%d: TODO %d", blank->file, blank->line, blank->number);
    }
    int total = hints_of(hints, key, 0), before = shown_of(shown, key), left = total - before - 1;
    if (left < 0) {
        printf("%s: all %d hints were shown; AGAIN=1 shows them once more, make %s diff the solution.\n", about, total,
               lesson);
        if (!blank)
            printf("BLANK=n gives the hints for a blank that is filled.\n");
        return 0;
    }
    if (!files_append(path, "%s", key))
        message_exit(EXIT_BAD_INPUT, "cannot write %s, where hints that were shown are remembered", path);
    printf("%s, hint %d of %d\n\n", about, before + 1, total);
    hints_of(hints, key, before + 1);
    if (left)
        printf("\n%d more for this; AGAIN=1 shows all so far.\n", left);
    else
        printf("\nThat was the last one for this.\n");
    return 0;
}

int teach_hint(int count, char **word) {
    static struct blank_list list;
    const char *lesson = word[0], *again = getenv("AGAIN"), *wanted = getenv("BLANK");
    const struct listed_blank *blank;
    struct lines hints, shown;
    char path[PATH_TEXT];
    snprintf(path, sizeof path, "%s/hints", word[1]);
    if (!lines_read(path, &hints))
        message_exit(EXIT_BAD_INPUT, "%s is missing; it comes back with: git checkout %s", path, path);
    snprintf(path, sizeof path, ".progress/hints/%s", lesson);
    lines_read(path, &shown);
    if (again && *again && strcmp(again, "0"))
        return show_again(lesson, &hints, &shown);
    for (int i = 2; i < count; i++)
        if (!blank_list_add(&list, word[i]))
            message_exit(EXIT_BAD_INPUT, "%s is missing; make %s reset writes it", word[i], lesson);
    blank = blank_list_open(&list);
    if (wanted && *wanted && !(blank = choose(&list, wanted)))
        no_such_blank(lesson, wanted, &list);
    return show_next(lesson, path, blank, &hints, &shown);
}
