#include "checks.h"

#include "commands.h"
#include "files.h"
#include "process.h"
#include "stamp.h"

#include <string.h>
#include <time.h>

static const char path[] = ".progress/checks";

bool checks_add(const char *file, const char *stamp, enum check_outcome outcome) {
    char date[32];
    time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    return files_append(path, "check\t%s\t%s\t%s\t%s", file, stamp, outcome == CHECK_RIGHT ? "right" : "wrong", date);
}

void checks_read(struct lines *checks) {
    lines_read(path, checks);
}

// Where the line goes on behind a field with this text and a tab; NULL where the field is another.
static const char *behind(const char *line, const char *text) {
    const char *rest = line ? text_after(line, text) : NULL;
    return rest && *rest == '\t' ? rest + 1 : NULL;
}

enum check_outcome checks_of(const struct lines *checks, const char *file, const char *stamp) {
    enum check_outcome last = CHECK_UNKNOWN;
    for (int i = 0; i < checks->count; i++) {
        const char *of_file = behind(behind(checks->line[i], "check"), file);
        const char *tab = of_file ? strchr(of_file, '\t') : NULL;
        const char *outcome = stamp ? behind(of_file, stamp) : tab ? tab + 1 : NULL;
        if (!outcome)
            continue;
        if (behind(outcome, "right"))
            last = CHECK_RIGHT;
        else if (stamp)
            last = CHECK_WRONG;
    }
    return last;
}

// A part of the check can show that the file is wrong, and not that it is right. A check that ran is no failure because
// nothing can be written here.
int teach_record(int count, char **word) {
    char stamp[STAMP_TEXT];
    (void)count;
    stamp_of(word[0], stamp);
    int status = process_run((const char *const *)word + 2);
    if (status == EXIT_CHECK_FAILED)
        checks_add(word[0], stamp, CHECK_WRONG);
    else if (!status && !strcmp(word[1], "whole"))
        checks_add(word[0], stamp, CHECK_RIGHT);
    return status;
}
