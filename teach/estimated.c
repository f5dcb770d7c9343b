#include "estimated.h"

#include "estimate.h"
#include "estimates.h"
#include "traced.h"

#include <stdlib.h>
#include <string.h>

// A kernel whose sample takes longer is none whose time is asked for.
#define SECONDS "20"

static const char *time_text(double us, char text[NUMBER_TEXT]) {
    snprintf(text, NUMBER_TEXT, us < 100 ? "%.1f us" : us < 1000 ? "%.0f us" : "%.3g ms", us < 1000 ? us : us / 1000);
    return text;
}

void estimated_print(int count, char **word, int beside) {
    const char *device = getenv("SIMULATOR_DEVICE"), *source = traced_source(count, word);
    struct works works;
    char time[NUMBER_TEXT], other[NUMBER_TEXT];
    if ((device && *device && strcmp(device, "h200")) || work_run(SECONDS, count, word, &works))
        return;
    struct estimate estimate = estimate_of(&works, work_bytes(&works));
    double solution = beside ? recorded_us(source, &works) : 0;
    printf("estimated %s on an H200 with SHAPE=%s%s", time_text(estimate.us, time), works.shape,
           works.causal ? " CAUSAL=1" : "");
    if (solution > 0)
        printf(" (the solution: %s)", time_text(solution, other));
    char parts[120];
    snprintf(parts, sizeof parts, "%s%s%s", estimate.busiest, estimate.as_busy ? " as much as " : "",
             estimate.as_busy ? estimate.as_busy : "");
    if (estimate.busy < ESTIMATE_WAITS)
        printf(", limited by latency: the busiest part, %s, works %.0f %% of it\n", parts, 100 * estimate.busy);
    else
        printf(", limited by %s, busy %.0f %% of it\n", parts, 100 * estimate.busy);
    struct comparison comparison = comparison_read(COMPARED_RESULTS);
    printf("  an estimate, from counts alone");
    if (comparison.count)
        printf(": within 25 %% for %d of %d times that were measured", comparison.near, comparison.count);
    printf("; lessons/estimate.md\n");
    comparison_free(&comparison);
}
