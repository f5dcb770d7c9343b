// What a check says to people: its progress, its failures and its last line.
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
    bool seeded; // the seed changes something
    uint64_t seed;
    const char *adds; // what the other kind of device would see besides; NULL: nothing that is known
    int cases;        // that will be run
    int passed, failed, begun;
    int not_compared; // of which nothing is known
    double start;
    char text[CASE_TEXT]; // the case that runs
};

struct report report_begin(const struct arguments *arguments, const struct kernel_argument *kernel,
                           const struct device *device, int cases, uint64_t seed, bool seeded);

// A case begins; text is "1,2,9:70,64 causal large".
void report_case(struct report *report, const char *text);

// It ended right; rms is its error. What the next calls print of a failure is for the caller to write to stdout.
void report_passed(struct report *report, const char *error_name, double error);

// It ended, and nothing of its output was compared: says why.
void report_not_compared(struct report *report, const char *why);

// It ended wrong: prints its heading. The caller explains it, then calls report_repeat().
void report_failed(struct report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Prints the command that runs the case again. options are make's variables: "SHAPE=1,2,9:70,64 CAUSAL=1".
void report_repeat(const struct report *report, const char *options, uint64_t seed);

// Prints the command that runs all cases again.
void report_repeat_all(const struct report *report);

// True where enough has failed to stop.
bool report_enough(const struct report *report);

// True where a blank of the source has not been filled in: that is said before anything else, and what is wrong then
// needs neither a map nor a guess at a mistake.
bool report_blank_open(const struct report *report);

// Prints the first open blank where something failed, and the last line. Returns the exit status.
int report_end(struct report *report);

#endif
