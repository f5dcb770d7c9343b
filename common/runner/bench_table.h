// The tables of a bench.
#ifndef RUNNER_BENCH_TABLE_H
#define RUNNER_BENCH_TABLE_H

#include "host/results.h"
#include "runner/device.h"
#include "runner/kernel.h"
#include "runner/tensor.h"

// What a row of a table is made of.
struct bench_row {
    const struct operation *operation;
    const struct problem_case *which;
    const struct device *device;
    const struct kernel *kernel;                       // NULL: a copy of as many bytes
    const struct results_timing *timing, *warm, *copy; // warm, copy: NULL where there is none
    const struct results_timing *before, *first;       // of the kernels that it is compared with; NULL: none
    double error;
};

// The headings and one row of the columns that the operation names: median, min, p95, warm, tflops, gb_per_s, of_limit,
// of_copy, of_peak, before, first, rms, error.
void bench_print_heading(const struct operation *operation);
void bench_print_row(const struct bench_row *row);

// "  noisy", in colour, or nothing: the end of a row.
const char *bench_noise(const struct results_timing *timing);

// Whether the kernel stands beside the ladder: a library's way, which may be missing here.
bool bench_is_baseline(const struct kernel *kernel);

// Memory for a kernel to work in, on each of the devices; empty for 0 bytes.
struct device_tensor bench_workspace(size_t bytes, int devices);

// Records the rows, or ends the process with one line.
void bench_record(const struct results_run *run, struct results_file file, struct results_rows *rows);

#endif
