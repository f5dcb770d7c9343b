// The text output of a check: progress, failures and the last line.
#ifndef RUNNER_REPORT_H
#define RUNNER_REPORT_H

#include "arguments.h"
#include "runner/device.h"

#include <stdbool.h>

enum { CASE_TEXT = 160, MAX_FAILURES = 3 };

struct report {
    const struct arguments *arguments;
    const struct kernel_argument *kernel;
    const struct device *device;
    bool seeded; // the seed has an effect
    uint64_t seed;
    const char *adds; // additional checks on the other kind of device; NULL: none
    int cases;        // that will be run
    int offered;      // of the matrix, with those that the kernel does not take
    int passed, failed, begun;
    int not_verified; // cases without a verdict
    int out_of_time;  // of these: cases that took too long
    double start;
    char text[CASE_TEXT]; // the case that runs
};

struct report report_begin(const struct arguments *arguments, const struct kernel_argument *kernel,
                           const struct device *device, int cases, uint64_t seed, bool seeded);

// A case begins; text is "1,2,9:70,64 causal large".
void report_case(struct report *report, const char *text);

// The case passed with this error.
void report_passed(struct report *report, const char *error_name, double error);

// The case ended without a verdict: prints why, in whole sentences that say what to do.
void report_not_verified(struct report *report, const char *why);
void report_out_of_time(struct report *report);

// The case failed: prints the heading. The caller prints an explanation, then calls report_repeat().
void report_failed(struct report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Prints the command that runs the case again. options are make's variables: "SHAPE=1,2,9:70,64 CAUSAL=1".
void report_repeat(const struct report *report, const char *options, uint64_t seed);

// Prints the command that runs all cases again.
void report_repeat_all(const struct report *report);

// True if enough cases have failed, or have taken too long, to stop.
bool report_enough(const struct report *report);

// True if a blank of the source is still open: the report names it first, and prints no map and no diagnosis.
bool report_blank_open(const struct report *report);

// Prints the last line. Returns the exit status.
int report_end(struct report *report);

#endif
