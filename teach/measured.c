#include "measured.h"

#include "csv.h"
#include "files.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FILES = 4, MOST_TERMS = 12 };

// Each file of results is read once.
static const struct csv *results(const char *path) {
    static struct {
        char path[PATH_TEXT];
        struct csv csv;
    } file[MOST_FILES];
    static int files;
    for (int i = 0; i < files; i++)
        if (!strcmp(file[i].path, path))
            return &file[i].csv;
    if (files == MOST_FILES)
        message_exit(EXIT_CHECK_FAILED, "questions look at more than %d files of results", MOST_FILES);
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

static int read_terms(const char *wanted, struct term *term) {
    int terms = 0;
    for (wanted += strspn(wanted, " "); *wanted && terms < MOST_TERMS; wanted += strspn(wanted, " ")) {
        int length = (int)strcspn(wanted, " "), name = (int)strcspn(wanted, "=~ ");
        struct term *t = &term[terms++];
        snprintf(t->column, sizeof t->column, "%.*s", name, wanted);
        snprintf(t->text, sizeof t->text, "%.*s", length > name ? length - name - 1 : 0,
                 wanted + name + (length > name));
        t->matches = wanted[name] == '~' && !regcomp(&t->expression, t->text, REG_EXTENDED | REG_NOSUB);
        wanted += length;
    }
    return terms;
}

static bool fits(const struct csv *csv, int row, const struct term *term, int terms) {
    for (int i = 0; i < terms; i++) {
        const char *text = csv_text(csv, row, term[i].column);
        if (term[i].matches ? regexec(&term[i].expression, text, 0, NULL, 0) != 0 : strcmp(text, term[i].text) != 0)
            return false;
    }
    return true;
}

bool measured(const char *folder, const char *file, const char *wanted, const char *column, char value[VALUE_TEXT],
              struct message *error) {
    char path[PATH_TEXT];
    struct term term[MOST_TERMS];
    const char *date = "", *found = "";
    snprintf(path, sizeof path, "%s/%s", folder, file);
    const struct csv *csv = results(path);
    int terms = read_terms(wanted, term);
    for (int row = 0; row < csv->rows; row++) {
        const char *made = csv_text(csv, row, "date");
        if (strcmp(made, date) < 0 || !fits(csv, row, term, terms))
            continue;
        date = made;
        found = csv_text(csv, row, column);
    }
    for (int i = 0; i < terms; i++)
        if (term[i].matches)
            regfree(&term[i].expression);
    snprintf(value, VALUE_TEXT, "%s", found);
    return *found || message_set(error, "asks for results that are not there: %s has no row with %s", path, wanted);
}

static bool number(const char *folder, const char *file, const char *wanted, const char *column, double *value,
                   struct message *error) {
    char text[VALUE_TEXT];
    if (!measured(folder, file, wanted, column, text, error))
        return false;
    *value = strtod(text, NULL);
    return true;
}

// Bytes that went to and from device memory in the time of the bench, of what its peak allows.
static bool device_memory(const char *folder, const char *where, double *percent, struct message *error) {
    char timed[200], read[200], written[200];
    double us, loaded, stored, peak;
    snprintf(timed, sizeof timed, "%s cache~^(cold)?$", where);
    snprintf(read, sizeof read, "%s metric=dram__bytes_read.sum", where);
    snprintf(written, sizeof written, "%s metric=dram__bytes_write.sum", where);
    if (!number(folder, "attention.csv", timed, "median_us", &us, error) ||
        !number(folder, "profile.csv", read, "value", &loaded, error) ||
        !number(folder, "profile.csv", written, "value", &stored, error) ||
        !number(folder, "attention.csv", where, "peak_gb_per_s", &peak, error))
        return false;
    if (us <= 0 || peak <= 0)
        return message_set(error, "asks for results that are not there: a time or a peak of %s is 0", folder);
    *percent = 100 * (loaded + stored) / us / 1000 / peak;
    return true;
}

bool measured_busy(const char *folder, const char *lesson, int head_dim, const char *part, double *percent,
                   struct message *error) {
    static const struct {
        const char *part, *metric;
    } parts[] = {
        {"L2", "^lts__throughput[.]avg[.]pct"},
        {"shared memory", "^l1tex__data_pipe_lsu_wavefronts_mem_shared[.]avg[.]pct"},
        {"issue slots", "^smsp__issue_active[.]avg[.]pct"},
        {"FMA", "^sm__inst_executed_pipe_fma[.]avg[.]pct"},
        {"tensor cores", "^sm__pipe_tensor_cycles_active[.]avg[.]pct"},
        {"exponentials and conversions", "^sm__inst_executed_pipe_xu[.]avg[.]pct"},
    };
    char where[120], wanted[200];
    snprintf(where, sizeof where, "lesson=%.40s B=1 H=16 Nq=4096 Nk=4096 D=%d causal=0", lesson, head_dim);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (strcmp(part, parts[i].part))
            continue;
        snprintf(wanted, sizeof wanted, "%s metric~%s", where, parts[i].metric);
        return number(folder, "profile.csv", wanted, "value", percent, error);
    }
    if (strcmp(part, "device memory"))
        return message_set(error, "asks for a part '%.60s' of the GPU, which there is not", part);
    return device_memory(folder, where, percent, error);
}
