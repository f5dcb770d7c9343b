#include "host/progress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void progress_duration(double seconds, char *text, size_t size) {
    if (seconds < 10)
        snprintf(text, size, "about %.0f s", fmax(1, ceil(seconds)));
    else if (seconds < 90)
        snprintf(text, size, "about %.0f s", 5 * ceil(seconds / 5));
    else
        snprintf(text, size, "about %.0f min", ceil(seconds / 60));
}

void progress_text(const struct progress *p, int columns, char text[PROGRESS_TEXT]) {
    char left[48] = "";
    double fraction = p->units ? (double)p->finished / p->units : 0;
    if (p->left >= 0) {
        fraction = p->elapsed + p->left > 0 ? p->elapsed / (p->elapsed + p->left) : 0;
        snprintf(left, sizeof left, "; ");
        progress_duration(p->left, left + 2, sizeof left - 8);
        strcat(left, " left");
    }
    int length = snprintf(text, PROGRESS_TEXT, "%3.0f %% (%d of %d) %s: %s%s", floor(100 * fraction), p->finished + 1,
                          p->units, p->unit, p->step, left);
    int most = columns > 1 ? columns - 1 : 79;
    if (most < PROGRESS_TEXT && length > most)
        text[most] = 0;
}
