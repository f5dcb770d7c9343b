#include "host/budget.h"

#include <math.h>

enum { LEAST_REPEATS = 5, LEAST_SLOW_REPEATS = 3 };
const double slow_seconds = 0.1;
static const double very_slow_seconds = 0.4, short_seconds = 50e-6, batch_seconds = 100e-6;

int budget_repeats(double seconds, double sample_seconds) {
    int least = sample_seconds > very_slow_seconds ? LEAST_SLOW_REPEATS : LEAST_REPEATS;
    double repeats = floor(seconds / fmax(sample_seconds, 1e-9));
    return repeats < least ? least : repeats > MOST_REPEATS ? MOST_REPEATS : (int)repeats;
}

int budget_batch(double fastest_seconds) {
    if (fastest_seconds >= short_seconds)
        return 1;
    double batch = ceil(batch_seconds / fmax(fastest_seconds, 1e-9));
    return batch > MOST_BATCH ? MOST_BATCH : (int)batch;
}

int budget_launches(double seconds, double launch_seconds, int batch) {
    int warm_ups = launch_seconds > slow_seconds ? 1 : WARM_UPS;
    return 1 + warm_ups + batch * budget_repeats(seconds, batch * launch_seconds);
}
