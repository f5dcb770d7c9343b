#include "runner/run_case.h"

#include "runner/judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    return check->device->limits.simulated && !check->arguments->sample && !check->operation->is_entangled &&
           rows > MOST_SIMULATED_ROWS;
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
    } else if (right && rerun == SAME_INPUTS && check->worker->repeats && judge_bits(&j) != bits) {
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

void run_case(struct check *check, const struct host_problem *host, uint64_t seed, bool optional) {
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
            run_second_call(check, host, call, rerun_of(check, &host->which, seed), seed, judge_bits(&j), &given_up);
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
