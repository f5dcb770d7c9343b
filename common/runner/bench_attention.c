#include "host/verdict.h"
#include "message.h"
#include "runner/bench_progress.h"
#include "runner/bench_run.h"
#include "runner/bench_table.h"
#include "runner/check.h"
#include "runner/cuda.h"
#include "runner/problem.h"
#include "runner/timing.h"

#include <math.h>
#include <stdio.h>

enum { MAX_SETS = 64 };
const double attention_seconds = 2.0;

// The sets of tensors that the kernels share, and a workspace large enough for each: they run one after another.
struct sets {
    struct device_problem set[MAX_SETS];
    struct timing_sets rotation;
    struct device_tensor workspace;
};

struct contender {
    const struct kernel *kernel;
    const struct sets *sets;
    double relative_rms;
};

// A shape with what is needed to time kernels there.
struct round {
    struct bench *bench;
    const struct attention_shape *shape;
    struct sets sets;
    bool warm;
    bool taken[MAX_KERNELS]; // kernels that cover the shape and whose memory is there
    struct contender contender[MAX_KERNELS];
    struct timed timed[2 * MAX_KERNELS]; // [count] cold, then [count] warm where warm
    int count;
};

static cudaError_t launch(void *context, int set, cudaStream_t stream) {
    const struct contender *contender = context;
    struct attention_problem problem = contender->sets->set[set].problem;
    problem.workspace = contender->sets->workspace.data;
    return contender->kernel->attention_forward(&problem, stream);
}

static void say(const struct kernel *kernel, const char *what, const char *why) {
    message_clear_line();
    printf("  %-34s %s%s\n", kernel->argument->name, what, why);
}

// Runs the kernel once on set 0 and compares the output with the reference.
static bool verify(struct round *r, struct contender *contender, int k, const struct host_inputs *inputs,
                   const struct row_sample *sample, const struct reference *reference) {
    const struct device_problem *set = &r->sets.set[0];
    const struct kernel *kernel = contender->kernel;
    struct verdict verdict;
    struct message cause;
    enum device_state state;
    bench_step("verifying %s", kernel->argument->name);
    tensor_poison(&set->o);
    CUDA(cudaDeviceSynchronize());
    if (!check_finish(launch(contender, 0, NULL), 0, "attention_forward", &state, &cause)) {
        r->bench->left_out[k] = bench_is_baseline(kernel);
        say(kernel, r->bench->left_out[k] ? "cannot run here and is left out from here on: " : "", cause.text);
        if (state != DEVICE_WELL)
            message_exit(EXIT_CHECK_FAILED,
                         "%s broke the device's context: make check says more; nothing of this shape was recorded",
                         kernel->argument->name);
        r->bench->rejected += !r->bench->left_out[k];
        return false;
    }
    verdict_begin(&verdict, inputs, sample, reference);
    problem_judge(set, &verdict);
    bool right = verdict_end(&verdict);
    contender->relative_rms = verdict.relative_rms;
    if (!right) {
        say(kernel, "is wrong here and was not timed: make check says more", "");
        verdict_explain(&verdict, stdout);
    }
    verdict_free(&verdict);
    r->bench->rejected += !right;
    return right;
}

static void print_heading(const struct round *r) {
    char text[SHAPE_TEXT];
    int sets = r->sets.rotation.count - r->sets.rotation.first;
    shape_text(r->shape, text);
    printf("\nB,H,N,D = %s%s, fp32, %d set%s of inputs%s\n", text, r->shape->causal ? " causal" : "", sets,
           sets == 1 ? "" : "s", r->sets.rotation.flush_bytes ? ", L2 overwritten before each launch" : "");
    printf("  %-34s %10s %10s %10s %10s %8s %12s %8s %8s %8s\n", "", "median", "min", "p95", "warm", "TFLOP/s",
           "of the limit", "before", "first", "rms");
    fflush(stdout);
}

static void print_row(const struct round *r, int k) {
    const struct device *device = r->bench->device;
    const struct kernel *kernel = r->contender[k].kernel;
    const struct results_timing *t = &r->timed[k].result, *warm = r->warm ? &r->timed[r->count + k].result : NULL;
    double seconds = t->median_us * 1e-6, flops = shape_flops(r->shape);
    double compute = flops / (device->peak_tflops * 1e12),
           memory = shape_bytes(r->shape) / (device->peak_gb_per_s * 1e9);
    char median[BENCH_TEXT], min[BENCH_TEXT], p95[BENCH_TEXT], again[BENCH_TEXT] = "-", before[BENCH_TEXT],
                                                               first[BENCH_TEXT], limit[BENCH_TEXT];
    bool ladder = k && !bench_is_baseline(kernel);
    if (warm)
        bench_duration(warm->median_us, again);
    snprintf(limit, sizeof limit, "%.1f%% %s", 100 * fmax(compute, memory) / seconds,
             compute > memory ? "fp32" : "mem");
    printf("  %-34s %10s %10s %10s %10s %8.2f %12s %8s %8s %8.1e%s\n", kernel->argument->name,
           bench_duration(t->median_us, median), bench_duration(t->min_us, min), bench_duration(t->p95_us, p95), again,
           flops / seconds * 1e-12, limit,
           bench_ratio(ladder ? r->timed[k - 1].result.median_us / t->median_us : 0, before),
           bench_ratio(k ? r->timed[0].result.median_us / t->median_us : 0, first), r->contender[k].relative_rms,
           bench_noise(t->noisy || !warm ? t : warm));
}

// Prints and records what was timed.
static void finish(struct round *r) {
    struct bench *bench = r->bench;
    struct results_rows rows = {0};
    message_clear_line();
    for (int k = 0; k < r->count; k++) {
        print_row(r, k);
        estimate_kernel(&bench->estimate, 1e-6 * r->timed[k].result.median_us);
    }
    for (int i = 0; i < (r->warm ? 2 : 1) * r->count; i++) {
        const struct contender *contender = r->timed[i].context;
        bench->noisy += r->timed[i].result.noisy;
        results_add_attention(&rows, &bench->run, contender->kernel->argument->name, r->shape, &r->timed[i].result,
                              contender->relative_rms, bench->device->peak_tflops, bench->device->peak_gb_per_s);
    }
    bench_record(&bench->run, RESULTS_ATTENTION, &rows);
    fflush(stdout);
}

// Verifies and times the kernels on sets that are there.
static void time_kernels(struct round *r, const struct host_inputs *inputs) {
    const struct attention_shape *s = r->shape;
    int64_t rows = shape_q_elements(s) / s->head_dim;
    int failed;
    struct row_sample sample = sample_rows(rows, s->nq, 2.0 * s->nk * s->head_dim, r->bench->run.sm_count);
    struct reference reference = reference_attention(inputs, &sample);
    for (int i = 0; i < r->bench->attentions; i++) {
        r->contender[r->count] = (struct contender){&r->bench->attention[i], &r->sets, 0};
        r->count += r->taken[i] && verify(r, &r->contender[r->count], i, inputs, &sample, &reference);
    }
    for (int k = 0; k < r->count; k++) {
        r->timed[k] = (struct timed){.launch = launch, .context = &r->contender[k]};
        r->timed[r->count + k] = (struct timed){.launch = launch, .context = &r->contender[k], .warm = true};
    }
    int all = (r->warm ? 2 : 1) * r->count;
    if (r->count && !timing_run(r->timed, all, &r->sets.rotation, attention_seconds, &failed))
        message_exit(EXIT_CHECK_FAILED, "%s failed while it was timed: %s",
                     r->contender[failed % r->count].kernel->argument->name, cudaGetErrorString(cudaGetLastError()));
    if (r->count)
        finish(r);
    reference_free(&reference);
    sample_free(&sample);
}

// Chooses the kernels that can run here, and leaves of each other one why it cannot. Returns the bytes of the largest
// workspace, -1 where no kernel can.
static int64_t choose(struct round *r, struct message *why /* [attentions] */) {
    int64_t most = -1;
    for (int i = 0; i < r->bench->attentions; i++) {
        const struct kernel *kernel = &r->bench->attention[i];
        message_set(&why[i], "%s cannot run here", kernel->argument->name);
        r->taken[i] = !r->bench->left_out[i] && problem_covered(kernel, r->shape, r->bench->device, &why[i]) &&
                      problem_fits(kernel, r->shape, r->bench->device, r->sets.rotation.count, &why[i]);
        int64_t bytes = r->taken[i] ? (int64_t)problem_workspace_bytes(kernel, r->shape) : -1;
        most = bytes > most ? bytes : most;
    }
    return most;
}

bool bench_attention(struct bench *bench, const struct attention_shape *shape, uint64_t seed) {
    struct round r = {.bench = bench, .shape = shape, .warm = shape->nk <= MOST_WARM_KEYS};
    struct message why[MAX_KERNELS];
    char text[SHAPE_TEXT];
    shape_text(shape, text);
    r.sets.rotation = timing_sets(shape_bytes(shape), bench->device->l2_bytes, MAX_SETS, r.warm);
    int64_t workspace = choose(&r, why);
    if (workspace < 0 && bench->arguments->has_shape)
        message_exit(EXIT_BAD_INPUT, "SHAPE=%s: %s", text, why[0].text);
    message_clear_line();
    if (workspace < 0) {
        printf("\nB,H,N,D = %s: not timed: %s\n", text, why[0].text);
        return false;
    }
    print_heading(&r);
    for (int i = 0; i < bench->attentions; i++)
        if (!r.taken[i] && !bench->left_out[i])
            say(&bench->attention[i], "not timed: ", why[i].text);
    struct host_inputs inputs = inputs_attention(shape, INPUTS_NORMAL, seed);
    for (int i = 0; i < r.sets.rotation.count; i++)
        r.sets.set[i] = problem_create(&inputs, NULL, bench->device, false);
    r.sets.workspace = bench_workspace((size_t)workspace);
    time_kernels(&r, &inputs);
    tensor_free(&r.sets.workspace);
    for (int i = 0; i < r.sets.rotation.count; i++)
        problem_free(&r.sets.set[i]);
    inputs_free(&inputs);
    return r.count > 0;
}
