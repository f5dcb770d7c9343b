#include "checks.h"

#include "checksum.h"
#include "commands.h"
#include "files.h"
#include "process.h"

#include <string.h>
#include <time.h>

static const char path[] = ".progress/checks";

bool add_check(const char *file, const char *checksum, enum check_outcome outcome) {
    char date[32];
    time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    return append_line(path, "check\t%s\t%s\t%s\t%s", file, checksum, outcome == CHECK_PASSED ? "right" : "wrong",
                       date);
}

void read_checks(struct lines *checks) {
    lines_read(path, checks);
}

// The rest of the line after a field with this text and a tab; NULL if the field differs.
static const char *after_field(const char *line, const char *text) {
    const char *rest = line ? text_after_prefix(line, text) : NULL;
    return rest && *rest == '\t' ? rest + 1 : NULL;
}

enum check_outcome last_check_outcome(const struct lines *checks, const char *file, const char *checksum) {
    enum check_outcome last = CHECK_UNKNOWN;
    for (int i = 0; i < checks->count; i++) {
        const char *of_file = after_field(after_field(checks->line[i], "check"), file);
        const char *tab = of_file ? strchr(of_file, '\t') : NULL;
        const char *outcome = checksum ? after_field(of_file, checksum) : tab ? tab + 1 : NULL;
        if (!outcome)
            continue;
        if (after_field(outcome, "right"))
            last = CHECK_PASSED;
        else if (checksum)
            last = CHECK_FAILED;
    }
    return last;
}

// A partial check can prove a file wrong but not right. If the outcome cannot be written, the status of the check is
// returned anyway.
int teach_record(int count, char **word) {
    char checksum[CHECKSUM_TEXT];
    (void)count;
    file_checksum(word[0], checksum);
    int status = process_run((const char *const *)word + 2);
    if (status == EXIT_CHECK_FAILED)
        add_check(word[0], checksum, CHECK_FAILED);
    else if (!status && !strcmp(word[1], "whole"))
        add_check(word[0], checksum, CHECK_PASSED);
    return status;
}
