// How many launches a measurement takes.
#ifndef HOST_BUDGET_H
#define HOST_BUDGET_H

enum { MOST_REPEATS = 200, MOST_BATCH = 64, WARM_UPS = 3 };

// From here on one launch is warm-up enough.
extern const double slow_seconds;

// How many samples of `sample_seconds` each fit into the seconds that are meant for them: at most MOST_REPEATS, at
// least 5, and 3 where a sample takes over 0.4 s.
int budget_repeats(double seconds, double sample_seconds);

// How many launches lie between two events at a shape whose fastest kernel takes so long: one from 50 us on, below that
// as many as make 100 us. Two events are exact to about 1 us, which is little of 100.
int budget_batch(double fastest_seconds);

// How many times a kernel is launched for a measurement: once to be verified, then the warm-up, then the samples.
int budget_launches(double seconds, double launch_seconds, int batch);

#endif
