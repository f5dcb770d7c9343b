#include "csv.h"

#include <stdlib.h>
#include <string.h>

// The next field, unquoted in place; *line then points after its comma, or is NULL at the end.
static const char *next_field(char **line) {
    char *start = *line, *to = start;
    bool quoted = false;
    for (char *from = start;; from++) {
        if (!*from || (*from == ',' && !quoted)) {
            *line = *from ? from + 1 : NULL;
            *to = 0;
            return start;
        }
        if (*from != '"')
            *to++ = *from;
        else if (quoted && from[1] == '"')
            *to++ = *++from;
        else
            quoted = !quoted;
    }
}

static int count_fields(const char *line) {
    int fields = 1;
    bool quoted = false;
    for (; *line; line++) {
        quoted ^= *line == '"';
        fields += *line == ',' && !quoted;
    }
    return fields;
}

static void add_row(struct csv *csv, char *line, int number) {
    int row = csv->columns ? ++csv->rows : 0;
    if (!row)
        csv->columns = count_fields(line);
    csv->line = realloc(csv->line, (size_t)(row + 1) * sizeof *csv->line);
    csv->cell = realloc(csv->cell, (size_t)(row + 1) * (size_t)csv->columns * sizeof *csv->cell);
    if (!csv->line || !csv->cell)
        message_exit(EXIT_CHECK_FAILED, "out of memory");
    csv->line[row] = number;
    for (int i = 0; i < csv->columns; i++)
        csv->cell[row * csv->columns + i] = line ? next_field(&line) : "";
}

bool csv_read(const char *path, struct csv *csv) {
    *csv = (struct csv){.columns = 0};
    if (!lines_read(path, &csv->lines))
        return false;
    for (int i = 0; i < csv->lines.count; i++) {
        char *line = text_trim(csv->lines.line[i]);
        if (*line && *line != '#')
            add_row(csv, line, i + 1);
    }
    return true;
}

void csv_free(struct csv *csv) {
    lines_free(&csv->lines);
    free(csv->cell);
    free(csv->line);
    *csv = (struct csv){.columns = 0};
}

int csv_column(const struct csv *csv, const char *name) {
    for (int i = 0; i < csv->columns; i++)
        if (*csv->cell[i] == *name && !strcmp(csv->cell[i], name)) // the first letter rejects most columns
            return i;
    return -1;
}

const char *csv_text(const struct csv *csv, int row, const char *column) {
    int i = csv_column(csv, column);
    return i < 0 ? "" : csv->cell[(row + 1) * csv->columns + i];
}

double csv_number(const struct csv *csv, int row, const char *column) {
    return strtod(csv_text(csv, row, column), NULL);
}
