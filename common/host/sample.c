#include "host/sample.h"

#include "host/inputs.h"
#include "host/parallel.h"

#include <stdlib.h>

// About a second of reference a case: one wrong element in a million shows in a whole output, and hardly in a sample.
static const double cost_per_thread = 6e8;
enum { MAX_SAMPLED = 1 << 17, STREAM_SAMPLE = 100 };

static int ascending(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

struct row_sample sample_rows(int64_t rows, int64_t group, double row_cost, uint64_t seed) {
    double affordable = cost_per_thread * parallel_threads() / row_cost;
    int64_t limit = affordable > MAX_SAMPLED ? MAX_SAMPLED : affordable < 64 ? 64 : (int64_t)affordable;
    struct row_sample sample = {.count = rows < limit ? rows : limit};
    sample.row = host_allocate(sample.count, sizeof *sample.row);
    if (sample.count == rows) {
        for (int64_t i = 0; i < rows; i++)
            sample.row[i] = i;
        return sample;
    }
    const int64_t always[] = {0, group - 1, rows - group, rows - 1};
    for (int64_t i = 0; i < sample.count; i++)
        sample.row[i] = i < 4 ? always[i] : (int64_t)(inputs_random(seed, STREAM_SAMPLE, (uint64_t)i) % (uint64_t)rows);
    qsort(sample.row, (size_t)sample.count, sizeof *sample.row, ascending);
    int64_t kept = 0;
    for (int64_t i = 0; i < sample.count; i++)
        if (!kept || sample.row[kept - 1] != sample.row[i])
            sample.row[kept++] = sample.row[i];
    sample.count = kept;
    return sample;
}

void sample_free(struct row_sample *sample) {
    free(sample->row);
    sample->row = NULL;
    sample->count = 0;
}
