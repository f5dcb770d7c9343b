// SQL functions that format numbers and table rows, for sqlite3's `.load build/sql_text`. They return NULL for NULL.
//     three_digits(x)        0.123, 1.23, 12.3, 123, 1235
//     whole(x)               123
//     rounded(x, digits)     digits decimal places
//     percent(part, total)   57 %; NULL if total is 0
//     ratio(x)               1.05×, 1.1×, 100×
//     short_ratio(x)         1.1×, 1.1×, 100×
//     times(x, is_noisy)     1.05×, or 1.05×, noisy
//     duration(us)           12.3 µs or 1.23 ms, with a no-break space
//     table_row(cell, ...)   | cell | ... |; a NULL is written as -; one argument may hold several cells, separated by
//     " | " table_head(cell, ...)  a row and the separator line; a cell that begins with > is right-aligned
#include <math.h>
#include <sqlite3ext.h>
#include <stdio.h>
#include <string.h>
SQLITE_EXTENSION_INIT1

// A number has one decimal place for each element of `below` that exceeds it.
struct function {
    const char *name;
    int arguments;
    void (*function)(sqlite3_context *, int, sqlite3_value **);
    double below[3];
    const char *unit;
};

// Rounds half up; the factor compensates for decimal fractions whose nearest double is smaller.
static void return_number(sqlite3_context *context, double x, int digits, const char *unit) {
    char text[400];
    snprintf(text, sizeof text, "%.*f%s", digits, 1.0000000001 * x, unit);
    sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

static void number(sqlite3_context *context, int count, sqlite3_value **argument) {
    const struct function *f = sqlite3_user_data(context);
    double x = sqlite3_value_double(argument[0]);
    if (count > 1)
        x = 100 * x / sqlite3_value_double(argument[1]);
    if (sqlite3_value_type(argument[0]) != SQLITE_NULL && isfinite(x))
        return_number(context, x, (x < f->below[0]) + (x < f->below[1]) + (x < f->below[2]), f->unit);
}

static void rounded(sqlite3_context *context, int count, sqlite3_value **argument) {
    if (sqlite3_value_type(argument[0]) != SQLITE_NULL)
        return_number(context, sqlite3_value_double(argument[0]), sqlite3_value_int(argument[count - 1]), "");
}

static void times(sqlite3_context *context, int count, sqlite3_value **argument) {
    const char *noisy = sqlite3_value_int(argument[count - 1]) ? ", noisy" : "";
    if (sqlite3_value_type(argument[0]) != SQLITE_NULL)
        sqlite3_result_text(context, sqlite3_mprintf("%.2f×%s", sqlite3_value_double(argument[0]), noisy), -1,
                            sqlite3_free);
}

static void duration(sqlite3_context *context, int count, sqlite3_value **argument) {
    double us = sqlite3_value_double(argument[count - 1]), x = us < 999.5 ? us : us / 1000;
    if (sqlite3_value_type(argument[0]) != SQLITE_NULL)
        return_number(context, x, (x < 1) + (x < 10) + (x < 100), us < 999.5 ? "\u00a0µs" : "\u00a0ms");
}

static char *make_row(int count, sqlite3_value **argument) {
    sqlite3_str *row = sqlite3_str_new(NULL);
    for (int i = 0; i < count; i++) {
        const char *cell = (const char *)sqlite3_value_text(argument[i]);
        sqlite3_str_appendf(row, "| %s ", cell ? cell : "-");
    }
    sqlite3_str_appendall(row, "|");
    return sqlite3_str_finish(row);
}

static void table_row(sqlite3_context *context, int count, sqlite3_value **argument) {
    sqlite3_result_text(context, make_row(count, argument), -1, sqlite3_free);
}

static void table_head(sqlite3_context *context, int count, sqlite3_value **argument) {
    char *row = make_row(count, argument);
    sqlite3_str *head = sqlite3_str_new(NULL), *line = sqlite3_str_new(NULL);
    for (const char *c = row; *c; c++) {
        int right_aligned = !strncmp(c, "| >", 3);
        if (*c == '|')
            sqlite3_str_appendall(line, !c[1] ? "|" : right_aligned ? "|--:" : "|---");
        sqlite3_str_append(head, c, 1 + right_aligned);
        c += 2 * right_aligned;
    }
    sqlite3_free(row);
    row = sqlite3_str_finish(line);
    sqlite3_str_appendf(head, "\n%s", row);
    sqlite3_free(row);
    sqlite3_result_text(context, sqlite3_str_finish(head), -1, sqlite3_free);
}

static const struct function functions[] = {
    {"three_digits", 1, number, {1, 10, 100}, ""},
    {"whole", 1, number, {0}, ""},
    {"percent", 2, number, {0}, " %"},
    {"ratio", 1, number, {1.095, 99.95}, "×"},
    {"short_ratio", 1, number, {99.95}, "×"},
    {"rounded", 2, rounded, {0}, ""},
    {"times", 2, times, {0}, ""},
    {"duration", 1, duration, {0}, ""},
    {"table_row", -1, table_row, {0}, ""},
    {"table_head", -1, table_head, {0}, ""},
    {NULL, 0, NULL, {0}, ""},
};

int sqlite3_extension_init(sqlite3 *database, char **error, const sqlite3_api_routines *api) {
    SQLITE_EXTENSION_INIT2(api);
    (void)error;
    int status = SQLITE_OK;
    // Innocuous: newer versions of sqlite3 allow only such functions in views.
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    for (const struct function *f = functions; f->name && !status; f++)
        status = sqlite3_create_function(database, f->name, f->arguments, flags, (void *)f, f->function, NULL, NULL);
    return status;
}
