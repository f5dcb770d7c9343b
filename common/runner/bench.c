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

// A step of the plan: a shape, or the ceilings. Only those of its group are used.
struct step {
    enum estimate_group group;
    struct attention_shape attention;
    struct softmax_shape softmax;
    int ceilings_before; // how often they have been measured in this run before it
    uint64_t seed;
    char text[96];
};

struct plan {
    struct step step[MOST_UNITS]; // [bench->estimate.units]
    char state[PATH_MAX];         // where an incomplete run is remembered, "" for nowhere
};

static void add(struct bench *bench, struct plan *plan, struct step step, double work, double budget, int passes) {
    struct estimate_unit unit = {step.group, work, budget, passes, false};
    step.seed += (uint64_t)bench->estimate.units;
    plan->step[bench->estimate.units] = step;
    if (!estimate_add(&bench->estimate, unit))
        message_exit(EXIT_BAD_INPUT, "a bench takes at most %d shapes: give fewer SIZES", MOST_UNITS);
}

static void add_attention(struct bench *bench, struct plan *plan, struct attention_shape shape, uint64_t seed) {
    struct step step = {.group = GROUP_ATTENTION, .attention = shape, .seed = seed};
    char text[SHAPE_TEXT];
    shape_text(&shape, text);
    snprintf(step.text, sizeof step.text, "B,H,N,D = %s", text);
    add(bench, plan, step, shape_flops(&shape), attention_seconds, shape.nk <= MOST_WARM_KEYS ? 2 : 1);
}

static void add_softmax(struct bench *bench, struct plan *plan, struct softmax_shape shape, uint64_t seed) {
    struct step step = {.group = GROUP_SOFTMAX, .softmax = shape, .seed = seed};
    snprintf(step.text, sizeof step.text, "ROWS,COLUMNS = %lld,%d", (long long)shape.rows, shape.columns);
    add(bench, plan, step, 8.0 * (double)shape.rows * shape.columns, softmax_seconds, 1);
}

static void add_ceilings(struct bench *bench, struct plan *plan, int before) {
    struct step step = {.group = GROUP_CEILINGS, .ceilings_before = before, .text = "ceilings"};
    if (bench->arguments->ceilings)
        add(bench, plan, step, 1, ceilings_seconds, 1);
}

// The ceilings stand before and after the shapes, so that a clock that changes on the way is seen in them.
static void make_plan(struct bench *bench, struct plan *plan) {
    static const int head_dims[] = {64, 128}, sizes[] = {256, 512, 1024, 2048, 4096, 8192}, quick[] = {1024};
    static const struct softmax_shape matrices[] = {{4096, 1024}, {4096, 4096}, {16384, 4096}, {32768, 8192}};
    const struct arguments *a = bench->arguments;
    const int *size = a->sizes ? a->size : a->quick ? quick : sizes;
    int count = a->sizes ? a->sizes : a->quick ? 1 : 6, attentions = bench->attentions ? 2 : 0;
    uint64_t seed = check_seed(a);
    if (a->has_shape && a->shape.is_matrix && bench->attentions)
        message_exit(EXIT_BAD_INPUT, "SHAPE=%s has two numbers, and attention needs four: B,H,N,D", a->shape_text);
    add_ceilings(bench, plan, 0);
    if (a->has_shape && bench->attentions)
        add_attention(bench, plan, a->shape.attention, seed);
    for (int d = 0; !a->has_shape && d < attentions; d++)
        for (int i = 0; i < count; i++)
            add_attention(bench, plan,
                          (struct attention_shape){1, 16, 16, size[i], size[i], head_dims[d], a->causal, a->layout},
                          seed);
    if (a->has_shape && bench->softmaxes)
        add_softmax(bench, plan, a->shape.softmax, seed);
    for (int i = 0; !a->has_shape && bench->softmaxes && i < (a->quick ? 1 : 4); i++)
        add_softmax(bench, plan, matrices[i], seed);
    add_ceilings(bench, plan, 1);
}

static struct results_run describe_run(const struct device *device, const struct arguments *arguments) {
    struct results_run run = {.folder = arguments->results,
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
           device->peak_tflops, device->peak_gb_per_s, *run.driver ? run.driver : "unknown", run.cuda);
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
    if (a->ceilings)
        add_library(facts, "the ceilings", a->ceilings);
    for (int i = 0; i < a->kernels; i++)
        add_library(facts, a->kernel[i].name, a->kernel[i].library);
}

static bool is_recorded(const struct bench *bench, const struct step *step) {
    switch (step->group) {
    case GROUP_ATTENTION:
        return results_count_attention(&bench->run, &step->attention) > 0;
    case GROUP_SOFTMAX:
        return results_count_softmax(&bench->run, &step->softmax) > 0;
    default:
        return results_count_ceilings(&bench->run, "copy") > step->ceilings_before;
    }
}

// Where an incomplete run of the same kernels and shapes is remembered.
static void choose_state(const struct bench *bench, struct plan *plan) {
    const struct arguments *a = bench->arguments;
    char what[1 << 14];
    int length = snprintf(what, sizeof what, "%s %d", a->results, a->causal);
    for (int i = 0; i < a->kernels; i++)
        length += snprintf(what + length, sizeof what - (size_t)length, " %s", a->kernel[i].name);
    for (int i = 0; i < bench->estimate.units; i++)
        length += snprintf(what + length, sizeof what - (size_t)length, " %s", plan->step[i].text);
    if (a->state && a->results)
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
            printf("goes on with run %s, %d of %d steps are there already; FRESH=1 starts over\n", run, kept,
                   bench->estimate.units);
            return;
        }
        for (int i = 0; i < bench->estimate.units; i++)
            bench->estimate.unit[i].done = false;
        if (kept)
            printf("run %s was stopped and cannot go on: %s; a new run begins\n", run, message.text);
    }
    snprintf(bench->run.run, sizeof bench->run.run, "%s", fresh);
    if (!resume_save(plan->state, bench->run.run, &facts, &message))
        message_exit(EXIT_CHECK_FAILED, "%s", message.text);
}

// For the launcher, which says it where this process is stopped.
static void tell_kept(const struct bench *bench, const struct plan *plan) {
    char slug[128];
    int finished = estimate_finished(&bench->estimate);
    results_slug(bench->run.device, slug, sizeof slug);
    if (!bench->run.folder || !finished)
        step_kept("stopped: nothing was recorded");
    else
        step_kept("stopped: %d of %d steps are kept in %s/%s as run %s%s", finished, bench->estimate.units,
                  bench->run.folder, slug, bench->run.run,
                  *plan->state ? "; the same command goes on with the others, with FRESH=1 it starts over" : "");
}

static bool take(struct bench *bench, const struct step *step) {
    switch (step->group) {
    case GROUP_ATTENTION:
        return bench_attention(bench, &step->attention, step->seed);
    case GROUP_SOFTMAX:
        return bench_softmax(bench, &step->softmax, step->seed);
    default:
        return bench_ceilings(bench);
    }
}

static void split(struct bench *bench, const struct kernel *kernels, int count) {
    for (int i = 0; i < count; i++)
        if (kernels[i].softmax_forward)
            bench->softmax[bench->softmaxes++] = kernels[i];
        else
            bench->attention[bench->attentions++] = kernels[i];
}

// A library that a baseline needs may be missing: the others are timed without it.
static void leave_out_unavailable(struct bench *bench) {
    for (int i = 0; i < bench->attentions; i++) {
        const struct kernel *kernel = &bench->attention[i];
        const char *lacking = kernel->lesson->unavailable ? kernel->lesson->unavailable() : NULL;
        if (!lacking)
            continue;
        printf("%s is left out: %s\n", kernel->argument->name, lacking);
        bench->left_out[i] = true;
        bench->rejected += !bench_is_baseline(kernel);
    }
}

// Before anything is timed: a file that would not take the rows.
static void require_files(const struct bench *bench) {
    const bool needed[] = {bench->attentions > 0, bench->softmaxes > 0, bench->arguments->ceilings != NULL};
    struct message error;
    for (int file = RESULTS_ATTENTION; file <= RESULTS_CEILINGS; file++)
        if (needed[file] && !results_ready(&bench->run, (enum results_file)file, &error))
            message_exit(EXIT_BAD_INPUT, "%s", error.text);
}

static void say_end(const struct bench *bench) {
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
    bench = (struct bench){.device = device, .arguments = arguments};
    split(&bench, kernels, count);
    bench.run = describe_run(device, arguments);
    require_files(&bench);
    leave_out_unavailable(&bench);
    make_plan(&bench, &plan);
    choose_state(&bench, &plan);
    resume(&bench, &plan);
    bench_progress_start(&bench.estimate);
    fflush(stdout);
    for (int i = 0; i < bench.estimate.units; i++) {
        tell_kept(&bench, &plan);
        if (bench.estimate.unit[i].done) {
            bench.timed += plan.step[i].group != GROUP_CEILINGS;
            continue;
        }
        bench_unit_begin(i, plan.step[i].text);
        bench.timed += take(&bench, &plan.step[i]) && plan.step[i].group != GROUP_CEILINGS;
        bench_unit_end();
    }
    if (*plan.state)
        resume_forget(plan.state);
    say_end(&bench);
    return bench.rejected || !bench.timed ? EXIT_CHECK_FAILED : 0;
}
