// Which rows of a large output are compared with the reference.
#ifndef HOST_SAMPLE_H
#define HOST_SAMPLE_H

#include <stdint.h>

struct row_sample {
    int64_t count;
    int64_t *row; // [count], ascending
};

// All rows if rows * row_cost multiply-adds are few enough for the host; else a sample of that size, drawn by the seed,
// which includes the first and the last row of the first and the last group of `group` rows (a head).
struct row_sample sample_rows(int64_t rows, int64_t group, double row_cost, uint64_t seed);
void sample_free(struct row_sample *sample);

#endif
