// What the passes of the diagnosis share: a case that was observed, and the lines that are printed of it.
#ifndef OPERATIONS_DIAGNOSIS_REPORT_H
#define OPERATIONS_DIAGNOSIS_REPORT_H

#include "operations/diagnosis.h"

struct report {
    struct observed *x;
    struct case_seen seen;
    FILE *out;
};

// Prints a line of what the kernel does, and its code, which tests compare: "  The row sum ... [row-sum-power]".
void report_line(const struct report *report, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Which queries are marked, and of which heads.
void report_queries(const struct report *report, const char *code, const char *what, const bool *marked /* [rows] */);

// "batch 0 head 1 query 2" into text.
void row_text(const struct report *report, int64_t row, char *text, size_t size);

// Rows that were not written, are not finite or zero. Returns how many.
int64_t report_missing_rows(const struct report *report);

// The map of what is wrong: rows, columns and keys.
void report_places(const struct report *report);

// What the weights of the wrong rows add up to.
void report_totals(const struct report *report);

// The first row that is missing or wrong changes with the query of another row, or the values of another head.
bool report_influence(const struct report *report, bool of_values);

// An output that is not its head's values by one weight for each key. Whether that is explained.
bool report_columns(const struct report *report);

// All weights of each wrong row are off by one factor, of which no more is known. False where that is as small as
// roundings of the weights are.
bool report_divisor(const struct report *report);

// Weights that are right but for a mask, a gather, a rounding, a factor or the divisor. Whether that is explained.
bool report_weights(const struct report *report);

// What the kernel does in a wrong case, or in one of another length like it. Whether that is explained.
bool diagnosis_of_case(const struct diagnosed *kernel, const struct problem_case *wrong, FILE *out);

#endif
