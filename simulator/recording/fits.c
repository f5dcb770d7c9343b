// Limits the size of each part of a recording, so that the page opens at once.
#include "writer.h"

#include <string.h>

// Bytes of all kernels of a file. Two files and a page's own text have to be less than 3 MB.
enum { SAMPLE_BYTES = 512 << 10, VALUE_BYTES = 512 << 10, STEP_BYTES = 224 << 10, STEP_TEXT = 9, EVENT_TEXT = 22 };
enum { ENOUGH_TURNS = 12 };

bool fits_sample(const struct sample *sample, uint32_t executions, unsigned warps) {
    return sample->kept || (sample->n < executions && sample->warp < warps);
}

static size_t samples_bytes(const struct samples *samples, uint32_t executions, unsigned warps) {
    size_t bytes = 0;
    for (size_t i = 0; i < samples->count; i++)
        if (fits_sample(&samples->list[i], executions, warps))
            bytes += strlen(samples->list[i].text) + 1;
    return bytes;
}

static size_t sites_bytes(const struct writer *w, uint32_t executions) {
    size_t bytes = 0;
    for (int32_t i = 0; i < w->recording->ptx->instructions; i++)
        for (int s = 0; s < SITE_SPACES; s++)
            if (w->recording->site[i][s])
                bytes += samples_bytes(&w->recording->site[i][s]->samples, executions, MOST_SAMPLED_WARPS);
    return bytes;
}

static size_t values_bytes(const struct writer *w, uint32_t executions) {
    size_t bytes = 0;
    for (int32_t i = 0; i < w->recording->ptx->instructions; i++)
        if (w->recording->value[i])
            bytes += samples_bytes(&w->recording->value[i]->samples, executions, w->value_warps);
    return bytes;
}

static size_t steps_bytes(const struct writer *w, uint32_t most) {
    size_t bytes = 0;
    for (int s = 0; s < MOST_SLOTS; s++) {
        const struct slot *slot = &w->recording->slot[s];
        bytes += (slot->steps < most ? slot->steps : most) * (size_t)STEP_TEXT + slot->events * (size_t)EVENT_TEXT / 4;
    }
    return bytes;
}

// The largest number that fits, in steps of about a quarter; at least 1.
static uint32_t fitting(const struct writer *w, uint32_t most, size_t bytes,
                        size_t (*bytes_of)(const struct writer *, uint32_t)) {
    while (most > 1 && bytes_of(w, most) > bytes / (size_t)w->kernels)
        most -= (most + 3) / 4;
    return most;
}

// For values, reduces the number of warps rather than of loop iterations, in which values change.
void fits_choose(struct writer *w) {
    w->executions = fitting(w, MOST_EXECUTIONS, SAMPLE_BYTES, sites_bytes);
    w->steps = fitting(w, MOST_STEPS, STEP_BYTES, steps_bytes);
    w->value_warps = w->recording->sampled_warps;
    w->value_executions = fitting(w, MOST_EXECUTIONS, VALUE_BYTES, values_bytes);
    while (w->value_executions < ENOUGH_TURNS && w->value_warps > 1) {
        w->value_warps /= 2;
        w->value_executions = fitting(w, MOST_EXECUTIONS, VALUE_BYTES, values_bytes);
    }
}
