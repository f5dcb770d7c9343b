// FOLDER/hints: a line "== FILE N" begins the hints for blank N of FILE, "== whole" the hints for a lesson without open
// blanks; "--" separates two hints; # begins a comment. .progress/hints/LESSON has a line for each hint that was shown:
// FILE N, or whole.
#include "commands.h"

#include "blanks.h"
#include "files.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_TEXT = 280 };

static int count_shown(const struct lines *shown, const char *key) {
    int count = 0;
    for (int i = 0; i < shown->count; i++)
        count += !strcmp(shown->line[i], key);
    return count;
}

// Prints hint number `wanted` of a key, from 1, or none for 0. Returns the number of hints of the key.
static int print_hint(const struct lines *hints, const char *key, int wanted) {
    int count = 0, empty = 0; // empty: lines that are printed only if another line of the hint follows
    bool inside = false;
    for (int i = 0; i < hints->count; i++) {
        const char *line = hints->line[i], *section = text_after_prefix(line, "== ");
        if (*line == '#')
            continue;
        if (section)
            inside = !strcmp(section, key);
        if (inside && (section || !strcmp(line, "--"))) {
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

// Prints all hints that were shown, in the order of the file.
static int print_shown(const char *lesson, const struct lines *hints, const struct lines *shown) {
    if (!shown->count)
        printf("No hint of %s has been shown yet; make %s hint shows the first one.\n", lesson, lesson);
    for (int i = 0; i < hints->count; i++) {
        const char *key = text_after_prefix(hints->line[i], "== ");
        if (!key)
            continue;
        int last = count_shown(shown, key), count = print_hint(hints, key, 0);
        const char *number = strrchr(key, ' ');
        for (int n = 1; n <= last && n <= count; n++) {
            if (number)
                printf("TODO %s of %.*s, hint %d:\n", number + 1, (int)(number - key), key, n);
            else
                printf("%s, hint %d:\n", key, n);
            print_hint(hints, key, n);
            putchar('\n');
        }
    }
    return 0;
}

// The blank that BLANK=FILE:N or BLANK=N names. N alone is a blank of the first file with open blanks, or of the last
// file if none is open. NULL if there is no such blank.
static const struct listed_blank *find_blank(const struct blank_list *list, const char *wanted) {
    const char *colon = strrchr(wanted, ':'), *number = colon ? colon + 1 : wanted;
    const struct listed_blank *open = first_open_blank(list);
    const char *file = open ? open->file : list->count ? list->blank[list->count - 1].file : "";
    char name[KEY_TEXT], text[16];
    snprintf(name, sizeof name, "%.*s", colon ? (int)(colon - wanted) : KEY_TEXT, colon ? wanted : base_name(file));
    for (int i = 0; i < list->count; i++) {
        snprintf(text, sizeof text, "%d", list->blank[i].number);
        if (!strcmp(base_name(list->blank[i].file), base_name(name)) && !strcmp(text, number))
            return &list->blank[i];
    }
    return NULL;
}

_Noreturn static void refuse_blank(const char *lesson, const char *wanted, const struct blank_list *list) {
    char *all = NULL;
    size_t size;
    FILE *out = open_memstream(&all, &size);
    for (int i = 0; i < list->count; i++)
        fprintf(out, "%s %s:%d", i ? "," : "", base_name(list->blank[i].file), list->blank[i].number);
    fclose(out);
    message_exit(EXIT_BAD_INPUT, "%s has no blank BLANK=%s; its blanks are%s [no-such-blank]", lesson, wanted, all);
}

static int print_next(const char *lesson, const char *path, const struct listed_blank *blank, const char *hints_path,
                      const struct lines *hints, const struct lines *shown) {
    char key[KEY_TEXT] = "whole", about[PATH_TEXT];
    snprintf(about, sizeof about, "No blank of %s is open", lesson);
    if (blank) {
        snprintf(key, sizeof key, "%.250s %d", base_name(blank->file), blank->number);
        snprintf(about, sizeof about, "%s:%d: TODO %d", blank->file, blank->line, blank->number);
    }
    int total = print_hint(hints, key, 0), before = count_shown(shown, key), left = total - before - 1;
    if (left < 0) {
        printf("%s: all %d hints have been shown; AGAIN=1 repeats them, make %s diff shows the solution.\n", about,
               total, lesson);
        if (!blank)
            printf("BLANK=n shows the hints for a filled blank.\n");
        return 0;
    }
    const bool recorded = append_line(path, "%s", key);
    printf("%s, hint %d of %d\n\n", about, before + 1, total);
    print_hint(hints, key, before + 1);
    // In a checkout of someone else's a hint is shown all the same.
    if (!recorded)
        printf("\n%s cannot be written: the next call shows this hint again; all are in %s [not-recorded]\n", path,
               hints_path);
    else if (left)
        printf("\n%d more; AGAIN=1 repeats the hints so far.\n", left);
    else
        printf("\nThis was the last hint.\n");
    return 0;
}

int teach_hint(int count, char **word) {
    static struct blank_list list;
    const char *lesson = word[0], *again = getenv("AGAIN"), *wanted = getenv("BLANK");
    const struct listed_blank *blank;
    struct lines hints, shown;
    char path[PATH_TEXT], hints_path[PATH_TEXT];
    snprintf(hints_path, sizeof hints_path, "%s/hints", word[1]);
    if (!lines_read(hints_path, &hints))
        message_exit(EXIT_BAD_INPUT, "%s is missing; restore it with: git checkout %s [missing-file]", hints_path,
                     hints_path);
    snprintf(path, sizeof path, ".progress/hints/%s", lesson);
    lines_read(path, &shown);
    if (again && *again && strcmp(again, "0"))
        return print_shown(lesson, &hints, &shown);
    for (int i = 2; i < count; i++)
        if (!blank_list_add(&list, word[i]))
            message_exit(EXIT_BAD_INPUT, "%s is missing; restore it with: make %s reset [missing-file]", word[i],
                         lesson);
    blank = first_open_blank(&list);
    if (wanted && *wanted && !(blank = find_blank(&list, wanted)))
        refuse_blank(lesson, wanted, &list);
    return print_next(lesson, path, blank, hints_path, &hints, &shown);
}
