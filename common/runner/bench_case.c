#include "message.h"
#include "runner/bench_progress.h"
#include "runner/bench_run.h"
#include "runner/bench_table.h"
#include "runner/cuda.h"
#include "runner/finish.h"
#include "runner/problem.h"
#include "runner/timing.h"

#include <stdio.h>

enum { MAX_SETS = 64 };

// The sets of tensors that the kernels share, and a workspace large enough for each: they run one after another.
struct sets {
    struct device_problem set[MAX_SETS];
    struct timing_sets rotation;
    struct device_tensor workspace;
};

struct timed_kernel {
    const struct kernel *kernel; // NULL: a copy of as many bytes
    const struct sets *sets;
    double error;
};

// A case with what is needed to time kernels there.
struct case_timing {
    struct bench *bench;
    const struct operation *operation;
    const struct problem_case *which;
    struct host_problem host;
    struct sets sets;
    bool warm;
    bool taken[MAX_KERNELS]; // kernels that cover the case and whose memory is there
    struct timed_kernel timed_kernel[MAX_KERNELS + 1];
    struct timed timed[2 * (MAX_KERNELS + 1)]; // [count] cold, then the copy where there is one, then [count] warm
    int count;
};

static cudaError_t launch(void *context, int set, cudaStream_t stream) {
    const struct timed_kernel *timed_kernel = context;
    return problem_launch(&timed_kernel->sets->set[set], timed_kernel->kernel, &timed_kernel->sets->workspace, stream);
}

static cudaError_t launch_copy(void *context, int set, cudaStream_t stream) {
    const struct timed_kernel *timed_kernel = context;
    const struct device_problem *p = &timed_kernel->sets->set[set];
    const struct device_tensor *from = &p->tensor[p->host->operation->copied], *to = &p->tensor[p->host->inputs];
    to = to->bytes < from->bytes ? &timed_kernel->sets->workspace : to;
    return cudaMemcpyAsync(to->data, from->data, from->bytes, cudaMemcpyDeviceToDevice, stream);
}

static void print_kernel_line(const struct kernel *kernel, const char *what, const char *why) {
    message_clear_line();
    printf("  %-36s %s%s\n", kernel->argument->name, what, why);
}

static bool judge(struct case_timing *r, struct timed_kernel *timed_kernel, const struct row_sample sample[MAX_TENSORS],
                  const void *reference) {
    const struct device_problem *set = &r->sets.set[0];
    bool right = true;
    for (int i = 0; i < r->host.outputs; i++) {
        struct verdict verdict;
        if (!problem_has_output(set, i))
            continue;
        verdict_begin(&verdict, &r->host, &sample[i], reference, i);
        problem_judge(set, &verdict);
        bool good = verdict_end(&verdict);
        if (right && !good)
            print_kernel_line(timed_kernel->kernel, "wrong output, so not timed: run make check", "");
        if (!good)
            verdict_explain(&verdict, true, stdout);
        timed_kernel->error = i ? timed_kernel->error : verdict_error(&verdict);
        right = right && good;
        verdict_free(&verdict);
    }
    return right;
}

// Runs the kernel once on set 0 and compares the outputs with the reference.
static bool verify(struct case_timing *r, struct timed_kernel *timed_kernel, int k, const struct row_sample *sample,
                   const void *reference) {
    const struct kernel *kernel = timed_kernel->kernel;
    struct message cause;
    enum device_state state;
    bench_step("verifying %s", kernel->argument->name);
    problem_poison(&r->sets.set[0]);
    CUDA(cudaDeviceSynchronize());
    struct device_counts before = device_counts();
    if (!launch_finish(launch(timed_kernel, 0, NULL), &before, r->operation->forward, &state, &cause)) {
        r->bench->skipped[k] = bench_is_baseline(kernel);
        print_kernel_line(kernel, r->bench->skipped[k] ? "cannot run here and is skipped from here on: " : "",
                          cause.text);
        if (state != DEVICE_WELL)
            message_exit(EXIT_CHECK_FAILED,
                         "%s broke the device's context: run make check; nothing was recorded for this shape",
                         kernel->argument->name);
        r->bench->rejected += !r->bench->skipped[k];
        return false;
    }
    bool right = judge(r, timed_kernel, sample, reference);
    r->bench->rejected += !right;
    return right;
}

static void print_heading(const struct case_timing *r) {
    char text[160];
    int sets = r->sets.rotation.count - r->sets.rotation.first;
    case_title(r->operation, r->which, text, sizeof text);
    printf("\n%s, %s%s, %d set%s of inputs%s\n", text, dtype_of(r->which->dtype)->name,
           r->bench->arguments->lse ? " with lse" : "", sets, sets == 1 ? "" : "s",
           r->sets.rotation.flush_bytes ? ", L2 overwritten before each launch" : "");
    bench_print_heading(r->operation);
    fflush(stdout);
}

// The number of the timing that is compared with the kernels, count, or none.
static const struct results_timing *copy_of(const struct case_timing *r) {
    return r->operation->times_copy ? &r->timed[r->count].result : NULL;
}

static void print_row(const struct case_timing *r, int k) {
    const struct timed_kernel *timed_kernel = r->timed[k].context;
    bool ladder = timed_kernel->kernel && k && !bench_is_baseline(timed_kernel->kernel);
    bench_print_row(&(struct bench_row){
        .operation = r->operation,
        .which = r->which,
        .device = r->bench->device,
        .kernel = timed_kernel->kernel,
        .timing = &r->timed[k].result,
        .warm = r->warm ? &r->timed[r->count + r->operation->times_copy + k].result : NULL,
        .copy = copy_of(r),
        .before = ladder ? &r->timed[k - 1].result : NULL,
        .first = k && timed_kernel->kernel ? &r->timed[0].result : NULL,
        .error = timed_kernel->error,
    });
}

// Prints and records what was timed.
static void finish(struct case_timing *r, int all) {
    struct bench *bench = r->bench;
    const struct device *device = bench->device;
    const struct results_timing *copy = copy_of(r);
    struct results_rows rows = {0};
    message_clear_line();
    for (int k = 0; k < r->count + r->operation->times_copy; k++) {
        print_row(r, k);
        estimate_kernel(&bench->estimate, 1e-6 * r->timed[k].result.median_us);
    }
    for (int i = 0; i < all; i++) {
        const struct timed_kernel *timed_kernel = r->timed[i].context;
        if (!timed_kernel->kernel)
            continue;
        bench->noisy += r->timed[i].result.noisy;
        results_add(&rows, &bench->run,
                    &(struct results_row){
                        .operation = r->operation,
                        .which = r->which,
                        .lesson = timed_kernel->kernel->argument->name,
                        .timing = &r->timed[i].result,
                        .error = timed_kernel->error,
                        .peak_tflops = device->peak_tflops[r->which->dtype],
                        .peak_gb_per_s = device->peak_gb_per_s,
                        .copy_gb_per_s = copy ? 1e-3 * r->operation->bytes(r->which) / copy->median_us : 0,
                        .lse = bench->arguments->lse,
                    });
    }
    bench_record(&bench->run, results_file_of(r->operation), &rows);
    fflush(stdout);
}

// Fills timed with the kernels that were right, and returns how many there are in all.
static int line_up(struct case_timing *r) {
    int count = r->count, copies = r->operation->times_copy;
    for (int k = 0; k < count; k++) {
        r->timed[k] = (struct timed){.launch = launch, .context = &r->timed_kernel[k]};
        r->timed[count + copies + k] = (struct timed){.launch = launch, .context = &r->timed_kernel[k], .warm = true};
    }
    if (copies) {
        r->timed_kernel[count] = (struct timed_kernel){.sets = &r->sets};
        r->timed[count] = (struct timed){.launch = launch_copy, .context = &r->timed_kernel[count]};
    }
    return count + copies + (r->warm ? count : 0);
}

// Verifies and times the kernels on sets that are there.
static void time_kernels(struct case_timing *r) {
    const struct operation *operation = r->operation;
    int failed;
    struct row_sample sample[MAX_TENSORS] = {0};
    verdict_sample(&r->host, operation->row_cost(r->which), (uint64_t)r->bench->run.sm_count, sample);
    void *reference = operation->refer(&r->host, sample);
    for (int i = 0; i < r->bench->kernels; i++) {
        r->timed_kernel[r->count] = (struct timed_kernel){&r->bench->kernel[i], &r->sets, 0};
        r->count += r->taken[i] && verify(r, &r->timed_kernel[r->count], i, sample, reference);
    }
    int all = r->count ? line_up(r) : 0;
    if (all && !timing_run(r->timed, all, &r->sets.rotation, operation->seconds, &failed)) {
        const struct timed_kernel *timed_kernel = r->timed[failed].context;
        message_exit(EXIT_CHECK_FAILED, "%s failed while it was timed: %s",
                     timed_kernel->kernel ? timed_kernel->kernel->argument->name : "cudaMemcpyAsync",
                     cudaGetErrorString(cudaGetLastError()));
    }
    if (all)
        finish(r, all);
    operation->release(reference);
    verdict_sample_free(sample);
}

// Chooses the kernels that can run here, and leaves of each other one why it cannot; "" of one that is of another
// operation or type. Returns the bytes of the largest workspace, -1 where no kernel can.
static int64_t choose(struct case_timing *r, struct message *why /* [kernels] */) {
    int64_t most = -1;
    for (int i = 0; i < r->bench->kernels; i++) {
        const struct kernel *kernel = &r->bench->kernel[i];
        struct obstacle obstacle = {.part = ""};
        why[i].text[0] = 0;
        r->taken[i] = false;
        if (kernel->operation != r->operation || r->bench->skipped[i] ||
            !(kernel_dtypes(kernel) & 1u << r->which->dtype))
            continue;
        r->taken[i] = kernel_covers(kernel, r->which, r->bench->device, &obstacle) &&
                      problem_fits(kernel, r->which, r->bench->device, r->sets.rotation.count, &obstacle.reason);
        if (r->taken[i] && r->bench->arguments->lse && !kernel_writes_optional(kernel))
            r->taken[i] = message_set(&obstacle.reason, "%s does not write the log-sum-exp", kernel->argument->name);
        if (!r->taken[i])
            why[i] = obstacle.reason;
        int64_t bytes = r->taken[i] ? (int64_t)kernel_workspace_bytes(kernel, r->which) : -1;
        most = bytes > most ? bytes : most;
    }
    return most;
}

static const char *first_reason(const struct bench *bench, const struct message *why) {
    for (int i = 0; i < bench->kernels; i++)
        if (*why[i].text)
            return why[i].text;
    return "no kernel can run here";
}

bool bench_case(struct bench *bench, const struct operation *operation, const struct problem_case *which,
                uint64_t seed) {
    static struct case_timing r;
    static struct message why[MAX_KERNELS];
    char text[160];
    r = (struct case_timing){
        .bench = bench, .operation = operation, .which = which, .warm = operation->warm && operation->warm(which)};
    case_title(operation, which, text, sizeof text);
    r.sets.rotation = timing_sets(operation->bytes(which), bench->device->l2_bytes, MAX_SETS, r.warm);
    int64_t workspace = choose(&r, why);
    if (workspace < 0 && bench->arguments->has_shape) {
        case_text(operation, which, text, sizeof text);
        message_exit(EXIT_BAD_INPUT, "%s: %s", text, first_reason(bench, why));
    }
    message_clear_line();
    if (workspace < 0) {
        printf("\n%s: not timed: %s\n", text, first_reason(bench, why));
        return false;
    }
    print_heading(&r);
    for (int i = 0; i < bench->kernels; i++)
        if (*why[i].text)
            print_kernel_line(&bench->kernel[i], "not timed: ", why[i].text);
    operation->make(which, seed, true, &r.host);
    for (int i = 0; i < r.sets.rotation.count; i++)
        r.sets.set[i] = problem_create(&r.host, NULL, bench->device, bench->arguments->lse, 0);
    if (operation->times_copy && (int64_t)r.sets.set[0].tensor[operation->copied].bytes > workspace)
        workspace = (int64_t)r.sets.set[0].tensor[operation->copied].bytes;
    r.sets.workspace = bench_workspace((size_t)workspace, which->devices);
    time_kernels(&r);
    tensor_free(&r.sets.workspace);
    for (int i = 0; i < r.sets.rotation.count; i++)
        problem_free(&r.sets.set[i]);
    host_problem_free(&r.host);
    return r.count > 0;
}
