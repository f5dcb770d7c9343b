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

// ---- Passes: each prints nothing and returns false if it does not apply.

// The first row without numbers or of zeros, asked alone, is right: other rows make it wrong.
bool report_row_alone(const struct report *report);

// Rows are not finite exactly where a split of the keys has none.
bool report_empty_splits(const struct report *report);

// The first row that is missing or wrong changes with the query of another one.
bool report_influence(const struct report *report);

// A row has values of another head in it; whether that is all that is wrong with it.
bool report_other_head(const struct report *report);

// Wrong rows have the weights of another query, or of another head's keys, also in another case.
bool report_sources(const struct report *report);

// An output that is not its head's values by one weight for each key. Whether that is explained.
bool report_columns(const struct report *report);

// Weights that are right but for a mask, a gather, a rounding, a factor or the divisor. Whether that is explained.
bool report_weights(const struct report *report);

// How often each key counts where all scores are the same, if not each counts once.
void report_equal_scores(const struct report *report);

#endif
