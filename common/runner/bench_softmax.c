#include "host/inputs.h"
#include "host/softmax.h"
#include "runner/bench.h"
#include "runner/bench_table.h"
#include "runner/check.h"
#include "runner/cuda.h"
#include "runner/softmax_problem.h"
#include "runner/timing.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_SETS = 16 };
static const double seconds_per_shape = 1.0;

struct bench {
    const struct kernel *kernels; // [count]
    int count;
    const struct device *device;
    struct results_run run;
    int shapes, rejected;
};

struct sets {
    struct softmax_device_problem set[MAX_SETS];
    int count;
};

// kernel is NULL for the copy that shows what the memory can do.
struct contender {
    const struct kernel *kernel;
    const struct sets *sets;
    struct device_tensor workspace;
    double max_relative_error;
};

static cudaError_t launch(void *context, int set, cudaStream_t stream) {
    const struct contender *contender = context;
    struct softmax_problem problem = contender->sets->set[set].problem;
    problem.workspace = contender->workspace.data;
    if (contender->kernel)
        return contender->kernel->softmax_forward(&problem, stream);
    return cudaMemcpyAsync(problem.out, problem.in, (size_t)problem.rows * (size_t)problem.columns * sizeof(float),
                           cudaMemcpyDeviceToDevice, stream);
}

static bool verify(struct contender *contender, const struct softmax_shape *shape, const float *in, int64_t kept,
                   const struct row_sample *sample) {
    const struct softmax_device_problem *set = &contender->sets->set[0];
    const char *name = contender->kernel->argument->name;
    struct softmax_verdict verdict;
    struct message cause;
    enum device_state state;
    tensor_poison(&set->out);
    CUDA(cudaDeviceSynchronize());
    if (!check_finish(launch(contender, 0, NULL), 0, "softmax_forward", &state, &cause)) {
        printf("  %-36s %s\n", name, cause.text);
        if (state != DEVICE_WELL)
            message_exit(EXIT_CHECK_FAILED,
                         "%s broke the device's context: make check says more; nothing of this shape was recorded",
                         name);
        return false;
    }
    softmax_verdict_begin(&verdict, shape, in, kept, sample);
    softmax_problem_judge(set, &verdict);
    contender->max_relative_error = verdict.max_relative_error;
    if (softmax_verdict_end(&verdict))
        return true;
    printf("  %-36s is wrong here and was not timed: make check says more\n", name);
    softmax_verdict_explain(&verdict, stdout);
    return false;
}

static double bandwidth(const struct softmax_shape *shape, const struct timed *timed) {
    return 8e-3 * (double)shape->rows * shape->columns / timed->result.median_us;
}

static void print_rows(const struct bench *bench, const struct softmax_shape *shape, const struct timed *timed,
                       int count) {
    double copy = bandwidth(shape, &timed[count]);
    for (int k = 0; k <= count; k++) {
        const struct contender *contender = timed[k].context;
        const struct results_timing *t = &timed[k].result;
        char median[BENCH_TEXT], min[BENCH_TEXT], p95[BENCH_TEXT], before[BENCH_TEXT];
        printf("  %-36s %10s %10s %10s %8.1f %9.1f%% %9.1f%% %8s",
               contender->kernel ? contender->kernel->argument->name : "cudaMemcpy",
               bench_duration(t->median_us, median), bench_duration(t->min_us, min), bench_duration(t->p95_us, p95),
               bandwidth(shape, &timed[k]), 100 * bandwidth(shape, &timed[k]) / copy,
               100 * bandwidth(shape, &timed[k]) / bench->device->peak_gb_per_s,
               bench_ratio(k && contender->kernel ? timed[k - 1].result.median_us / t->median_us : 0, before));
        if (contender->kernel)
            printf(" %8.1e", contender->max_relative_error);
        putchar('\n');
    }
    fflush(stdout);
}

static void time_kernels(struct bench *bench, const struct softmax_shape *shape, const float *in, int64_t kept,
                         const struct sets *sets) {
    struct contender contenders[MAX_KERNELS + 1];
    struct timed timed[MAX_KERNELS + 1];
    struct message error;
    int count = 0, failed;
    struct row_sample sample = sample_rows(shape->rows, shape->rows, 20.0 * shape->columns, (uint64_t)shape->columns);
    printf("\nROWS,COLUMNS = %lld,%d, fp32, %d set%s of inputs\n", (long long)shape->rows, shape->columns, sets->count,
           sets->count == 1 ? "" : "s");
    printf("  %-36s %10s %10s %10s %8s %10s %10s %8s %8s\n", "", "median", "min", "p95", "GB/s", "of copy", "of peak",
           "before", "error");
    for (int i = 0; i < bench->count; i++) {
        const struct kernel *kernel = &bench->kernels[i];
        struct contender *contender = &contenders[count];
        size_t bytes = kernel->softmax_workspace_bytes(&sets->set[0].problem);
        step_begin("%s", kernel->argument->name);
        *contender = (struct contender){.kernel = kernel, .sets = sets};
        if (bytes)
            contender->workspace = tensor_create((int64_t)((bytes + sizeof(float) - 1) / sizeof(float)), false);
        if (verify(contender, shape, in, kept, &sample)) {
            timed[count++] = (struct timed){.launch = launch, .context = contender};
        } else {
            bench->rejected++;
            tensor_free(&contender->workspace);
        }
    }
    contenders[count] = (struct contender){.sets = sets};
    timed[count] = (struct timed){.launch = launch, .context = &contenders[count]};
    if (!timing_run(timed, count + 1, sets->count, seconds_per_shape, &failed))
        message_exit(EXIT_CHECK_FAILED, "%s failed while it was timed: %s",
                     failed < count ? contenders[failed].kernel->argument->name : "cudaMemcpyAsync",
                     cudaGetErrorString(cudaGetLastError()));
    print_rows(bench, shape, timed, count);
    for (int k = 0; k < count; k++) {
        if (!results_add_softmax(&bench->run, contenders[k].kernel->argument->name, shape, &timed[k].result,
                                 contenders[k].max_relative_error, bandwidth(shape, &timed[count]), &error))
            message_exit(EXIT_CHECK_FAILED, "%s", error.text);
        tensor_free(&contenders[k].workspace);
    }
    bench->shapes += count > 0;
    sample_free(&sample);
}

static void bench_shape(struct bench *bench, const struct softmax_shape *shape, bool asked_for, uint64_t seed) {
    double bytes = 8.0 * (double)shape->rows * shape->columns;
    struct sets sets = {.count = timing_sets(bytes, bench->device->l2_bytes, MAX_SETS)};
    struct message reason;
    int64_t kept;
    step_begin("%lld,%d", (long long)shape->rows, shape->columns);
    for (int i = 0; i < bench->count; i++) {
        if (softmax_problem_fits(&bench->kernels[i], shape, bench->device, sets.count, &reason))
            continue;
        if (asked_for)
            message_exit(EXIT_BAD_INPUT, "SHAPE=%lld,%d %s: use a smaller one", (long long)shape->rows, shape->columns,
                         reason.text);
        printf("\nROWS,COLUMNS = %lld,%d: not timed: %s\n", (long long)shape->rows, shape->columns, reason.text);
        return;
    }
    float *in = inputs_matrix(shape, INPUTS_NORMAL, seed, &kept);
    for (int i = 0; i < sets.count; i++)
        sets.set[i] = softmax_problem_create(shape, in, kept, NULL, bench->device);
    time_kernels(bench, shape, in, kept, &sets);
    for (int i = 0; i < sets.count; i++)
        softmax_problem_free(&sets.set[i]);
    free(in);
}

int bench_softmax(const struct kernel *kernels, int count, const struct device *device,
                  const struct arguments *arguments) {
    static const struct softmax_shape shapes[] = {{4096, 1024}, {4096, 4096}, {16384, 4096}, {32768, 8192}};
    struct bench bench = {kernels, count, device, bench_start(device, arguments), 0, 0};
    uint64_t seed = check_seed(arguments);
    if (arguments->has_shape)
        bench_shape(&bench, &arguments->shape.softmax, true, seed);
    for (int i = 0; !arguments->has_shape && i < (arguments->quick ? 1 : 4); i++)
        bench_shape(&bench, &shapes[i], false, seed + (uint64_t)i);
    if (bench.shapes)
        bench_recorded(&bench.run, "softmax.csv");
    return bench.rejected || !bench.shapes ? EXIT_CHECK_FAILED : 0;
}
