#include "results.h"

#include "csv.h"
#include "files.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILES = 4, MAX_TERMS = 12 };

// Reads each file of results once.
static const struct csv *results_file(const char *path) {
    static struct {
        char path[PATH_TEXT];
        struct csv csv;
    } file[MAX_FILES];
    static int files;
    for (int i = 0; i < files; i++)
        if (!strcmp(file[i].path, path))
            return &file[i].csv;
    if (files == MAX_FILES)
        message_exit(EXIT_CHECK_FAILED, "questions read more than %d files of results", MAX_FILES);
    snprintf(file[files].path, PATH_TEXT, "%s", path);
    csv_read(path, &file[files].csv);
    return &file[files++].csv;
}

struct term {
    char column[64];
    bool matches;
    char text[128];
    regex_t expression;
};

static int parse_terms(const char *condition, struct term *term) {
    int terms = 0;
    for (condition += strspn(condition, " "); *condition && terms < MAX_TERMS; condition += strspn(condition, " ")) {
        int length = (int)strcspn(condition, " "), name = (int)strcspn(condition, "=~ ");
        struct term *t = &term[terms++];
        snprintf(t->column, sizeof t->column, "%.*s", name, condition);
        snprintf(t->text, sizeof t->text, "%.*s", length > name ? length - name - 1 : 0,
                 condition + name + (length > name));
        t->matches = condition[name] == '~' && !regcomp(&t->expression, t->text, REG_EXTENDED | REG_NOSUB);
        condition += length;
    }
    return terms;
}

static bool row_matches(const struct csv *csv, int row, const struct term *term, int terms) {
    for (int i = 0; i < terms; i++) {
        const char *text = csv_text(csv, row, term[i].column);
        if (term[i].matches ? regexec(&term[i].expression, text, 0, NULL, 0) != 0 : strcmp(text, term[i].text) != 0)
            return false;
    }
    return true;
}

bool results_value(const char *folder, const char *file, const char *condition, const char *column,
                   char value[VALUE_TEXT], struct message *error) {
    char path[PATH_TEXT];
    struct term term[MAX_TERMS];
    const char *date = "", *found = "";
    snprintf(path, sizeof path, "%s/%s", folder, file);
    const struct csv *csv = results_file(path);
    int terms = parse_terms(condition, term);
    for (int row = 0; row < csv->rows; row++) {
        const char *made = csv_text(csv, row, "date");
        if (strcmp(made, date) < 0 || !row_matches(csv, row, term, terms))
            continue;
        date = made;
        found = csv_text(csv, row, column);
    }
    for (int i = 0; i < terms; i++)
        if (term[i].matches)
            regfree(&term[i].expression);
    snprintf(value, VALUE_TEXT, "%s", found);
    return *found ||
           message_set(error, "needs results that do not exist: %s has no row with %s [no-results]", path, condition);
}

static bool results_number(const char *folder, const char *file, const char *condition, const char *column,
                           double *value, struct message *error) {
    char text[VALUE_TEXT];
    if (!results_value(folder, file, condition, column, text, error))
        return false;
    *value = strtod(text, NULL);
    return true;
}

// Bytes to and from device memory (profiled) / time (bench) as a percentage of the peak bandwidth.
static bool dram_utilization(const char *folder, const char *where, double *percent, struct message *error) {
    char timed[200], read[200], written[200];
    double us, loaded, stored, peak;
    snprintf(timed, sizeof timed, "%s cache~^(cold)?$", where);
    snprintf(read, sizeof read, "%s metric=dram__bytes_read.sum", where);
    snprintf(written, sizeof written, "%s metric=dram__bytes_write.sum", where);
    if (!results_number(folder, "attention.csv", timed, "median_us", &us, error) ||
        !results_number(folder, "profile.csv", read, "value", &loaded, error) ||
        !results_number(folder, "profile.csv", written, "value", &stored, error) ||
        !results_number(folder, "attention.csv", where, "peak_gb_per_s", &peak, error))
        return false;
    if (us <= 0 || peak <= 0)
        return message_set(error, "needs results that do not exist: a time or a peak in %s is 0 [no-results]", folder);
    *percent = 100 * (loaded + stored) / us / 1000 / peak;
    return true;
}

bool read_utilization(const char *folder, const char *lesson, int head_dim, const char *unit, double *percent,
                      struct message *error) {
    static const struct {
        const char *unit, *metric;
    } units[] = {
        {"L2", "^lts__throughput[.]avg[.]pct"},
        {"shared memory", "^l1tex__data_pipe_lsu_wavefronts_mem_shared[.]avg[.]pct"},
        {"issue slots", "^smsp__issue_active[.]avg[.]pct"},
        {"FMA", "^sm__inst_executed_pipe_fma[.]avg[.]pct"},
        {"tensor cores", "^sm__pipe_tensor_cycles_active[.]avg[.]pct"},
        {"exponentials and conversions", "^sm__inst_executed_pipe_xu[.]avg[.]pct"},
    };
    char where[120], condition[200];
    snprintf(where, sizeof where, "lesson=%.40s B=1 H=16 Nq=4096 Nk=4096 D=%d causal=0", lesson, head_dim);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(unit, units[i].unit))
            continue;
        snprintf(condition, sizeof condition, "%s metric~%s", where, units[i].metric);
        return results_number(folder, "profile.csv", condition, "value", percent, error);
    }
    if (strcmp(unit, "device memory"))
        return message_set(error, "needs the utilization of '%.60s', which is not a known unit [unknown-unit]", unit);
    return dram_utilization(folder, where, percent, error);
}
