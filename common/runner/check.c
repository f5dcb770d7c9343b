#include "runner/check.h"

#include "runner/cases.h"
#include "runner/count.h"
#include "runner/diagnose.h"
#include "runner/judge.h"
#include "runner/output.h"
#include "runner/report.h"
#include "runner/user_output.h"
#include "runner/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct check {
    struct report report;
    struct worker *worker;
    const struct operation *operation; // the kernel's
    const struct device *device;       // the worker's
    const struct arguments *arguments;
    enum device_state state;             // after the last launch
    int first_finding;                   // of the simulator's, -1: none
    struct evidence evidence[MAX_CASES]; // [tried], for the diagnosis
    int tried;
    bool wrote;              // something to the first output, in any case
    bool wrong, ended_badly; // of any case: its output, its launch
};

uint64_t check_seed(const struct arguments *arguments) {
    struct timespec now;
    if (arguments->has_seed)
        return arguments->seed;
    clock_gettime(CLOCK_REALTIME, &now);
    // Short enough to be typed.
    return ((uint64_t)now.tv_sec * 1000003 + (uint64_t)now.tv_nsec + (uint64_t)getpid()) % 1000000;
}

// Has the kernel called and judges its outputs.
static bool run_kernel(struct check *check, const struct worker_call *call, struct judgement *j) {
    bool right = judge_call(j, check->worker, call);
    check->state = j->result.state;
    check->first_finding = j->result.first_finding;
    check->wrote |= j->judged[0] && j->verdict[0].unwritten < j->verdict[0].elements;
    return right;
}

// So many rows take the simulator minutes: it runs a part of the launches, and what that has not written is left out.
// FIRST_BUDGET takes it a tenth of a second. Long rows need more before the first block ends. Where blocks hang on each
// other, a part says nothing, and the whole is run where that takes seconds.
enum { MOST_SIMULATED_ROWS = 65535, FIRST_BUDGET = 400000, MOST_BUDGET = 64 * FIRST_BUDGET, MOST_WHOLE = 8000000 };
static bool is_partly(const struct check *check, const struct problem_case *which) {
    int64_t rows = check->operation->is_matrix
                       ? which->matrix.rows
                       : (int64_t)which->attention.batch * which->attention.heads * which->attention.nq;
    return check->device->limits.simulated && !check->arguments->sample && rows > MOST_SIMULATED_ROWS;
}

// Whether a wrong case says no more than those before it: of one that is run in part the diagnosis sees only a smaller
// shape, which need not be wrong for the same reason.
static bool is_redundant(const struct check *check, const struct problem_case *which, bool right) {
    return !right && check->wrong && is_partly(check, which);
}

// Data of the user's own cannot be drawn again: the diagnosis has its own inputs.
static void record_evidence(struct check *check, const struct problem_case *which, uint64_t seed, bool right,
                            bool optional, bool ended_badly) {
    bool redundant = is_redundant(check, which, right);
    check->wrong |= !right;
    check->ended_badly |= ended_badly;
    if (!*check->arguments->data && check->tried < MAX_CASES && !redundant)
        check->evidence[check->tried++] =
            (struct evidence){*which, seed, right ? OUTCOME_RIGHT : OUTCOME_WRONG, optional};
}

static void explain(const struct check *check, const struct host_problem *host, const struct judgement *j,
                    uint64_t seed) {
    char options[512];
    if (j->changed)
        printf("  input %s has changed: the kernel must not write to it\n", j->changed);
    if (j->guard)
        printf("  the kernel wrote before the start or past the end of %s, or into the gap between two of its rows\n",
               j->guard);
    // Of a launch that failed at once there is nothing to say but that.
    for (int i = 0; i < host->outputs; i++)
        if (j->judged[i] && (j->verdict[i].unwritten < j->verdict[i].elements || !*j->cause.text))
            verdict_explain(&j->verdict[i], !report_blank_open(&check->report), stdout);
    if (*check->arguments->data)
        snprintf(options, sizeof options, "DATA=%.300s%s%s%s", check->arguments->data,
                 check->arguments->causal ? " CAUSAL=1" : "", check->arguments->has_dtype ? " DTYPE=" : "",
                 check->arguments->has_dtype ? dtype_of(check->arguments->dtype)->name : "");
    else
        case_variables(check->operation, &host->which, options, sizeof options);
    report_repeat(&check->report, options, seed);
}

// Whether the case is wrong in a process of its own, too, where nothing came before it.
static bool fails_alone(struct check *check, const struct host_problem *host, struct worker_call call, uint64_t seed) {
    struct worker fresh = worker_start(check->arguments);
    struct worker *all = check->worker;
    enum device_state state = check->state;
    int finding = check->first_finding;
    struct judgement j;
    judge_begin(&j, host, seed, call.budget);
    check->worker = &fresh;
    call.rerun = false;
    call.limited = false;
    call.out = "";
    bool right = run_kernel(check, &call, &j);
    check->worker = all;
    check->state = state;
    check->first_finding = finding;
    judge_end(&j);
    worker_end(&fresh);
    return !right;
}

// Every fourth case calls the kernel again, in the same process and the same tensors, with the outputs and the
// workspace as the first call has left them: with the same inputs, or with others. Which cases says the seed, so that
// the same seed does the same.
enum rerun { NO_RERUN, SAME_INPUTS, OTHER_INPUTS };
static enum rerun rerun_of(const struct check *check, const struct problem_case *which, uint64_t seed) {
    if (*check->arguments->data || check->arguments->sample || is_partly(check, which))
        return NO_RERUN;
    return seed % 8 == 1 ? SAME_INPUTS : seed % 8 == 5 ? OTHER_INPUTS : NO_RERUN;
}

// False, and explained, where the second call is wrong; true if it is given up.
static bool run_second_call(struct check *check, const struct host_problem *first, struct worker_call call,
                            enum rerun rerun, uint64_t seed, uint64_t bits, bool *given_up) {
    struct host_problem host;
    struct judgement j;
    check->operation->make(&first->which, rerun == OTHER_INPUTS ? ~seed : seed, true, &host);
    call.rerun = true;
    call.concurrent = false;
    call.order = call.order ? ~call.order : 0;
    call.out = "";
    judge_begin(&j, &host, seed, false);
    bool right = run_kernel(check, &call, &j);
    *given_up = j.result.given_up;
    if (*given_up) {
        right = true;
    } else if (right && rerun == SAME_INPUTS && check->worker->repeats && j.verdict[0].bits != bits) {
        right = false;
        report_failed(&check->report, "a second call with the same inputs gives different bits; this lesson requires "
                                      "bitwise reproducible results [not-reproducible]");
        printf("  Which sum does the kernel add up in an order that can change from call to call?\n");
        explain(check, &host, &j, seed);
    } else if (!right) {
        report_failed(&check->report, "in a second call with %s (the first call was right): %s",
                      rerun == OTHER_INPUTS ? "other inputs" : "the same inputs", judge_failed(&j));
        if (j.result.first_finding < 0) // else the simulator has said what it is
            puts(!*j.cause.text && fails_alone(check, &host, call, seed)
                     ? "  The same call also fails in a fresh process, so the first call left no state behind; the "
                       "failure depends on the inputs or on the order of blocks and warps. [fails-alone]"
                     : "  Which state does the first call leave behind: in the output, the workspace, a counter, or a "
                       "global variable? [state-of-first-call]");
        explain(check, &host, &j, seed);
    }
    judge_end(&j);
    host_problem_free(&host);
    return right;
}

#define FEWER "Use fewer heads or queries to have it simulated completely."

// As much of a large case as tells something. Sets why nothing was compared, NULL: something was.
static bool run_part(struct check *check, const struct host_problem *host, uint64_t seed, struct worker_call *call,
                     struct judgement *j, const char **why) {
    *why = NULL;
    for (bool whole_requested = false;;) {
        bool right = run_kernel(check, call, j);
        const struct worker_result *result = &j->result;
        if (result->given_up || !result->good || result->part == PART_WHOLE ||
            (result->part == PART_SOME && !j->nothing))
            return right;
        bool cheap = result->part == PART_ENTANGLED && result->whole && result->whole <= MOST_WHOLE && !whole_requested;
        *why = result->part == PART_SKIPPED
                   ? "the simulator runs only part of a case of this size, and this case has too many launches. " FEWER
               : result->part == PART_ENTANGLED ? "the simulator runs only part of a case of this size, and blocks of "
                                                  "this kernel read data that other blocks wrote. " FEWER
               : call->budget >= MOST_BUDGET
                   ? "the simulator runs only part of a case of this size, and that part finishes no row. " FEWER
                   : NULL;
        if (*why && !cheap)
            return true;
        *why = NULL;
        whole_requested |= cheap;
        call->budget = cheap ? 2 * result->whole + FIRST_BUDGET : 4 * call->budget;
        judge_end(j);
        judge_begin(j, host, seed, true);
    }
}

// In a process of its own: what is left half-way in memory that the kernel keeps would be there in later cases.
static bool run_partly(struct check *check, const struct host_problem *host, uint64_t seed, struct worker_call *call,
                       struct judgement *j, const char **why) {
    struct worker *all = check->worker;
    struct worker fresh = worker_start(check->arguments);
    check->worker = &fresh;
    bool right = run_part(check, host, seed, call, j, why);
    check->worker = all;
    worker_end(&fresh);
    return right;
}

static void run_case(struct check *check, const struct host_problem *host, uint64_t seed, bool optional) {
    const struct operation *operation = check->operation;
    char text[CASE_TEXT];
    struct judgement j;
    case_text(operation, &host->which, text, sizeof text);
    report_case(&check->report, text);
    bool partly = is_partly(check, &host->which);
    const char *why = NULL;
    judge_begin(&j, host, seed, partly);
    optional = optional && check->worker->writes_optional;
    // Of three cases in four the tensors begin anywhere that the contract allows. Where memory traffic is counted they
    // begin where cudaMalloc puts them, so that the counts are the same each time.
    struct worker_call call = {.optional = optional,
                               .delayed = true,
                               .limited = true,
                               .offset_seed = seed % 4 && !check->arguments->sample ? seed : 0,
                               .concurrent = seed % 4 == 3 && !check->arguments->sample && !partly,
                               .budget = partly ? FIRST_BUDGET : 0,
                               .order = check->arguments->sample ? 0 : seed,
                               .out = check->arguments->out};
    bool right = partly ? run_partly(check, host, seed, &call, &j, &why) : run_kernel(check, &call, &j), rerun = true,
         given_up = false;
    if (why)
        report_not_verified(&check->report, why);
    else if (j.result.given_up)
        report_out_of_time(&check->report);
    if (why || j.result.given_up) {
        judge_end(&j);
        return;
    }
    record_evidence(check, &host->which, seed, right, optional, *j.cause.text || j.guard || j.changed);
    if (right && rerun_of(check, &host->which, seed))
        rerun =
            run_second_call(check, host, call, rerun_of(check, &host->which, seed), seed, j.verdict[0].bits, &given_up);
    if (given_up) {
        report_out_of_time(&check->report);
    } else if (right && rerun) {
        report_passed(&check->report, operation->error == ERROR_RELATIVE_RMS ? "rms" : "largest relative error",
                      verdict_error(&j.verdict[0]));
    } else if (!right) {
        report_failed(&check->report, "%s", judge_failed(&j));
        explain(check, host, &j, seed);
        // What was printed of a finding says it all.
        if (check->report.begun > 1 && !*j.cause.text && !fails_alone(check, host, call, seed)) {
            puts("  This case passes in a fresh process. Which state do earlier cases leave behind: a global variable "
                 "or a buffer? [passes-alone]");
            report_repeat_all(&check->report);
        }
    }
    judge_end(&j);
}

// Only numbers tell which mistake they come from; a finding or an error has said its own.
static int finish(struct check *check) {
    if (check->arguments->sample) // what is counted is one launch of the case
        return report_end(&check->report);
    if (check->ended_badly && !report_blank_open(&check->report))
        diagnose_finding(check->first_finding);
    else if (check->wrong && !check->wrote && !report_blank_open(&check->report))
        diagnose_nothing();
    else if (check->wrong && !report_blank_open(&check->report))
        diagnose(check->worker, check->evidence, check->tried);
    return report_end(&check->report);
}

// What a case that was asked for cannot do without.
static void require(const struct check *check, const struct problem_case *which) {
    struct obstacle obstacle;
    struct message reason;
    char text[CASE_TEXT];
    case_text(check->operation, which, text, sizeof text);
    if (!worker_covers(check->worker, which, &obstacle))
        message_exit(EXIT_BAD_INPUT, "%s", obstacle.reason.text);
    if (!worker_fits(check->worker, which, &reason))
        message_exit(EXIT_BAD_INPUT, "%s %s: use a smaller shape", text, reason.text);
}

// The types that are checked: the one that was asked for, or all that the kernel has. The first one is the least bit.
static unsigned chosen_dtypes(const struct check *check) {
    unsigned has = check->worker->dtypes, requested = 1u << check->arguments->dtype;
    char names[32];
    if (!check->arguments->has_dtype)
        return has;
    if (!(has & requested))
        message_exit(EXIT_BAD_INPUT, "DTYPE=%s: %s takes %s", dtype_of(check->arguments->dtype)->name,
                     check->worker->argument->name, dtype_names(has, names));
    return requested;
}

// The shape that was asked for, or the operation's own for counting.
static struct shape_argument requested_shape(const struct check *check) {
    const struct arguments *arguments = check->arguments;
    const struct operation *operation = check->operation;
    struct shape_argument shape = arguments->shape;
    struct message error;
    const char *own = arguments->sample == SAMPLE_PROFILE                         ? operation->profile_shape
                      : arguments->sample == SAMPLE_WORK && operation->work_shape ? operation->work_shape
                      : arguments->sample == SAMPLE_EXPLORE                       ? operation->explore_shape
                                                                                  : operation->trace_shape;
    if (!arguments->has_shape && !shape_parse(own, &shape, &error))
        message_exit(EXIT_CHECK_FAILED, "%s", error.text);
    shape.attention.causal = arguments->causal;
    if (!arguments->has_shape)
        shape.attention.layout = arguments->layout.layout;
    return shape;
}

// The one case that SHAPE= and the other variables say, in each of the types; counted in one of them.
static int check_shape(struct check *check, unsigned dtypes, uint64_t seed) {
    const struct arguments *arguments = check->arguments;
    struct problem_case which = {
        .family = cases_family(arguments), .has_scale = arguments->has_scale, .scale = arguments->scale};
    struct shape_argument shape = requested_shape(check);
    if (arguments->sample)
        dtypes &= dtypes & 1u << ATTENTION_BF16 ? 1u << ATTENTION_BF16 : -dtypes;
    if (check->operation->is_matrix)
        which.matrix = shape.matrix;
    else
        which.attention = shape.attention;
    for (int type = 0; type < ATTENTION_DTYPES; type++) {
        which.dtype = (enum attention_dtype)type;
        if (dtypes & 1u << type)
            require(check, &which);
    }
    check->report =
        report_begin(arguments, check->worker->argument, check->device, __builtin_popcount(dtypes), seed, true);
    for (int type = 0; type < ATTENTION_DTYPES && check->state != DEVICE_LOST; type++) {
        struct host_problem host;
        if (!(dtypes & 1u << type))
            continue;
        which.dtype = (enum attention_dtype)type;
        check->operation->make(&which, seed, true, &host);
        if (arguments->sample == SAMPLE_WORK)
            check->state = count_case(&check->report, check->worker, &host);
        else
            run_case(check, &host, seed, true);
        host_problem_free(&host);
    }
    return finish(check);
}

static int check_data(struct check *check, uint64_t seed) {
    const char *folder = check->arguments->data;
    struct host_problem host;
    struct message error;
    float *output;
    if (!check->operation->load(check->arguments, &host, &output, &error))
        message_exit(EXIT_BAD_INPUT, "%s", error.text);
    require(check, &host.which);
    if (host.which.dtype != ATTENTION_FP32)
        printf("q, k and v are read as %s\n", dtype_of(host.which.dtype)->name);
    if (!host.finite)
        printf("%s contains NaN or infinity. Output elements that depend on such inputs are not finite either.\n",
               folder);
    // A seed draws no inputs here, and the rows that are compared only where there are too many.
    bool seeded = user_output_is_sampled(&host, seed);
    if (check->arguments->has_seed && !seeded)
        printf("SEED has no effect: the inputs come from %s, and all rows are compared\n", folder);
    check->report = report_begin(check->arguments, check->worker->argument, check->device, 1, seed, seeded);
    run_case(check, &host, seed, true);
    int status = finish(check);
    if (output)
        user_output_compare(&host, output, seed, folder);
    free(output);
    host_problem_free(&host);
    return status;
}

// What a check here cannot see, and would see on the other kind of device.
static const char *other_device_adds(const struct check *check) {
    return check->device->limits.simulated ? check->operation->gpu_adds
                                           : "races, uninitialized and out-of-bounds reads, missing barriers and waits";
}

static int check_matrix(struct check *check, unsigned dtypes, uint64_t seed) {
    static struct problem_case cases[ATTENTION_DTYPES * MAX_CASES];
    int count = 0;
    for (int type = 0; type < ATTENTION_DTYPES; type++)
        if (dtypes & 1u << type)
            count += cases_thin(check->operation, cases + count,
                                cases_list(check->worker, check->arguments, (enum attention_dtype)type, cases + count),
                                count && !check->arguments->quick ? seed : 0);
    char *skipped = NULL;
    size_t length = 0;
    FILE *text = open_memstream(&skipped, &length);
    if (!text)
        message_exit(EXIT_CHECK_FAILED, "the host has no memory left");
    count = cases_select(check->worker, cases, count, text);
    fclose(text);
    check->report = report_begin(check->arguments, check->worker->argument, check->device, count, seed, true);
    fputs(skipped, stdout);
    free(skipped);
    for (int i = 0; i < count && !report_enough(&check->report) && check->state != DEVICE_LOST; i++) {
        struct host_problem host;
        uint64_t case_seed = seed + (uint64_t)i;
        check->operation->make(&cases[i], case_seed, true, &host);
        // Every second case leaves the optional outputs away, as most callers do.
        run_case(check, &host, case_seed, i % 2 == 0);
        host_problem_free(&host);
    }
    if (!check->arguments->quick)
        check->report.adds = other_device_adds(check);
    return finish(check);
}

static int check_with(struct worker *worker, const struct arguments *arguments) {
    const struct operation *operation = worker->operation;
    static struct check check;
    check = (struct check){.worker = worker,
                           .operation = operation,
                           .device = &worker->device,
                           .arguments = arguments,
                           .first_finding = -1};
    const char *name = worker->argument->name;
    uint64_t seed = check_seed(arguments);
    if (*worker->lacking)
        message_exit(EXIT_BAD_INPUT, "%s cannot run here: %s", name, worker->lacking);
    if (*arguments->data && operation->no_data) {
        printf("%s: DATA holds %s, which a %s does not use: nothing to check\n", name, operation->no_data,
               operation->name);
        return 0;
    }
    if (arguments->causal && operation->no_causal)
        printf("%s: %s, CAUSAL=1 has no effect\n", name, operation->no_causal);
    if (*arguments->out)
        output_prepare(arguments->out);
    if (*arguments->data)
        return check_data(&check, seed);
    unsigned dtypes = chosen_dtypes(&check);
    if (*arguments->out && !arguments->has_shape)
        message_exit(EXIT_BAD_INPUT, "OUT=%s holds the output of a single case: add SHAPE=B,H,N,D or DATA=folder",
                     arguments->out);
    if (*arguments->out && __builtin_popcount(dtypes) > 1)
        message_exit(EXIT_BAD_INPUT, "OUT=%s: %s has several types: add DTYPE=", arguments->out, name);
    if (!arguments->has_shape && !arguments->sample)
        return check_matrix(&check, dtypes, seed);
    if (arguments->has_shape && arguments->shape.is_matrix && !operation->is_matrix)
        message_exit(EXIT_BAD_INPUT, "SHAPE=%s has two numbers, and %s needs four: B,H,N,D", arguments->shape_text,
                     operation->name);
    return check_shape(&check, dtypes, seed);
}

int check(const struct arguments *arguments) {
    struct worker worker = worker_start(arguments);
    int status = check_with(&worker, arguments);
    worker_end(&worker);
    return status;
}
