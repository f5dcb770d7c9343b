// A results file as a file: its header, its lock, and rows that go in whole.
#ifndef HOST_RESULTS_CSV_H
#define HOST_RESULTS_CSV_H

#include "message.h"

#include <stddef.h>

// Adds rows, whole lines, at the end, below the header, in one write() under a lock: two runs at once cannot mix their
// rows, and one that is stopped leaves no half row. False, and the file as it was, where it has another header, a
// cut-off row, or rows whose columns device and sm_count are not those.
bool results_csv_append(const char *path, const char *header, const char *device, const char *sm_count,
                        const char *rows, struct message *error);

// Whether rows could be added. Nothing is written.
bool results_csv_check(const char *path, const char *header, const char *device, const char *sm_count,
                       struct message *error);

// How many lines begin with start and hold part.
int results_csv_count(const char *path, const char *start, const char *part);

#endif
