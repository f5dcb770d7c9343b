#include "host/inputs.h"
#include "host/softmax.h"
#include "message.h"
#include "runner/bench_progress.h"
#include "runner/bench_run.h"
#include "runner/bench_table.h"
#include "runner/check.h"
#include "runner/cuda.h"
#include "runner/softmax_problem.h"
#include "runner/timing.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_SETS = 16 };
const double softmax_seconds = 1.0;

struct sets {
    struct softmax_device_problem set[MAX_SETS];
    struct timing_sets rotation;
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
    bench_step("verifying %s", name);
    tensor_poison(&set->out);
    CUDA(cudaDeviceSynchronize());
    if (!check_finish(launch(contender, 0, NULL), 0, "softmax_forward", &state, &cause)) {
        message_clear_line();
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
    message_clear_line();
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
        printf("%s\n", bench_noise(t));
    }
    fflush(stdout);
}

static void print_heading(const struct softmax_shape *shape, const struct sets *sets) {
    message_clear_line();
    printf("\nROWS,COLUMNS = %lld,%d, fp32, %d set%s of inputs%s\n", (long long)shape->rows, shape->columns,
           sets->rotation.count, sets->rotation.count == 1 ? "" : "s",
           sets->rotation.flush_bytes ? ", L2 overwritten before each launch" : "");
    printf("  %-36s %10s %10s %10s %8s %10s %10s %8s %8s\n", "", "median", "min", "p95", "GB/s", "of copy", "of peak",
           "before", "error");
    fflush(stdout);
}

// Prints and records what was timed; timed[count] is the copy.
static void finish(struct bench *bench, const struct softmax_shape *shape, const struct timed *timed, int count) {
    struct results_rows rows = {0};
    message_clear_line();
    print_rows(bench, shape, timed, count);
    for (int k = 0; k <= count; k++)
        estimate_kernel(&bench->estimate, 1e-6 * timed[k].result.median_us);
    for (int k = 0; k < count; k++) {
        const struct contender *contender = timed[k].context;
        bench->noisy += timed[k].result.noisy;
        results_add_softmax(&rows, &bench->run, contender->kernel->argument->name, shape, &timed[k].result,
                            contender->max_relative_error, bandwidth(shape, &timed[count]));
    }
    bench_record(&bench->run, RESULTS_SOFTMAX, &rows);
}

// Verifies and times the kernels, and a copy beside them. Returns how many were right.
static int time_kernels(struct bench *bench, const struct softmax_shape *shape, const float *in, int64_t kept,
                        const struct sets *sets) {
    struct contender contenders[MAX_KERNELS + 1];
    struct timed timed[MAX_KERNELS + 1];
    int count = 0, failed;
    struct row_sample sample = sample_rows(shape->rows, shape->rows, 20.0 * shape->columns, (uint64_t)shape->columns);
    print_heading(shape, sets);
    for (int i = 0; i < bench->softmaxes; i++) {
        const struct kernel *kernel = &bench->softmax[i];
        struct contender *contender = &contenders[count];
        *contender = (struct contender){.kernel = kernel, .sets = sets};
        contender->workspace = bench_workspace(kernel->softmax_workspace_bytes(&sets->set[0].problem));
        if (verify(contender, shape, in, kept, &sample)) {
            timed[count++] = (struct timed){.launch = launch, .context = contender};
        } else {
            bench->rejected++;
            tensor_free(&contender->workspace);
        }
    }
    contenders[count] = (struct contender){.sets = sets};
    timed[count] = (struct timed){.launch = launch, .context = &contenders[count]};
    if (count && !timing_run(timed, count + 1, &sets->rotation, softmax_seconds, &failed))
        message_exit(EXIT_CHECK_FAILED, "%s failed while it was timed: %s",
                     failed < count ? contenders[failed].kernel->argument->name : "cudaMemcpyAsync",
                     cudaGetErrorString(cudaGetLastError()));
    if (count)
        finish(bench, shape, timed, count);
    for (int k = 0; k < count; k++)
        tensor_free(&contenders[k].workspace);
    sample_free(&sample);
    return count;
}

bool bench_softmax(struct bench *bench, const struct softmax_shape *shape, uint64_t seed) {
    double bytes = 8.0 * (double)shape->rows * shape->columns;
    struct sets sets = {.rotation = timing_sets(bytes, bench->device->l2_bytes, MAX_SETS, false)};
    struct message reason;
    int64_t kept;
    for (int i = 0; i < bench->softmaxes; i++) {
        if (softmax_problem_fits(&bench->softmax[i], shape, bench->device, sets.rotation.count, &reason))
            continue;
        if (bench->arguments->has_shape)
            message_exit(EXIT_BAD_INPUT, "SHAPE=%lld,%d %s: use a smaller one", (long long)shape->rows, shape->columns,
                         reason.text);
        message_clear_line();
        printf("\nROWS,COLUMNS = %lld,%d: not timed: %s\n", (long long)shape->rows, shape->columns, reason.text);
        return false;
    }
    float *in = inputs_matrix(shape, INPUTS_NORMAL, seed, &kept);
    for (int i = 0; i < sets.rotation.count; i++)
        sets.set[i] = softmax_problem_create(shape, in, kept, NULL, bench->device);
    int count = time_kernels(bench, shape, in, kept, &sets);
    for (int i = 0; i < sets.rotation.count; i++)
        softmax_problem_free(&sets.set[i]);
    free(in);
    return count > 0;
}
