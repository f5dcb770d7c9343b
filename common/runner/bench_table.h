// What both benches print and record alike.
#ifndef RUNNER_BENCH_TABLE_H
#define RUNNER_BENCH_TABLE_H

#include "arguments.h"
#include "host/results.h"
#include "runner/device.h"

enum { BENCH_TEXT = 24 };

// Opens the clocks, prints the device, and begins a run of results.
struct results_run bench_start(const struct device *device, const struct arguments *arguments);

// "12.3 us", "12.34 ms", "1.234 s "
const char *bench_duration(double microseconds, char text[BENCH_TEXT]);

// "1.52x", and "-" for 0: there is nothing to compare with.
const char *bench_ratio(double ratio, char text[BENCH_TEXT]);

// Says where the rows went.
void bench_recorded(const struct results_run *run, const char *file);

#endif
