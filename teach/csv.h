// CSV files with a header, as the simulator and the bench write them: fields may be quoted, a quote inside is doubled,
// and no field contains a newline. Empty lines and lines that begin with # are skipped.
#ifndef CSV_H
#define CSV_H

#include "text.h"

struct csv {
    struct lines lines;
    int columns, rows; // the header does not count as a row
    const char **cell; // [1 + rows][columns], the header first; missing fields are ""
    int *line;         // [1 + rows], line numbers in the file
};

// False if the file cannot be read; an empty file has no columns and no rows.
bool csv_read(const char *path, struct csv *csv);
void csv_free(struct csv *csv);

// Index of a column, -1 if there is none of that name.
int csv_column(const struct csv *csv, const char *name);
// A field of row 0, 1, ...; "" if there is no such column.
const char *csv_text(const struct csv *csv, int row, const char *column);
double csv_number(const struct csv *csv, int row, const char *column);

#endif
