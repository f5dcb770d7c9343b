// The CSV files of measurements: results/<GPU>/ceilings.csv, and one for each operation.
#ifndef HOST_RESULTS_H
#define HOST_RESULTS_H

#include "host/case.h"
#include "message.h"

#include <stddef.h>

struct operation;

// The common values of one run.
struct results_run {
    char run[40];       // the id of its rows
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
    bool noisy;                                       // also noisy in all further attempts
};

// The timing of one kernel for one case.
struct results_row {
    const struct operation *operation;
    const struct problem_case *which;
    const char *lesson;
    const struct results_timing *timing;
    double error;
    double peak_tflops, peak_gb_per_s, copy_gb_per_s; // of the device, and of a copy timed beside it
    bool lse;                                         // with the optional outputs
};

// A file: its name in the GPU's folder, and its header, the names of its columns. A file that was written before the
// last columns were there gets them when rows are added: what its own rows have there is what was not said then.
struct results_file {
    const char *name, *columns;
};
extern const struct results_file results_ceilings;
struct results_file results_file_of(const struct operation *operation);

// Rows that are written together or not at all.
struct results_rows {
    char *text;
    size_t length, capacity;
};

// Fills run and date.
void results_start(struct results_run *run);

void results_add(struct results_rows *rows, const struct results_run *run, const struct results_row *row);

// A limit that was reached: amount / 1 us is what unit counts ("GB/s": 1e-3 GB, "TFLOP/s": 1e-6 TFLOP).
void results_add_ceiling(struct results_rows *rows, const struct results_run *run, const char *what, const char *unit,
                         double amount, const struct results_timing *timing);

// Writes the rows, and the file with its header where there is none, and empties rows. A file with another header, of
// another GPU, or whose last row is cut off, is left as it is.
bool results_write(const struct results_run *run, struct results_file file, struct results_rows *rows,
                   struct message *error);

// False and one line if results_write() would refuse the run's rows. Creates no file.
bool results_ready(const struct results_run *run, struct results_file file, struct message *error);

// The number of rows of this run and this case, or of this ceiling.
int results_count(const struct results_run *run, const struct operation *operation, const struct problem_case *which);
int results_count_ceilings(const struct results_run *run, const char *what);

// "results/nvidia-h200/attention.csv"
void results_path(const struct results_run *run, struct results_file file, char *path, size_t size);

// The folder name of a device: lower case, with '-' instead of other characters than [a-z0-9].
void results_slug(const char *device, char *slug, size_t size);

#endif
