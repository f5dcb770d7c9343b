#include "host/noise.h"

#include <math.h>
#include <stdlib.h>

static const double most_spread = 0.05, resolution_us = 1, most_drop = 0.03;

void noise_clock_start(struct noise_clock *clock, unsigned mhz) {
    *clock = (struct noise_clock){mhz, mhz, mhz, mhz};
}

void noise_clock_record(struct noise_clock *clock, unsigned mhz) {
    clock->after = mhz;
    if (!mhz)
        return;
    clock->lowest = !clock->lowest || mhz < clock->lowest ? mhz : clock->lowest;
    clock->highest = mhz > clock->highest ? mhz : clock->highest;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void noise_summarise(double *us, int count, struct results_timing *timing) {
    qsort(us, (size_t)count, sizeof *us, ascending);
    timing->repeats = count;
    timing->min_us = us[0];
    timing->max_us = us[count - 1];
    timing->median_us = count % 2 ? us[count / 2] : (us[count / 2 - 1] + us[count / 2]) / 2;
    timing->p95_us = us[(int)ceil(0.95 * count) - 1];
}

double noise_spread(const struct results_timing *timing) {
    return (timing->p95_us - timing->min_us) / timing->median_us;
}

bool noise_is_spread(const struct results_timing *timing, int batch) {
    return noise_spread(timing) > most_spread && batch * (timing->p95_us - timing->min_us) > resolution_us;
}

bool noise_clock_dropped(const struct noise_clock *clock) {
    return clock->lowest < (1 - most_drop) * clock->highest;
}

bool noise_better(const struct results_timing *a, const struct results_timing *b, int count) {
    int noisy = 0;
    double spread = 0;
    for (int i = 0; i < count; i++) {
        noisy += a[i].noisy - b[i].noisy;
        spread += noise_spread(&a[i]) - noise_spread(&b[i]);
    }
    return noisy ? noisy < 0 : spread < 0;
}
