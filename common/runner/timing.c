#include "runner/timing.h"

#include "host/parallel.h"
#include "runner/clocks.h"
#include "runner/cuda.h"

#include <math.h>
#include <stdlib.h>

enum { LEAST_REPEATS = 5, MOST_REPEATS = 200, WARM_UPS = 3 };
static const double slow_ms = 100;  // from here on one launch is warm-up enough
static const double queue_ms = 200; // of work is started before it is waited for

int timing_sets(double bytes, size_t l2_bytes, int most) {
    double sets = ceil(2.0 * (double)l2_bytes / bytes);
    return sets < 1 ? 1 : sets > most ? most : (int)sets;
}

struct samples {
    cudaEvent_t *start, *stop; // [repeats]
    int repeats, taken;
    double estimate_ms;
};

// Every launch takes the next set, whichever kernel it is: what one kernel has just read must not help the next one.
static bool launch(struct timed *timed, struct samples *samples, int sets, cudaStream_t stream) {
    static int launches;
    int i = samples->taken++;
    CUDA(cudaEventRecord(samples->start[i], stream));
    if (timed->launch(timed->context, launches++ % sets, stream) != cudaSuccess)
        return false;
    CUDA(cudaEventRecord(samples->stop[i], stream));
    return true;
}

static double elapsed_ms(const struct samples *samples, int i) {
    float ms;
    CUDA(cudaEventElapsedTime(&ms, samples->start[i], samples->stop[i]));
    return ms;
}

// Launches a few times and estimates how long one launch takes.
static bool warm_up(struct timed *timed, struct samples *samples, int sets, cudaStream_t stream) {
    for (int i = 0; i < WARM_UPS; i++) {
        samples->taken = 0;
        if (!launch(timed, samples, sets, stream) || cudaStreamSynchronize(stream) != cudaSuccess)
            return false;
        samples->estimate_ms = elapsed_ms(samples, 0);
        if (samples->estimate_ms > slow_ms)
            break;
    }
    samples->taken = 0;
    return true;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void summarise(struct timed *timed, const struct samples *samples) {
    int n = samples->repeats;
    double *us = host_allocate(n, sizeof *us);
    for (int i = 0; i < n; i++)
        us[i] = 1e3 * elapsed_ms(samples, i);
    qsort(us, (size_t)n, sizeof *us, ascending);
    timed->result.repeats = n;
    timed->result.min_us = us[0];
    timed->result.median_us = n % 2 ? us[n / 2] : (us[n / 2 - 1] + us[n / 2]) / 2;
    timed->result.p95_us = us[(int)ceil(0.95 * n) - 1];
    free(us);
}

// Every kernel's launches are spread evenly over the rounds, a slow one's few among a fast one's many.
static bool interleave(struct timed *timed, struct samples *samples, int count, int sets, cudaStream_t stream,
                       int *failed) {
    int rounds = 0;
    double queued_ms = 0;
    for (int k = 0; k < count; k++)
        rounds = samples[k].repeats > rounds ? samples[k].repeats : rounds;
    unsigned before = clocks_sm_mhz(), after = 0;
    for (int round = 0; round < rounds; round++) {
        for (int k = 0; k < count; k++) {
            if ((int64_t)(round + 1) * samples[k].repeats / rounds == (int64_t)round * samples[k].repeats / rounds)
                continue;
            *failed = k;
            if (!launch(&timed[k], &samples[k], sets, stream))
                return false;
            queued_ms += samples[k].estimate_ms;
        }
        if (queued_ms < queue_ms && round + 1 < rounds)
            continue;
        after = clocks_sm_mhz(); // while there is still work under way
        if (cudaStreamSynchronize(stream) != cudaSuccess)
            return false;
        step_begin("timing, round %d of %d", round + 1, rounds);
        queued_ms = 0;
    }
    for (int k = 0; k < count; k++) {
        timed[k].result.sm_clock_before_mhz = before;
        timed[k].result.sm_clock_after_mhz = after;
    }
    return true;
}

bool timing_run(struct timed *timed, int count, int sets, double seconds, int *failed) {
    struct samples *samples = host_allocate(count, sizeof *samples);
    cudaStream_t stream;
    bool good = true;
    CUDA(cudaStreamCreate(&stream));
    for (int k = 0; k < count; k++) {
        samples[k] = (struct samples){.start = host_allocate(MOST_REPEATS, sizeof(cudaEvent_t)),
                                      .stop = host_allocate(MOST_REPEATS, sizeof(cudaEvent_t))};
        for (int i = 0; i < MOST_REPEATS; i++) {
            CUDA(cudaEventCreate(&samples[k].start[i]));
            CUDA(cudaEventCreate(&samples[k].stop[i]));
        }
    }
    for (int k = 0; good && k < count; k++) {
        *failed = k;
        good = warm_up(&timed[k], &samples[k], sets, stream);
        double repeats = 1e3 * seconds / count / fmax(samples[k].estimate_ms, 1e-3);
        samples[k].repeats = repeats < LEAST_REPEATS  ? LEAST_REPEATS
                             : repeats > MOST_REPEATS ? MOST_REPEATS
                                                      : (int)repeats;
    }
    good = good && interleave(timed, samples, count, sets, stream, failed);
    for (int k = 0; k < count; k++) {
        if (good)
            summarise(&timed[k], &samples[k]);
        for (int i = 0; i < MOST_REPEATS; i++) {
            cudaEventDestroy(samples[k].start[i]);
            cudaEventDestroy(samples[k].stop[i]);
        }
        free(samples[k].start);
        free(samples[k].stop);
    }
    cudaStreamDestroy(stream);
    free(samples);
    return good;
}
