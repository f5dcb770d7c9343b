#include "host/verdict.h"
#include "runner/bench.h"
#include "runner/bench_table.h"
#include "runner/check.h"
#include "runner/cuda.h"
#include "runner/problem.h"
#include "runner/timing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_SETS = 64 };
static const double seconds_per_shape = 2.0;

struct bench {
    const struct kernel *kernels; // [count]
    int count;
    const struct device *device;
    struct results_run run;
    int shapes;   // at which something was timed
    int rejected; // kernels that were wrong at a shape
};

// The sets of tensors that the kernels share, and a workspace large enough for each: they run one after another.
struct sets {
    struct device_problem set[MAX_SETS];
    int count;
    struct device_tensor workspace;
};

struct contender {
    const struct kernel *kernel;
    const struct sets *sets;
    double relative_rms;
};

static cudaError_t launch(void *context, int set, cudaStream_t stream) {
    const struct contender *contender = context;
    struct attention_problem problem = contender->sets->set[set].problem;
    problem.workspace = contender->sets->workspace.data;
    return contender->kernel->attention_forward(&problem, stream);
}

// Runs the kernel once on set 0 and compares the output with the reference.
static bool verify(struct contender *contender, const struct host_inputs *inputs, const struct row_sample *sample,
                   const struct reference *reference) {
    const struct device_problem *set = &contender->sets->set[0];
    struct verdict verdict;
    struct message cause;
    enum device_state state;
    tensor_poison(&set->o);
    CUDA(cudaDeviceSynchronize());
    if (!check_finish(launch(contender, 0, NULL), 0, "attention_forward", &state, &cause)) {
        printf("  %-36s %s\n", contender->kernel->argument->name, cause.text);
        if (state != DEVICE_WELL)
            message_exit(EXIT_CHECK_FAILED,
                         "%s broke the device's context: make check says more; nothing of this shape was recorded",
                         contender->kernel->argument->name);
        return false;
    }
    verdict_begin(&verdict, inputs, sample, reference);
    problem_judge(set, &verdict);
    bool right = verdict_end(&verdict);
    contender->relative_rms = verdict.relative_rms;
    if (!right) {
        printf("  %-36s is wrong here and was not timed: make check says more\n", contender->kernel->argument->name);
        verdict_explain(&verdict, stdout);
    }
    verdict_free(&verdict);
    return right;
}

static struct device_tensor create_workspace(const struct bench *bench, const struct attention_problem *problem) {
    size_t most = 0;
    for (int i = 0; i < bench->count; i++) {
        const struct attention_lesson *lesson = bench->kernels[i].lesson;
        size_t bytes = lesson->workspace_bytes ? lesson->workspace_bytes(problem) : 0;
        most = bytes > most ? bytes : most;
    }
    struct device_tensor none = {0};
    return most ? tensor_create((int64_t)((most + sizeof(float) - 1) / sizeof(float)), false) : none;
}

static void print_heading(const struct attention_shape *s, int sets) {
    char text[SHAPE_TEXT];
    shape_text(s, text);
    printf("\nB,H,N,D = %s%s, fp32, %d set%s of inputs\n", text, s->causal ? " causal" : "", sets,
           sets == 1 ? "" : "s");
    printf("  %-36s %10s %10s %10s %8s %8s %12s %8s %8s %8s\n", "", "median", "min", "p95", "TFLOP/s", "GB/s",
           "of the limit", "before", "first", "rms");
}

static void print_row(const struct bench *bench, const struct attention_shape *s, const struct timed *timed, int k) {
    const struct contender *contender = timed[k].context;
    const struct results_timing *t = &timed[k].result;
    double seconds = t->median_us * 1e-6, flops = shape_flops(s), bytes = shape_bytes(s);
    double compute = flops / (bench->device->peak_tflops * 1e12), memory = bytes / (bench->device->peak_gb_per_s * 1e9);
    char median[BENCH_TEXT], min[BENCH_TEXT], p95[BENCH_TEXT], before[BENCH_TEXT], first[BENCH_TEXT], limit[BENCH_TEXT];
    snprintf(limit, sizeof limit, "%.1f%% %s", 100 * fmax(compute, memory) / seconds,
             compute > memory ? "fp32" : "mem");
    printf("  %-36s %10s %10s %10s %8.2f %8.1f %12s %8s %8s %8.1e\n", contender->kernel->argument->name,
           bench_duration(t->median_us, median), bench_duration(t->min_us, min), bench_duration(t->p95_us, p95),
           flops / seconds * 1e-12, bytes / seconds * 1e-9, limit,
           bench_ratio(k ? timed[k - 1].result.median_us / t->median_us : 0, before),
           bench_ratio(k ? timed[0].result.median_us / t->median_us : 0, first), contender->relative_rms);
}

// Verifies and times the kernels on sets that are there, prints the rows and records them.
static void time_kernels(struct bench *bench, const struct host_inputs *inputs, const struct sets *sets) {
    const struct attention_shape *s = &inputs->shape;
    struct contender contenders[MAX_KERNELS];
    struct timed timed[MAX_KERNELS];
    struct message message;
    int count = 0, failed;
    int64_t rows = shape_q_elements(s) / s->head_dim;
    struct row_sample sample = sample_rows(rows, s->nq, 2.0 * s->nk * s->head_dim, bench->run.sm_count);
    struct reference reference = reference_attention(inputs, &sample);
    print_heading(s, sets->count);
    for (int i = 0; i < bench->count; i++) {
        const struct kernel *kernel = &bench->kernels[i];
        struct contender *contender = &contenders[count];
        step_begin("%s", kernel->argument->name);
        if (!problem_covered(kernel, s, bench->device, &message)) {
            printf("  %-36s not covered: %s\n", kernel->argument->name, message.text);
            continue;
        }
        *contender = (struct contender){kernel, sets, 0};
        if (verify(contender, inputs, &sample, &reference))
            timed[count++] = (struct timed){.launch = launch, .context = contender};
        else
            bench->rejected++;
    }
    if (count && !timing_run(timed, count, sets->count, seconds_per_shape, &failed))
        message_exit(EXIT_CHECK_FAILED, "%s failed while it was timed: %s",
                     ((struct contender *)timed[failed].context)->kernel->argument->name,
                     cudaGetErrorString(cudaGetLastError()));
    for (int k = 0; k < count; k++) {
        print_row(bench, s, timed, k);
        if (!results_add_attention(&bench->run, contenders[k].kernel->argument->name, s, &timed[k].result,
                                   contenders[k].relative_rms, bench->device->peak_tflops, bench->device->peak_gb_per_s,
                                   &message))
            message_exit(EXIT_CHECK_FAILED, "%s", message.text);
    }
    fflush(stdout);
    bench->shapes += count > 0;
    reference_free(&reference);
    sample_free(&sample);
}

static bool any_covers(const struct bench *bench, const struct attention_shape *shape, struct message *reason) {
    for (int i = 0; i < bench->count; i++)
        if (problem_covered(&bench->kernels[i], shape, bench->device, reason))
            return true;
    return false;
}

static void bench_shape(struct bench *bench, const struct attention_shape *shape, bool asked_for, uint64_t seed) {
    struct sets sets = {.count = timing_sets(shape_bytes(shape), bench->device->l2_bytes, MAX_SETS)};
    struct message reason;
    char text[SHAPE_TEXT];
    shape_text(shape, text);
    step_begin("%s", text);
    bool fits = any_covers(bench, shape, &reason);
    for (int i = 0; fits && i < bench->count; i++)
        fits = problem_fits(&bench->kernels[i], shape, bench->device, sets.count, &reason);
    if (!fits && asked_for)
        message_exit(EXIT_BAD_INPUT, "SHAPE=%s: %s", text, reason.text);
    if (!fits) {
        printf("\nB,H,N,D = %s: not timed: %s\n", text, reason.text);
        return;
    }
    struct host_inputs inputs = inputs_attention(shape, INPUTS_NORMAL, seed);
    for (int i = 0; i < sets.count; i++)
        sets.set[i] = problem_create(&inputs, NULL, bench->device, false);
    sets.workspace = create_workspace(bench, &sets.set[0].problem);
    time_kernels(bench, &inputs, &sets);
    tensor_free(&sets.workspace);
    for (int i = 0; i < sets.count; i++)
        problem_free(&sets.set[i]);
    inputs_free(&inputs);
}

int bench_attention(const struct kernel *kernels, int count, const struct device *device,
                    const struct arguments *arguments) {
    static const int head_dims[] = {64, 128};
    uint64_t seed = check_seed(arguments);
    if (arguments->has_shape && arguments->shape.is_matrix)
        message_exit(EXIT_BAD_INPUT, "SHAPE=%s has two numbers, and attention needs four: B,H,N,D",
                     arguments->shape_text);
    struct bench bench = {kernels, count, device, bench_start(device, arguments), 0, 0};
    if (arguments->has_shape)
        bench_shape(&bench, &arguments->shape.attention, true, seed);
    for (int d = 0; !arguments->has_shape && d < 2; d++)
        for (int n = arguments->quick ? 1024 : 256; n <= (arguments->quick ? 1024 : 8192); n *= 2) {
            struct attention_shape shape = {1, 16, 16, n, n, head_dims[d], arguments->causal, arguments->layout};
            bench_shape(&bench, &shape, false, seed++);
        }
    if (bench.shapes)
        bench_recorded(&bench.run, "attention.csv");
    return bench.rejected || !bench.shapes ? EXIT_CHECK_FAILED : 0;
}
