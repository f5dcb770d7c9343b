// What the tables of a bench have in common.
#ifndef RUNNER_BENCH_TABLE_H
#define RUNNER_BENCH_TABLE_H

#include "host/results.h"
#include "runner/kernel.h"
#include "runner/tensor.h"

enum { BENCH_TEXT = 24 };

// "12.3 us", "12.34 ms", "1.234 s "
const char *bench_duration(double microseconds, char text[BENCH_TEXT]);

// "1.52x", and "-" for 0: there is nothing to compare with.
const char *bench_ratio(double ratio, char text[BENCH_TEXT]);

// "  noisy", in colour, or nothing: the end of a row.
const char *bench_noise(const struct results_timing *timing);

// Whether the kernel stands beside the ladder: a library's way, which may be missing here.
bool bench_is_baseline(const struct kernel *kernel);

// Memory for a kernel to work in; empty for 0 bytes.
struct device_tensor bench_workspace(size_t bytes);

// Records the rows, or ends the process with one line.
void bench_record(const struct results_run *run, enum results_file file, struct results_rows *rows);

#endif
