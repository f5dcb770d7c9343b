#include "runner/bench.h"

#include "host/noise.h"
#include "host/resume.h"
#include "message.h"
#include "runner/bench_progress.h"
#include "runner/bench_run.h"
#include "runner/bench_table.h"
#include "runner/check.h"
#include "runner/clocks.h"
#include "runner/cuda.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

// A step of the plan: a case, or the ceilings where there is no operation.
struct step {
    const struct operation *operation;
    struct problem_case which;
    int ceilings_before; // how often they have been measured in this run before it
    uint64_t seed;
    char text[160];
};

struct plan {
    struct step step[MOST_UNITS]; // [bench->estimate.units]
    char state[PATH_MAX];         // where an incomplete run is remembered, "" for nowhere
};

static void add(struct bench *bench, struct plan *plan, struct step step, struct estimate_unit unit) {
    step.seed += (uint64_t)bench->estimate.units;
    if (!estimate_add(&bench->estimate, unit))
        message_exit(EXIT_BAD_INPUT, "a bench takes at most %d cases: give fewer SIZES", MOST_UNITS);
    plan->step[bench->estimate.units - 1] = step;
}

static void add_case(struct bench *bench, struct plan *plan, int index, const struct problem_case *which,
                     uint64_t seed) {
    const struct operation *operation = operations[index];
    struct step step = {.operation = operation, .which = *which, .seed = seed};
    int group = 1 + index * ATTENTION_DTYPES + (int)which->dtype;
    char title[sizeof step.text - 8];
    case_title(operation, which, title, sizeof title);
    snprintf(step.text, sizeof step.text, "%s%s%s", title, which->dtype ? ", " : "",
             which->dtype ? dtype_of(which->dtype)->name : "");
    add(bench, plan, step,
        (struct estimate_unit){group, operation->flops(which), operation->seconds,
                               operation->warm && operation->warm(which) ? 2 : 1, false});
}

static void add_ceilings(struct bench *bench, struct plan *plan, int before) {
    struct step step = {.ceilings_before = before, .text = "ceilings"};
    if (*bench->arguments->ceilings)
        add(bench, plan, step, (struct estimate_unit){GROUP_CEILINGS, 1, ceilings_seconds, 1, false});
}

// The types of an operation's kernels that are timed: the one that was asked for; else fp32, and of the types of 16
// bits, which are as fast as each other, one: bf16, where a kernel has it.
static unsigned types_of(const struct bench *bench, const struct operation *operation) {
    const struct arguments *a = bench->arguments;
    unsigned has = 0;
    for (int i = 0; i < bench->kernels; i++)
        if (bench->kernel[i].operation == operation)
            has |= kernel_dtypes(&bench->kernel[i]);
    if (a->has_dtype)
        return has & 1u << a->dtype;
    return has & 1u << ATTENTION_BF16 ? has & ~(1u << ATTENTION_FP16) : has;
}

static bool is_timed(const struct bench *bench, const struct operation *operation) {
    for (int i = 0; i < bench->kernels; i++)
        if (bench->kernel[i].operation == operation)
            return true;
    return false;
}

static void plan_operation(struct bench *bench, struct plan *plan, int index, uint64_t seed) {
    const struct operation *operation = operations[index];
    const struct arguments *a = bench->arguments;
    unsigned types = types_of(bench, operation);
    if (a->has_shape && a->shape.is_matrix && !operation->is_matrix)
        message_exit(EXIT_BAD_INPUT, "SHAPE=%s has two numbers, and %s needs four: B,H,N,D", a->shape_text,
                     operation->name);
    if (a->layout.layout == LAYOUT_PAGES && !operation->pages)
        message_exit(EXIT_BAD_INPUT, "%s has no pages: leave LAYOUT out, or bench lessons of decoding alone",
                     operation->name);
    if (!types)
        message_exit(EXIT_BAD_INPUT, "DTYPE=%s: no kernel of this bench takes it", dtype_of(a->dtype)->name);
    for (int type = 0; type < ATTENTION_DTYPES; type++) {
        struct problem_case cases[MAX_PLAN];
        int count = types & 1u << type ? operation->plan(a, (enum attention_dtype)type, cases) : 0;
        for (int i = 0; i < count; i++)
            add_case(bench, plan, index, &cases[i], seed);
    }
}

// The ceilings stand before and after the cases, so that a clock that changes on the way is seen in them.
static void make_plan(struct bench *bench, struct plan *plan) {
    uint64_t seed = check_seed(bench->arguments);
    add_ceilings(bench, plan, 0);
    for (int i = 0; operations[i]; i++)
        if (is_timed(bench, operations[i]))
            plan_operation(bench, plan, i, seed);
    add_ceilings(bench, plan, 1);
}

static struct results_run describe_run(const struct device *device, const struct arguments *arguments) {
    struct results_run run = {.folder = *arguments->results ? arguments->results : NULL,
                              .commit = arguments->commit,
                              .device = device->name,
                              .sm_count = device->sm_count};
    int version;
    clocks_open();
    clocks_driver(run.driver, sizeof run.driver);
    CUDA(cudaRuntimeGetVersion(&version));
    snprintf(run.cuda, sizeof run.cuda, "%d.%d", version / 1000, version % 1000 / 10);
    results_start(&run);
    printf("%s, %d SMs, fp32 peak %.1f TFLOP/s, memory %.0f GB/s, driver %s, CUDA %s\n", device->name, device->sm_count,
           device->peak_tflops[ATTENTION_FP32], device->peak_gb_per_s, *run.driver ? run.driver : "unknown", run.cuda);
    return run;
}

static void add_library(struct resume_facts *facts, const char *name, const char *file) {
    char what[RESUME_NAME], hash[17];
    snprintf(what, sizeof what, "the library of %.100s", name);
    resume_hash_file(file, hash);
    resume_add(facts, what, "%s", hash);
}

// All that has to be the same for two parts of a run to belong together.
static void gather_facts(const struct bench *bench, struct resume_facts *facts) {
    const struct arguments *a = bench->arguments;
    char hash[17];
    facts->count = 0;
    resume_add(facts, "the GPU", "%s %s", bench->device->name, bench->device->uuid);
    resume_add(facts, "the driver", "%s", bench->run.driver);
    resume_add(facts, "CUDA", "%s", bench->run.cuda);
    resume_add(facts, "the commit", "%s", a->commit);
    resume_hash_file("/proc/self/exe", hash);
    resume_add(facts, "the harness", "%s", hash);
    if (*a->ceilings)
        add_library(facts, "the ceilings", a->ceilings);
    for (int i = 0; i < a->kernels; i++)
        add_library(facts, a->kernel[i].name, a->kernel[i].library);
}

static bool is_recorded(const struct bench *bench, const struct step *step) {
    if (step->operation)
        return results_count(&bench->run, step->operation, &step->which) > 0;
    return results_count_ceilings(&bench->run, "copy") > step->ceilings_before;
}

// Where an incomplete run of the same kernels and shapes is remembered.
static void choose_state(const struct bench *bench, struct plan *plan) {
    const struct arguments *a = bench->arguments;
    char what[1 << 15];
    int length = snprintf(what, sizeof what, "%s %d%s", a->results, a->causal, a->lse ? " lse" : "");
    for (int i = 0; i < a->kernels; i++)
        length += snprintf(what + length, sizeof what - (size_t)length, " %s", a->kernel[i].name);
    for (int i = 0; i < bench->estimate.units; i++)
        length += snprintf(what + length, sizeof what - (size_t)length, " %s", plan->step[i].text);
    if (*a->state && *a->results)
        resume_path(a->state, what, plan->state, sizeof plan->state);
}

// Takes up the run that was stopped, or remembers this one.
static void resume(struct bench *bench, const struct plan *plan) {
    struct resume_facts facts, old;
    struct message message;
    char run[sizeof bench->run.run], fresh[sizeof bench->run.run];
    int kept = 0;
    if (!*plan->state)
        return;
    gather_facts(bench, &facts);
    snprintf(fresh, sizeof fresh, "%s", bench->run.run);
    if (!bench->arguments->fresh && resume_load(plan->state, run, sizeof run, &old)) {
        snprintf(bench->run.run, sizeof bench->run.run, "%s", run);
        for (int i = 0; i < bench->estimate.units; i++)
            kept += bench->estimate.unit[i].done = is_recorded(bench, &plan->step[i]);
        if (kept && resume_same(&old, &facts, &message)) {
            printf("resumes run %s: %d of %d steps are already recorded; FRESH=1 starts over [resumed]\n", run, kept,
                   bench->estimate.units);
            return;
        }
        for (int i = 0; i < bench->estimate.units; i++)
            bench->estimate.unit[i].done = false;
        if (kept)
            printf("run %s was interrupted and cannot be resumed: %s; starting a new run [not-resumed]\n", run,
                   message.text);
    }
    snprintf(bench->run.run, sizeof bench->run.run, "%s", fresh);
    if (!resume_save(plan->state, bench->run.run, &facts, &message))
        message_exit(EXIT_CHECK_FAILED, "%s", message.text);
}

// For the launcher, which says it where this process is stopped, and till then that nothing was recorded.
static void send_progress(const struct bench *bench, const struct plan *plan) {
    char slug[128];
    int finished = estimate_finished(&bench->estimate);
    results_slug(bench->run.device, slug, sizeof slug);
    if (bench->run.folder && finished)
        step_kept("stopped: %d of %d steps are recorded in %s/%s as run %s%s", finished, bench->estimate.units,
                  bench->run.folder, slug, bench->run.run,
                  *plan->state ? "; the same command resumes the run, FRESH=1 starts over" : "");
}

static bool run_step(struct bench *bench, const struct step *step) {
    return step->operation ? bench_case(bench, step->operation, &step->which, step->seed) : bench_ceilings(bench);
}

// A library that a baseline needs may be missing: the others are timed without it.
static void skip_unavailable(struct bench *bench) {
    for (int i = 0; i < bench->kernels; i++) {
        const struct kernel *kernel = &bench->kernel[i];
        if (!kernel->lacking)
            continue;
        printf("%s is skipped: %s [skipped]\n", kernel->argument->name, kernel->lacking);
        bench->skipped[i] = true;
        bench->rejected += !bench_is_baseline(kernel);
    }
}

// Before anything is timed: a file that would not take the rows.
static void require_files(const struct bench *bench) {
    struct message error;
    for (int i = 0; operations[i]; i++)
        if (is_timed(bench, operations[i]) && !results_ready(&bench->run, results_file_of(operations[i]), &error))
            message_exit(EXIT_BAD_INPUT, "%s", error.text);
    if (*bench->arguments->ceilings && !results_ready(&bench->run, results_ceilings, &error))
        message_exit(EXIT_BAD_INPUT, "%s", error.text);
}

static void print_end(const struct bench *bench) {
    char slug[128];
    results_slug(bench->run.device, slug, sizeof slug);
    if (bench->noisy)
        printf("\n%d timing%s noisy: spread over more than 5 %%, or the SM clock dropped, in each of %d attempts; "
               "results/README.md has the rule\n",
               bench->noisy, bench->noisy == 1 ? " is" : "s are", NOISE_ATTEMPTS);
    if (bench->run.folder && bench->timed)
        printf("\nadded to %s/%s as run %s\n", bench->run.folder, slug, bench->run.run);
    fflush(stdout);
}

int bench(const struct kernel *kernels, int count, const struct device *device, const struct arguments *arguments) {
    static struct bench bench;
    static struct plan plan;
    bench = (struct bench){.device = device, .arguments = arguments, .kernel = kernels, .kernels = count};
    bench.run = describe_run(device, arguments);
    require_files(&bench);
    skip_unavailable(&bench);
    make_plan(&bench, &plan);
    choose_state(&bench, &plan);
    resume(&bench, &plan);
    bench_progress_start(&bench.estimate);
    fflush(stdout);
    for (int i = 0; i < bench.estimate.units; i++) {
        send_progress(&bench, &plan);
        if (bench.estimate.unit[i].done) {
            bench.timed += plan.step[i].operation != NULL;
            continue;
        }
        bench_unit_begin(i, plan.step[i].text);
        bench.timed += run_step(&bench, &plan.step[i]) && plan.step[i].operation;
        bench_unit_end();
    }
    if (*plan.state)
        resume_forget(plan.state);
    print_end(&bench);
    return bench.rejected || !bench.timed ? EXIT_CHECK_FAILED : 0;
}
