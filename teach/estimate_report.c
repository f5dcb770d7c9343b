#include "estimate_report.h"

#include "estimate.h"
#include "traced_kernel.h"
#include "validation.h"

#include <stdlib.h>
#include <string.h>

// A kernel whose sample takes longer is skipped: the estimate must not delay a check.
#define TIME_LIMIT "20" // seconds

static const char *format_time(double us, char text[NUMBER_TEXT]) {
    snprintf(text, NUMBER_TEXT, us < 100 ? "%.1f us" : us < 1000 ? "%.0f us" : "%.3g ms", us < 1000 ? us : us / 1000);
    return text;
}

void print_estimate(int count, char **word, bool with_solution) {
    const char *device = getenv("SIMULATOR_DEVICE"), *source = source_option(count, word);
    struct run_work run_work;
    char time[NUMBER_TEXT], solution_time[NUMBER_TEXT], units[120];
    if ((device && *device && strcmp(device, "h200")) || work_run(TIME_LIMIT, count, word, &run_work))
        return;
    struct estimate estimate = estimate_time(&run_work, work_bytes(&run_work));
    double solution = with_solution ? estimate_solution_us(source, &run_work) : 0;
    printf("Estimated time on an H200 (SHAPE=%s%s): %s", run_work.shape, run_work.causal ? " CAUSAL=1" : "",
           format_time(estimate.us, time));
    if (solution > 0)
        printf("; solution: %s", format_time(solution, solution_time));
    snprintf(units, sizeof units, "%s%s%s", estimate.busiest, estimate.equally_busy ? " and " : "",
             estimate.equally_busy ? estimate.equally_busy : "");
    if (estimate.busy < LATENCY_BOUND_BELOW)
        printf(". Bottleneck: latency (the busiest unit, %s, is active %.0f %% of the time)\n", units,
               100 * estimate.busy);
    else
        printf(". Bottleneck: %s (active %.0f %% of the time)\n", units, 100 * estimate.busy);
    struct validation validation = validate_estimates(VALIDATION_RESULTS);
    printf("  Model based on instruction and memory counts");
    if (validation.count)
        printf("; within 25 %% of %d of %d measured times", validation.within_tolerance, validation.count);
    printf("; see lessons/estimate.md\n");
    validation_free(&validation);
}
