#include "host/results.h"

#include "host/results_csv.h"
#include "operation.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { CELL_TEXT = 160 };

const struct results_file results_ceilings = {
    "ceilings.csv", "run,device,sm_count,driver,cuda,what,unit,median,min,max,repeats,sm_clock_before_mhz,"
                    "sm_clock_after_mhz,date,commit"};

struct results_file results_file_of(const struct operation *operation) {
    return (struct results_file){operation->file, operation->columns};
}

void results_start(struct results_run *run) {
    struct timespec now;
    struct tm utc;
    char stamp[20];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(run->date, sizeof run->date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%S", &utc);
    snprintf(run->run, sizeof run->run, "%s-%ld-%d", stamp, now.tv_nsec / 1000, (int)getpid());
}

void results_slug(const char *device, char *slug, size_t size) {
    size_t i = 0;
    for (; device[i] && i + 1 < size; i++)
        slug[i] = (char)(isalnum((unsigned char)device[i]) ? tolower((unsigned char)device[i]) : '-');
    slug[i] = 0;
}

// A name with the characters that CSV gives a meaning replaced.
static const char *field(const char *text, char copy[CELL_TEXT]) {
    snprintf(copy, CELL_TEXT, "%s", text);
    for (char *c = copy; *c; c++)
        if (*c == ',' || *c == '"' || iscntrl((unsigned char)*c))
            *c = '-';
    return copy;
}

// One value of a row: its column's name, and how it is written.
struct cell {
    const char *name;
    char text[CELL_TEXT];
};

struct cells {
    struct cell cell[40];
    int count;
};

__attribute__((format(printf, 3, 4))) static void append(struct cells *cells, const char *name, const char *format,
                                                         ...) {
    struct cell *cell = &cells->cell[cells->count++];
    va_list arguments;
    cell->name = name;
    va_start(arguments, format);
    vsnprintf(cell->text, sizeof cell->text, format, arguments);
    va_end(arguments);
}

static void append_run(struct cells *cells, const struct results_run *run) {
    char device[CELL_TEXT];
    append(cells, "run", "%s", run->run);
    append(cells, "device", "%s", field(run->device, device));
    append(cells, "sm_count", "%d", run->sm_count);
    append(cells, "driver", "%s", run->driver);
    append(cells, "cuda", "%s", run->cuda);
    append(cells, "date", "%s", run->date);
    append(cells, "commit", "%s", run->commit);
}

static void append_timing(struct cells *cells, const struct results_timing *t) {
    append(cells, "repeats", "%d", t->repeats);
    append(cells, "sm_clock_before_mhz", "%u", t->sm_clock_before_mhz);
    append(cells, "sm_clock_after_mhz", "%u", t->sm_clock_after_mhz);
}

static void append_row(struct cells *cells, const struct results_row *row) {
    const struct results_timing *t = row->timing;
    double seconds = t->median_us * 1e-6, bytes = row->operation->bytes(row->which);
    char lesson[CELL_TEXT];
    append(cells, "lesson", "%s", field(row->lesson, lesson));
    append(cells, "dtype", "%s", dtype_of(row->which->dtype)->name);
    append(cells, "median_us", "%.3f", t->median_us);
    append(cells, "min_us", "%.3f", t->min_us);
    append(cells, "p95_us", "%.3f", t->p95_us);
    append(cells, "tflops", "%.4f", row->operation->flops(row->which) / seconds * 1e-12);
    append(cells, "bytes", "%.0f", bytes);
    append(cells, "gb_per_s", "%.2f", bytes / seconds * 1e-9);
    append(cells, "rel_rms_error", "%.3e", row->error);
    append(cells, "max_rel_error", "%.3e", row->error);
    append(cells, "peak_tflops", "%.2f", row->peak_tflops);
    append(cells, "peak_gb_per_s", "%.1f", row->peak_gb_per_s);
    append(cells, "copy_gb_per_s", "%.1f", row->copy_gb_per_s);
    append(cells, "cache", "%s", t->warm ? "warm" : "cold");
    append(cells, "noise", "%s", t->noisy ? "noisy" : "steady");
    append(cells, "lse", "%d", row->lse);
}

__attribute__((format(printf, 2, 3))) static void add(struct results_rows *rows, const char *format, ...) {
    enum { LONGEST_CELL = CELL_TEXT + 2 };
    va_list arguments;
    if (rows->capacity < rows->length + LONGEST_CELL) {
        rows->capacity = 2 * rows->capacity + 1024;
        rows->text = realloc(rows->text, rows->capacity);
        if (!rows->text)
            message_exit(EXIT_CHECK_FAILED, "out of memory");
    }
    va_start(arguments, format);
    rows->length += (size_t)vsnprintf(rows->text + rows->length, LONGEST_CELL, format, arguments);
    va_end(arguments);
}

// A row in the order of the columns. What stands behind a '=' in their list is not part of a name.
static void add_row(struct results_rows *rows, const char *columns, const struct cells *cells,
                    const struct results_row *row) {
    for (const char *at = columns; *at;) {
        char name[64], text[CELL_TEXT] = "";
        size_t column = strcspn(at, ","), length = strcspn(at, ",=");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        int i = 0;
        while (i < cells->count && strcmp(cells->cell[i].name, name))
            i++;
        if (i < cells->count)
            snprintf(text, sizeof text, "%s", cells->cell[i].text);
        else if (!row || !row->operation->column(row->which, name, text, sizeof text))
            message_exit(EXIT_CHECK_FAILED, "the results have an unknown column %s", name);
        at += column + (at[column] == ',');
        add(rows, "%s%c", text, *at ? ',' : '\n');
    }
}

void results_add(struct results_rows *rows, const struct results_run *run, const struct results_row *row) {
    struct cells cells = {.count = 0};
    append_run(&cells, run);
    append_timing(&cells, row->timing);
    append_row(&cells, row);
    add_row(rows, row->operation->columns, &cells, row);
}

void results_add_ceiling(struct results_rows *rows, const struct results_run *run, const char *what, const char *unit,
                         double amount, const struct results_timing *timing) {
    struct cells cells = {.count = 0};
    append_run(&cells, run);
    append_timing(&cells, timing);
    append(&cells, "what", "%s", what);
    append(&cells, "unit", "%s", unit);
    append(&cells, "median", "%.3f", amount / timing->median_us);
    append(&cells, "min", "%.3f", amount / timing->max_us);
    append(&cells, "max", "%.3f", amount / timing->min_us);
    add_row(rows, results_ceilings.columns, &cells, NULL);
}

void results_path(const struct results_run *run, struct results_file file, char *path, size_t size) {
    char slug[128];
    results_slug(run->device, slug, sizeof slug);
    snprintf(path, size, "%s/%s/%s", run->folder, slug, file.name);
}

// Whether a file can be written, or made in the folder nearest to it that is there.
static bool writable(const char *path, struct message *error) {
    char folder[PATH_MAX];
    char *slash = folder + snprintf(folder, sizeof folder, "%s", path);
    while (access(*folder ? folder : "/", F_OK) && (slash = strrchr(folder, '/')))
        *slash = 0;
    const char *found = slash ? *folder ? folder : "/" : ".";
    return !access(found, W_OK) ||
           message_set(error, "%s cannot be written, as %s: %s; RESULTS=folder selects another folder", path, found,
                       strerror(errno));
}

// Whose rows a file has.
struct owner {
    char device[CELL_TEXT], sm_count[16];
};

static struct owner owner_of(const struct results_run *run) {
    struct owner owner;
    field(run->device, owner.device);
    snprintf(owner.sm_count, sizeof owner.sm_count, "%d", run->sm_count);
    return owner;
}

bool results_ready(const struct results_run *run, struct results_file file, struct message *error) {
    char path[PATH_MAX];
    struct owner owner = owner_of(run);
    if (!run->folder)
        return true;
    results_path(run, file, path, sizeof path);
    return results_csv_check(path, file.columns, owner.device, owner.sm_count, error) && writable(path, error);
}

bool results_write(const struct results_run *run, struct results_file file, struct results_rows *rows,
                   struct message *error) {
    char path[PATH_MAX];
    struct owner owner = owner_of(run);
    bool good = true;
    if (run->folder && rows->length) {
        results_path(run, file, path, sizeof path);
        char *slash = strrchr(path, '/');
        *slash = 0;
        if ((mkdir(run->folder, 0777) && errno != EEXIST) || (mkdir(path, 0777) && errno != EEXIST))
            good = message_set(error, "%s cannot be made: %s", path, strerror(errno));
        *slash = '/';
        good = good && results_csv_append(path, file.columns, owner.device, owner.sm_count, rows->text, error);
    }
    free(rows->text);
    *rows = (struct results_rows){0};
    return good;
}

int results_count(const struct results_run *run, const struct operation *operation, const struct problem_case *which) {
    enum { MOST = 16, NAME = 64 };
    char path[PATH_MAX], name[MOST][NAME], value[MOST][CELL_TEXT];
    int count = 0;
    if (!run->folder)
        return 0;
    results_path(run, results_file_of(operation), path, sizeof path);
    snprintf(name[count], NAME, "run");
    snprintf(value[count++], CELL_TEXT, "%s", run->run);
    snprintf(name[count], NAME, "dtype");
    snprintf(value[count++], CELL_TEXT, "%s", dtype_of(which->dtype)->name);
    for (const char *at = operation->columns; *at && count < MOST;) {
        size_t column = strcspn(at, ","), length = strcspn(at, ",=");
        snprintf(name[count], NAME, "%.*s", (int)length, at);
        count += operation->column(which, name[count], value[count], CELL_TEXT);
        at += column + (at[column] == ',');
    }
    return results_csv_count(path, operation->columns, count, name[0], NAME, value[0], CELL_TEXT);
}

int results_count_ceilings(const struct results_run *run, const char *what) {
    enum { NAME = 64 };
    char path[PATH_MAX], name[2][NAME] = {"run", "what"}, value[2][CELL_TEXT];
    if (!run->folder)
        return 0;
    results_path(run, results_ceilings, path, sizeof path);
    snprintf(value[0], CELL_TEXT, "%s", run->run);
    snprintf(value[1], CELL_TEXT, "%s", what);
    return results_csv_count(path, results_ceilings.columns, 2, name[0], NAME, value[0], CELL_TEXT);
}
