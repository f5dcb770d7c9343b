// A results file as a file: its header, its lock, and rows that go in whole.
//
// The columns of a file are a list of names, "run,lesson,layout=bhnd": what stands behind a '=' is what rows have there
// that were written before the column was, and only last columns have it.
#ifndef HOST_RESULTS_CSV_H
#define HOST_RESULTS_CSV_H

#include "message.h"

#include <stddef.h>

// Adds rows, whole lines, at the end, below the header, in one write() under a lock: two runs at once cannot mix their
// rows, and one that is stopped leaves no half row. A file that lacks last columns gets them first. False, and the file
// as it was, where it has another header, a cut-off row, or rows whose columns device and sm_count are not those.
bool results_csv_append(const char *path, const char *columns, const char *device, const char *sm_count,
                        const char *rows, struct message *error);

// Whether rows could be added. Nothing is written.
bool results_csv_check(const char *path, const char *columns, const char *device, const char *sm_count,
                       struct message *error);

// How many rows have these values in the columns of these names, count of each, one after the other in rooms of
// name_size and value_size characters. In a column that the file does not have, its rows have what the columns say.
int results_csv_count(const char *path, const char *columns, int count, const char *name, size_t name_size,
                      const char *value, size_t value_size);

#endif
