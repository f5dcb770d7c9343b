// Functions of SQL that make text, for sqlite3's `.load build/sql_text`. A figure of NULL is NULL.
//     three_digits(x)        0.123, 1.23, 12.3, 123, 1235
//     whole(x)               123
//     percent(part, of)      57 %; NULL where `of` is not above zero
//     ratio(x)               1.05×, 1.1×, 100×
//     short_ratio(x)         1.1×, 1.1×, 100×
//     times(x, is_noisy)     1.05×, or 1.05×, noisy
//     duration(us)           12.3 µs or 1.23 ms; its blank does not break
//     table_row(cell, ...)   | cell | ... |, where a NULL is -
//     table_head(cell, ...)  a row and the line below it, of a table of Markdown; a cell that begins with > is over
//     figures
// A cell may be several, with " | " between them.
#include <sqlite3ext.h>
#include <stdio.h>
#include <string.h>
SQLITE_EXTENSION_INIT1

// What lies between two figures goes up, also where the nearest double lies below.
static void rounded(sqlite3_context *context, double x, int digits, const char *unit) {
    char text[400];
    snprintf(text, sizeof text, "%.*f%s", digits, 1.0000000001 * x, unit);
    sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

static void three_digits(sqlite3_context *context, double x, const char *unit) {
    rounded(context, x, (x < 1) + (x < 10) + (x < 100), unit);
}

struct function {
    const char *name;
    int arguments;
    void (*function)(sqlite3_context *, int, sqlite3_value **);
    enum { THREE_DIGITS, WHOLE, PERCENT, RATIO, SHORT_RATIO, TIMES, DURATION } figure;
};

static void figure(sqlite3_context *context, int count, sqlite3_value **argument) {
    double x = sqlite3_value_double(argument[0]), second = sqlite3_value_double(argument[count - 1]);
    if (sqlite3_value_type(argument[0]) == SQLITE_NULL)
        return;
    switch (((const struct function *)sqlite3_user_data(context))->figure) {
    case THREE_DIGITS:
        three_digits(context, x, "");
        break;
    case WHOLE:
        rounded(context, x, 0, "");
        break;
    case PERCENT:
        if (second > 0)
            rounded(context, 100 * x / second, 0, " %");
        break;
    case RATIO:
        rounded(context, x, (x < 1.095) + (x < 99.95), "×");
        break;
    case SHORT_RATIO:
        rounded(context, x, x < 99.95, "×");
        break;
    case TIMES:
        sqlite3_result_text(context, sqlite3_mprintf("%.2f×%s", x, second != 0 ? ", noisy" : ""), -1, sqlite3_free);
        break;
    case DURATION:
        three_digits(context, x < 999.5 ? x : x / 1000, x < 999.5 ? "\u00a0µs" : "\u00a0ms");
    }
}

static char *row_of(int count, sqlite3_value **argument) {
    sqlite3_str *row = sqlite3_str_new(NULL);
    for (int i = 0; i < count; i++) {
        const char *cell = (const char *)sqlite3_value_text(argument[i]);
        sqlite3_str_appendf(row, "| %s ", cell ? cell : "-");
    }
    sqlite3_str_appendall(row, "|");
    return sqlite3_str_finish(row);
}

static void table_row(sqlite3_context *context, int count, sqlite3_value **argument) {
    sqlite3_result_text(context, row_of(count, argument), -1, sqlite3_free);
}

static void table_head(sqlite3_context *context, int count, sqlite3_value **argument) {
    char *row = row_of(count, argument);
    sqlite3_str *head = sqlite3_str_new(NULL), *line = sqlite3_str_new(NULL);
    for (const char *c = row; *c; c++) {
        int over_figures = !strncmp(c, "| >", 3);
        if (*c == '|')
            sqlite3_str_appendall(line, !c[1] ? "|" : over_figures ? "|--:" : "|---");
        sqlite3_str_append(head, c, 1 + over_figures);
        c += 2 * over_figures;
    }
    sqlite3_free(row);
    row = sqlite3_str_finish(line);
    sqlite3_str_appendf(head, "\n%s", row);
    sqlite3_free(row);
    sqlite3_result_text(context, sqlite3_str_finish(head), -1, sqlite3_free);
}

int sqlite3_extension_init(sqlite3 *database, char **error, const sqlite3_api_routines *api);
int sqlite3_extension_init(sqlite3 *database, char **error, const sqlite3_api_routines *api) {
    static const struct function functions[] = {
        {"three_digits", 1, figure, THREE_DIGITS}, {"whole", 1, figure, WHOLE},
        {"percent", 2, figure, PERCENT},           {"ratio", 1, figure, RATIO},
        {"short_ratio", 1, figure, SHORT_RATIO},   {"times", 2, figure, TIMES},
        {"duration", 1, figure, DURATION},         {"table_row", -1, table_row, 0},
        {"table_head", -1, table_head, 0},
    };
    SQLITE_EXTENSION_INIT2(api);
    (void)error;
    for (const struct function *f = functions; f < functions + sizeof functions / sizeof *functions; f++) {
        int status = sqlite3_create_function(database, f->name, f->arguments, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                                             (void *)f, f->function, NULL, NULL);
        if (status != SQLITE_OK)
            return status;
    }
    return SQLITE_OK;
}
