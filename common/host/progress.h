// The progress line of a bench, rewritten in place.
#ifndef HOST_PROGRESS_H
#define HOST_PROGRESS_H

#include <stddef.h>

struct progress {
    int finished, units;     // of the plan
    const char *unit, *step; // the timed unit and its current step
    double elapsed, left;    // seconds since the start, and remaining; left below 0: unknown
};

enum { PROGRESS_TEXT = 256 };

// "42 % (5 of 16) 1,16,4096,64: timing, round 12 of 40; about 22 s left", cut to columns - 1 so that a terminal never
// wraps it. The percentage is of the time if that is known, else of the units.
void progress_text(const struct progress *progress, int columns, char text[PROGRESS_TEXT]);

// "about 20 s", "about 3 min": rounded to its accuracy.
void progress_duration(double seconds, char *text, size_t size);

#endif
