// The number of launches of a measurement.
#ifndef HOST_BUDGET_H
#define HOST_BUDGET_H

enum { MOST_REPEATS = 200, MOST_BATCH = 64, WARM_UPS = 3 };

// A kernel that takes at least this long needs only one launch as warm-up.
extern const double slow_seconds;

// The number of samples of `sample_seconds` that fit into `seconds`: at most MOST_REPEATS, at least 5, or 3 if a sample
// takes more than 0.4 s.
int budget_repeats(double seconds, double sample_seconds);

// The number of launches between two events for a fastest kernel of this time: one from 50 us on, otherwise enough for
// 100 us. Events have a resolution of about 1 us, which is small compared with 100 us.
int budget_batch(double fastest_seconds);

// The number of launches of a kernel in a measurement: one for verification, then warm-up, then samples.
int budget_launches(double seconds, double launch_seconds, int batch);

#endif
