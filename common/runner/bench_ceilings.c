#include "dtype.h"
#include "host/inputs.h"
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
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const double ceilings_seconds = 1;
// Of these; the rest is for the tensor cores, which are timed by themselves: at the power that they take the clock may
// drop, and that is no matter of the copy and of the multiply-adds.
static const double basic_seconds = 0.6;

// What multiplies on the tensor cores, each in a library of its own beside that of the copy, since each is compiled for
// other architectures.
struct tensor_cores {
    const char *what, *instruction, *file;
    int least_capability, most_capability;
    cudaError_t (*launch)(const void *operands, float *sink, cudaStream_t stream);
    size_t (*operand_count)(void);
    size_t (*threads)(void);
    double (*flops)(void);
    void *operands;
    float *sink;
};

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
        message_exit(EXIT_BAD_INPUT, "%s has no %s(): build it from common/runner/", path, name);
    return found;
}

static void *open_library(const char *file) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s%s", strchr(file, '/') ? "" : "./", file);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        message_exit(EXIT_BAD_INPUT, "%s cannot be loaded: %s", file, dlerror());
    return library;
}

static struct ceilings load(const char *file) {
    struct ceilings c = {0};
    void *library = open_library(file);
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
    c->from = bench_workspace(c->bytes, 1);
    c->to = bench_workspace(c->bytes, 1);
    c->sink = bench_workspace(c->fma_threads() * sizeof(float), 1);
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
    return c->fma((float *)c->sink.data, stream);
}

// False, and one line, where the GPU has no such instruction or the library is not there.
static bool load_tensor_cores(struct tensor_cores *p, const struct bench *bench) {
    const char *ceilings = bench->arguments->ceilings, *slash = strrchr(ceilings, '/');
    int capability = bench->device->limits.compute_capability;
    char file[PATH_MAX];
    if (capability < p->least_capability || capability > p->most_capability) {
        printf("%s is not measured: bf16 %s is of compute capability %.1f%s, and this GPU has %.1f\n", p->what,
               p->instruction, p->least_capability / 10.0,
               p->most_capability == p->least_capability ? " alone" : " and newer", capability / 10.0);
        return false;
    }
    snprintf(file, sizeof file, "%.*s%s", slash ? (int)(slash - ceilings + 1) : 0, ceilings, p->file);
    if (access(file, F_OK)) {
        printf("%s is not measured: there is no %s\n", p->what, file);
        return false;
    }
    void *library = open_library(file);
    *(void **)&p->launch = symbol(library, file, "ceiling_tensor_cores");
    *(void **)&p->operand_count = symbol(library, file, "ceiling_tensor_cores_operands");
    *(void **)&p->threads = symbol(library, file, "ceiling_tensor_cores_threads");
    *(void **)&p->flops = symbol(library, file, "ceiling_tensor_cores_flops");
    return true;
}

// N(0,1), rounded to bf16.
static void create_operands(struct tensor_cores *p) {
    size_t count = p->operand_count();
    float *normal = malloc(count * sizeof *normal);
    uint16_t *rounded = malloc(count * sizeof *rounded);
    if (!normal || !rounded)
        message_exit(EXIT_CHECK_FAILED, "out of memory");
    inputs_normal_row(normal, 0, (int)count, 1, 0);
    dtype_store(ATTENTION_BF16, normal, (int64_t)count, rounded);
    CUDA(cudaMalloc(&p->operands, count * sizeof *rounded));
    CUDA(cudaMalloc((void **)&p->sink, p->threads() * sizeof *p->sink));
    CUDA(cudaMemcpy(p->operands, rounded, count * sizeof *rounded, cudaMemcpyHostToDevice));
    free(rounded);
    free(normal);
}

static cudaError_t launch_tensor_cores(void *context, int set, cudaStream_t stream) {
    const struct tensor_cores *p = context;
    (void)set;
    return p->launch(p->operands, p->sink, stream);
}

// The rates of the tensor cores, as far as this GPU has them: a line, and a row each.
static void bench_tensor_cores(struct bench *bench, struct results_rows *rows) {
    struct tensor_cores all[] = {{.what = "mma_bf16",
                                  .instruction = "mma.sync",
                                  .file = "ceiling_mma.so",
                                  .least_capability = 80,
                                  .most_capability = INT_MAX},
                                 {.what = "wgmma_bf16",
                                  .instruction = "wgmma",
                                  .file = "ceiling_wgmma.so",
                                  .least_capability = 90,
                                  .most_capability = 90}};
    enum { KINDS = sizeof all / sizeof *all };
    struct tensor_cores *measured[KINDS];
    struct timed timed[KINDS];
    struct timing_sets sets = {0, 1, 0};
    int count = 0, failed;
    for (int i = 0; i < KINDS; i++)
        if (load_tensor_cores(&all[i], bench)) {
            create_operands(&all[i]);
            timed[count] = (struct timed){.launch = launch_tensor_cores, .context = &all[i]};
            measured[count++] = &all[i];
        }
    if (!count)
        return;
    if (!timing_run(timed, count, &sets, ceilings_seconds - basic_seconds, &failed))
        message_exit(EXIT_CHECK_FAILED, "the microbenchmark of bf16 %s failed: %s", measured[failed]->instruction,
                     cudaGetErrorString(cudaGetLastError()));
    message_clear_line();
    for (int i = 0; i < count; i++) {
        const struct results_timing *time = &timed[i].result;
        double teraflops = 1e-6 * measured[i]->flops();
        printf("%s%s %.0f TFLOP/s%s", i ? ", " : "reached in bf16: ", measured[i]->instruction,
               teraflops / time->median_us, bench_noise(time));
        estimate_kernel(&bench->estimate, 1e-6 * time->median_us);
        results_add_ceiling(rows, &bench->run, measured[i]->what, "TFLOP/s", teraflops, time);
        bench->noisy += time->noisy;
        cudaFree(measured[i]->operands);
        cudaFree(measured[i]->sink);
    }
    printf("\n");
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
    if (!timing_run(timed, COUNT, &sets, basic_seconds, &failed))
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
    bench_tensor_cores(bench, &rows);
    bench_record(&bench->run, results_ceilings, &rows);
    fflush(stdout);
    tensor_free(&c.from);
    tensor_free(&c.to);
    tensor_free(&c.sink);
    return true;
}
