// A CSV file with a header, as the simulator, the bench and predictions.csv have them: fields may stand in quotes, a
// quote in them is written twice, no field has the end of a line in it. Lines that are empty or begin with # are left
// out.
#ifndef CSV_H
#define CSV_H

#include "text.h"

struct csv {
    struct lines lines;
    int columns, rows; // the header is no row
    const char **cell; // [1 + rows][columns], the header first; fields that a row lacks are ""
    int *line;         // [1 + rows], of the file
};

// False where the file cannot be read; one that has not even a header has no columns and no rows.
bool csv_read(const char *path, struct csv *csv);
void csv_free(struct csv *csv);

// Number of a column, -1 where the file has none of that name.
int csv_column(const struct csv *csv, const char *name);
// Of row 0, 1, ...: "" where there is no such column.
const char *csv_text(const struct csv *csv, int row, const char *column);
double csv_number(const struct csv *csv, int row, const char *column);

#endif
