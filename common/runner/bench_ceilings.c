#include "message.h"
#include "runner/bench_progress.h"
#include "runner/bench_run.h"
#include "runner/bench_table.h"
#include "runner/ceilings.h"
#include "runner/cuda.h"
#include "runner/timing.h"

#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const double ceilings_seconds = 0.6;

struct ceilings {
    cudaError_t (*copy)(const void *from, void *to, size_t bytes, cudaStream_t stream);
    cudaError_t (*fma)(float *sink, cudaStream_t stream);
    size_t (*fma_threads)(void);
    double (*fma_flops)(void);
    struct device_tensor from, to, sink;
    size_t bytes; // of from, and of to
};

static void *symbol(void *library, const char *path, const char *name) {
    void *found = dlsym(library, name);
    if (!found)
        message_exit(EXIT_BAD_INPUT, "%s has no %s(): build it from common/runner/ceilings.cu", path, name);
    return found;
}

static struct ceilings load(const char *file) {
    struct ceilings c = {0};
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s%s", strchr(file, '/') ? "" : "./", file);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        message_exit(EXIT_BAD_INPUT, "%s cannot be loaded: %s", file, dlerror());
    *(void **)&c.copy = symbol(library, file, "ceiling_copy");
    *(void **)&c.fma = symbol(library, file, "ceiling_fma");
    *(void **)&c.fma_threads = symbol(library, file, "ceiling_fma_threads");
    *(void **)&c.fma_flops = symbol(library, file, "ceiling_fma_flops");
    return c;
}

// Two buffers that the L2 cache cannot hold, within an eighth of the memory that is free.
static void create_buffers(struct ceilings *c, size_t l2_bytes) {
    size_t free_bytes, total, least = (size_t)256 << 20;
    CUDA(cudaMemGetInfo(&free_bytes, &total));
    c->bytes = 4 * l2_bytes > least ? 4 * l2_bytes : least;
    c->bytes = (c->bytes > free_bytes / 8 ? free_bytes / 8 : c->bytes) / 256 * 256;
    c->from = bench_workspace(c->bytes);
    c->to = bench_workspace(c->bytes);
    c->sink = bench_workspace(c->fma_threads() * sizeof(float));
    CUDA(cudaMemset(c->from.data, 0, c->bytes));
}

static cudaError_t launch_memcpy(void *context, int set, cudaStream_t stream) {
    const struct ceilings *c = context;
    (void)set;
    return cudaMemcpyAsync(c->to.data, c->from.data, c->bytes, cudaMemcpyDeviceToDevice, stream);
}

static cudaError_t launch_copy(void *context, int set, cudaStream_t stream) {
    const struct ceilings *c = context;
    (void)set;
    return c->copy(c->from.data, c->to.data, c->bytes, stream);
}

static cudaError_t launch_fma(void *context, int set, cudaStream_t stream) {
    const struct ceilings *c = context;
    (void)set;
    return c->fma(c->sink.data, stream);
}

bool bench_ceilings(struct bench *bench) {
    enum { MEMCPY, COPY, FMA, COUNT };
    struct ceilings c = load(bench->arguments->ceilings);
    struct timed timed[COUNT] = {{.launch = launch_memcpy, .context = &c},
                                 {.launch = launch_copy, .context = &c},
                                 {.launch = launch_fma, .context = &c}};
    struct timing_sets sets = {0, 1, 0};
    struct results_rows rows = {0};
    int failed;
    create_buffers(&c, bench->device->l2_bytes);
    if (!timing_run(timed, COUNT, &sets, ceilings_seconds, &failed))
        message_exit(EXIT_CHECK_FAILED, "%s failed: %s",
                     failed == FMA ? "the multiply-add microbenchmark" : "the copy microbenchmark",
                     cudaGetErrorString(cudaGetLastError()));
    const struct results_timing *memcpy_time = &timed[MEMCPY].result, *copy_time = &timed[COPY].result;
    const struct results_timing *best = memcpy_time->median_us < copy_time->median_us ? memcpy_time : copy_time;
    double gigabytes = 2e-3 * (double)c.bytes, teraflops = 1e-6 * c.fma_flops();
    bool noisy = best->noisy || timed[FMA].result.noisy;
    for (int i = 0; i < COUNT; i++)
        estimate_kernel(&bench->estimate, 1e-6 * timed[i].result.median_us);
    results_add_ceiling(&rows, &bench->run, "copy", "GB/s", gigabytes, best);
    results_add_ceiling(&rows, &bench->run, "fma_fp32", "TFLOP/s", teraflops, &timed[FMA].result);
    message_clear_line();
    printf("\nreached: copy %.0f GB/s by %s (%.0f by %s), fp32 multiply-add %.1f TFLOP/s%s\n",
           gigabytes / best->median_us, best == memcpy_time ? "cudaMemcpy" : "a float4 kernel",
           gigabytes / fmax(memcpy_time->median_us, copy_time->median_us),
           best == memcpy_time ? "a float4 kernel" : "cudaMemcpy", teraflops / timed[FMA].result.median_us,
           bench_noise(timed[FMA].result.noisy ? &timed[FMA].result : best));
    bench->noisy += noisy;
    bench_record(&bench->run, RESULTS_CEILINGS, &rows);
    fflush(stdout);
    tensor_free(&c.from);
    tensor_free(&c.to);
    tensor_free(&c.sink);
    return true;
}
