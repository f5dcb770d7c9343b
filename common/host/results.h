// The CSV files of measurements: results/<GPU>/attention.csv and softmax.csv.
#ifndef HOST_RESULTS_H
#define HOST_RESULTS_H

#include "message.h"
#include "shape.h"

#include <stddef.h>

// What one interleaved run has in common.
struct results_run {
    char run[40];       // an id that its rows share
    char date[24];      // UTC, ISO 8601
    const char *folder; // results, NULL: nothing is recorded
    const char *commit, *device;
    char driver[32], cuda[16];
    int sm_count;
};

struct results_timing {
    double median_us, min_us, p95_us;
    int repeats;
    unsigned sm_clock_before_mhz, sm_clock_after_mhz; // 0: not known
    bool warm;                                        // the same inputs again and again
    bool noisy;                                       // stayed so after it was timed again
};

// Fills run and date.
void results_start(struct results_run *run);

// Adds a row, and the file with its header where there is none. A file whose header is another one is left as it is.
bool results_add_attention(const struct results_run *run, const char *lesson, const struct attention_shape *shape,
                           const struct results_timing *timing, double relative_rms, double peak_tflops,
                           double peak_gb_per_s, struct message *error);
bool results_add_softmax(const struct results_run *run, const char *lesson, const struct softmax_shape *shape,
                         const struct results_timing *timing, double max_relative_error, double copy_gb_per_s,
                         struct message *error);

// The device's name as a folder's: lower case, anything but [a-z0-9] becomes '-'.
void results_slug(const char *device, char *slug, size_t size);

#endif
