// The CSV files of measurements: results/<GPU>/attention.csv, softmax.csv and ceilings.csv.
#ifndef HOST_RESULTS_H
#define HOST_RESULTS_H

#include "message.h"
#include "shape.h"

#include <stddef.h>

enum results_file { RESULTS_ATTENTION, RESULTS_SOFTMAX, RESULTS_CEILINGS };

// What one run has in common.
struct results_run {
    char run[40];       // an id that its rows share
    char date[24];      // UTC, ISO 8601
    const char *folder; // results, NULL: nothing is recorded
    const char *commit, *device;
    char driver[32], cuda[16];
    int sm_count;
};

struct results_timing {
    double median_us, min_us, p95_us, max_us;
    int repeats;
    unsigned sm_clock_before_mhz, sm_clock_after_mhz; // 0: not known
    bool warm;                                        // the same inputs again and again
    bool noisy;                                       // stayed so after it was timed again
};

// Rows that belong together: they are written all at once or not at all.
struct results_rows {
    char *text;
    size_t length, room;
};

// Fills run and date.
void results_start(struct results_run *run);

void results_add_attention(struct results_rows *rows, const struct results_run *run, const char *lesson,
                           const struct attention_shape *shape, const struct results_timing *timing,
                           double relative_rms, double peak_tflops, double peak_gb_per_s);
void results_add_softmax(struct results_rows *rows, const struct results_run *run, const char *lesson,
                         const struct softmax_shape *shape, const struct results_timing *timing,
                         double max_relative_error, double copy_gb_per_s);
// A limit that was reached: amount / 1 us is what unit counts ("GB/s": 1e-3 GB, "TFLOP/s": 1e-6 TFLOP).
void results_add_ceiling(struct results_rows *rows, const struct results_run *run, const char *what, const char *unit,
                         double amount, const struct results_timing *timing);

// Writes the rows, and the file with its header where there is none, and empties rows. A file with another header, of
// another GPU, or whose last row is cut off, is left as it is.
bool results_write(const struct results_run *run, enum results_file file, struct results_rows *rows,
                   struct message *error);

// False and one line where results_write() would refuse the run's rows. Creates nothing.
bool results_ready(const struct results_run *run, enum results_file file, struct message *error);

// How many rows of this run and this shape, or of this ceiling, are there.
int results_count_attention(const struct results_run *run, const struct attention_shape *shape);
int results_count_softmax(const struct results_run *run, const struct softmax_shape *shape);
int results_count_ceilings(const struct results_run *run, const char *what);

// "results/nvidia-h200/attention.csv"
void results_path(const struct results_run *run, enum results_file file, char *path, size_t size);

// The device's name as a folder's: lower case, anything but [a-z0-9] becomes '-'.
void results_slug(const char *device, char *slug, size_t size);

#endif
