// Marked numbers in words.
#ifndef OPERATIONS_DIAGNOSIS_TEXT_H
#define OPERATIONS_DIAGNOSIS_TEXT_H

#include <stdbool.h>
#include <stddef.h>

// "elements 32 to 63 (of 64)", "columns 8 to 15, 24 to 31, ..., 56 to 63 (period 16, of 64)": the marked ones of
// 0 .. count - 1. False if a few words cannot list the marked ones, or if there is none.
bool pattern_ranges(const bool *marked, int count, const char *one, const char *many, char *text, size_t size);

#endif
