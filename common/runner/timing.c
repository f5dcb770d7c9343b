#include "runner/timing.h"

#include "host/budget.h"
#include "host/noise.h"
#include "host/parallel.h"
#include "runner/bench_progress.h"
#include "runner/clocks.h"
#include "runner/cuda.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double queue_seconds = 0.05; // of work is started before it is waited for

struct timing_sets timing_sets(double bytes, size_t l2_bytes, int most, bool warm) {
    double passing = 2.0 * (double)l2_bytes, wanted = ceil(passing / bytes);
    int count = wanted < 1 ? 1 : wanted > most - warm ? most - warm : (int)wanted;
    return (struct timing_sets){warm, warm + count, count * bytes < passing ? (size_t)passing : 0};
}

struct samples {
    cudaEvent_t *start, *stop; // [repeats]
    int repeats, taken;
    double launch_seconds;
};

// What the launches of one timing_run() share.
struct session {
    struct timed *timed;     // [count]
    struct samples *samples; // [count]
    int count, batch;
    const struct timing_sets *sets;
    void *flushed; // sets->flush_bytes
    cudaStream_t stream;
    struct noise_clock clock;
};

// Every cold launch takes the next set, whichever kernel it is: what one kernel has just read must not help the next
// one.
static bool launch_once(const struct session *s, int k) {
    static int launches;
    const struct timing_sets *sets = s->sets;
    int set = s->timed[k].warm ? 0 : sets->first + launches++ % (sets->count - sets->first);
    return s->timed[k].launch(s->timed[k].context, set, s->stream) == cudaSuccess;
}

static bool sample(struct session *s, int k, int batch) {
    struct samples *samples = &s->samples[k];
    int i = samples->taken++;
    if (s->flushed && !s->timed[k].warm)
        CUDA(cudaMemsetAsync(s->flushed, i & 1, s->sets->flush_bytes, s->stream));
    CUDA(cudaEventRecord(samples->start[i], s->stream));
    for (int launch = 0; launch < batch; launch++)
        if (!launch_once(s, k))
            return false;
    CUDA(cudaEventRecord(samples->stop[i], s->stream));
    return true;
}

static double elapsed_seconds(const struct samples *samples, int i) {
    float ms;
    CUDA(cudaEventElapsedTime(&ms, samples->start[i], samples->stop[i]));
    return 1e-3 * ms;
}

// Launches a few times and estimates how long one launch takes.
static bool warm_up(struct session *s, int k) {
    struct samples *samples = &s->samples[k];
    for (int i = 0; i < WARM_UPS; i++) {
        samples->taken = 0;
        if (!sample(s, k, 1) || cudaStreamSynchronize(s->stream) != cudaSuccess)
            return false;
        samples->launch_seconds = elapsed_seconds(samples, 0);
        if (samples->launch_seconds > slow_seconds)
            break;
    }
    return true;
}

static int fastest(const struct session *s, bool warm) {
    int best = -1;
    for (int k = 0; k < s->count; k++)
        if (s->timed[k].warm == warm && (best < 0 || s->samples[k].launch_seconds < s->samples[best].launch_seconds))
            best = k;
    return best;
}

// Every kernel's launches are spread evenly over the rounds, a slow one's few among a fast one's many. Each round's
// warm launches come after one that is not timed and brings set 0 back to the cache.
static bool interleave(struct session *s, int attempt, int *failed) {
    int rounds = 0, primer = fastest(s, true);
    double queued = 0;
    for (int k = 0; k < s->count; k++) {
        rounds = s->samples[k].repeats > rounds ? s->samples[k].repeats : rounds;
        s->samples[k].taken = 0;
    }
    noise_clock_start(&s->clock, clocks_sm_mhz());
    for (int round = 0; round < rounds; round++) {
        bool primed = false;
        for (int k = 0; k < s->count; k++) {
            const struct samples *samples = &s->samples[k];
            if ((int64_t)(round + 1) * samples->repeats / rounds == (int64_t)round * samples->repeats / rounds)
                continue;
            *failed = k;
            if (s->timed[k].warm && !primed && !launch_once(s, primer))
                return false;
            primed = s->timed[k].warm;
            if (!sample(s, k, s->batch))
                return false;
            queued += s->batch * samples->launch_seconds;
        }
        if (queued < queue_seconds && round + 1 < rounds)
            continue;
        noise_clock_record(&s->clock, clocks_sm_mhz()); // while there is still work under way
        if (cudaStreamSynchronize(s->stream) != cudaSuccess)
            return false;
        bench_step(attempt ? "timing again, repetition %d of %d" : "timing, repetition %d of %d", round + 1, rounds);
        queued = 0;
    }
    return true;
}

static bool summarise(const struct session *s, struct results_timing *result /* [count] */) {
    bool dropped = noise_clock_dropped(&s->clock), noisy = false;
    double us[MOST_REPEATS];
    for (int k = 0; k < s->count; k++) {
        const struct samples *samples = &s->samples[k];
        for (int i = 0; i < samples->repeats; i++)
            us[i] = 1e6 * elapsed_seconds(samples, i) / s->batch;
        result[k] = (struct results_timing){
            .sm_clock_before_mhz = s->clock.before, .sm_clock_after_mhz = s->clock.after, .warm = s->timed[k].warm};
        noise_summarise(us, samples->repeats, &result[k]);
        result[k].noisy = dropped || noise_is_spread(&result[k], s->batch);
        noisy = noisy || result[k].noisy;
    }
    return !noisy;
}

static bool time_steadily(struct session *s, int *failed) {
    struct results_timing *result = host_allocate(s->count, sizeof *result);
    struct results_timing *best = host_allocate(s->count, sizeof *best);
    bool good = true, steady = false;
    for (int attempt = 0; good && !steady && attempt < NOISE_ATTEMPTS; attempt++) {
        good = interleave(s, attempt, failed);
        if (!good)
            break;
        steady = summarise(s, result);
        if (attempt == 0 || noise_better(result, best, s->count))
            memcpy(best, result, (size_t)s->count * sizeof *best);
    }
    for (int k = 0; good && k < s->count; k++)
        s->timed[k].result = best[k];
    free(result);
    free(best);
    return good;
}

static void create_events(struct samples *samples, int count) {
    samples->start = host_allocate(count, sizeof(cudaEvent_t));
    samples->stop = host_allocate(count, sizeof(cudaEvent_t));
    for (int i = 0; i < count; i++) {
        CUDA(cudaEventCreate(&samples->start[i]));
        CUDA(cudaEventCreate(&samples->stop[i]));
    }
}

static void destroy_events(struct samples *samples, int count) {
    for (int i = 0; i < count; i++) {
        cudaEventDestroy(samples->start[i]);
        cudaEventDestroy(samples->stop[i]);
    }
    free(samples->start);
    free(samples->stop);
}

bool timing_run(struct timed *timed, int count, const struct timing_sets *sets, double seconds, int *failed) {
    struct session s = {
        .timed = timed, .count = count, .samples = host_allocate(count, sizeof *s.samples), .sets = sets};
    bool good = true;
    CUDA(cudaStreamCreate(&s.stream));
    if (sets->flush_bytes)
        CUDA(cudaMalloc(&s.flushed, sets->flush_bytes));
    for (int k = 0; k < count; k++)
        create_events(&s.samples[k], MOST_REPEATS);
    for (int k = 0; good && k < count; k++) {
        *failed = k;
        good = warm_up(&s, k);
    }
    // Between two launches of a batch nothing could be flushed.
    s.batch = s.flushed || !good ? 1 : budget_batch(s.samples[fastest(&s, false)].launch_seconds);
    for (int k = 0; k < count; k++)
        s.samples[k].repeats = budget_repeats(seconds / count, s.batch * s.samples[k].launch_seconds);
    good = good && time_steadily(&s, failed);
    for (int k = 0; k < count; k++)
        destroy_events(&s.samples[k], MOST_REPEATS);
    if (s.flushed)
        cudaFree(s.flushed);
    cudaStreamDestroy(s.stream);
    free(s.samples);
    return good;
}
