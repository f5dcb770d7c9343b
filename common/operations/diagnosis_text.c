// Marked numbers in words.
#include "operations/diagnosis_text.h"

#include <stdio.h>

// The next run of marked numbers from `from` on, as [*first, *end); false where there is none.
static bool next_range(const bool *marked, int count, int from, int *first, int *end) {
    while (from < count && !marked[from])
        from++;
    *first = from;
    while (from < count && marked[from])
        from++;
    *end = from;
    return *first < count;
}

static int count_ranges(const bool *marked, int count) {
    int ranges = 0;
    for (int first, end = 0; next_range(marked, count, end, &first, &end);)
        ranges++;
    return ranges;
}

static void append(char *text, size_t size, size_t *length, const char *separator, int first, int end) {
    if (*length < size)
        *length += (size_t)snprintf(text + *length, size - *length, end - first > 1 ? "%s%d to %d" : "%s%d", separator,
                                    first, end - 1);
}

// All ranges; with a period those of the first period, the next one and the last: "8 to 15, 24 to 31, ..., 56 to 63".
static void list_ranges(const bool *marked, int count, int period, char *text, size_t size) {
    const int ranges = count_ranges(marked, count);
    int before = period ? count_ranges(marked, period) + 1 : ranges; // before the dots
    before = before + 2 > ranges ? ranges : before;
    size_t length = 0;
    for (int i = 0, first, end = 0; next_range(marked, count, end, &first, &end); i++)
        if (i < before || i == ranges - 1)
            append(text, size, &length,
                   i == 0            ? ""
                   : i < ranges - 1  ? ", "
                   : before < ranges ? ", ..., "
                   : ranges == 2     ? " and "
                                     : ", and ",
                   first, end);
}

// The least power of two in which the marks repeat with at most so many ranges; 0: none.
static int period_of(const bool *marked, int count, int most) {
    for (int period = 2; 2 * period <= count; period *= 2) {
        bool repeats = true;
        for (int i = period; i < count && repeats; i++)
            repeats = marked[i] == marked[i - period];
        const int ranges = repeats ? count_ranges(marked, period) : 0;
        if (ranges && ranges <= most)
            return period;
    }
    return 0;
}

bool pattern_ranges(const bool *marked, int count, const char *one, const char *many, char *text, size_t size) {
    enum { FEW = 2, SOME = 4 };
    const int ranges = count_ranges(marked, count);
    char list[120];
    int marks = 0, period = 0;
    for (int i = 0; i < count; i++)
        marks += marked[i];
    if (ranges > FEW)
        period = period_of(marked, count, FEW);
    if (ranges > SOME && !period)
        period = period_of(marked, count, SOME);
    if (!ranges || (ranges > SOME && !period))
        return false;
    list_ranges(marked, count, period, list, sizeof list);
    const char *name = marks > 1 ? many : one;
    if (period)
        snprintf(text, size, "%s %s (period %d, of %d)", name, list, period, count);
    else
        snprintf(text, size, "%s %s (of %d)", name, list, count);
    return true;
}
