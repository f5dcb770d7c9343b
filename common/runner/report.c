#include "runner/report.h"

#include "clock.h"
#include "host/blanks.h"
#include "host/contract.h"
#include "runner/cuda.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FEWEST_SHARE = 10 }; // one case in ten of the matrix has to run

struct report report_begin(const struct arguments *arguments, const struct kernel_argument *kernel,
                           const struct device *device, int cases, uint64_t seed, bool seeded) {
    struct report report = {.arguments = arguments,
                            .kernel = kernel,
                            .device = device,
                            .seeded = seeded,
                            .seed = seed,
                            .cases = cases,
                            .offered = cases,
                            .start = clock_seconds()};
    printf("%s on %s, %d case%s", kernel->name, device->limits.description, cases, cases == 1 ? "" : "s");
    if (seeded)
        printf(", seed %llu", (unsigned long long)seed);
    putchar('\n');
    fflush(stdout);
    return report;
}

void report_case(struct report *report, const char *text) {
    snprintf(report->text, sizeof report->text, "%s", text);
    report->begun++;
    step_begin("case %s", text);
    if (message_on_terminal()) {
        message_clear_line();
        printf("%s  case %d of %d: %s%s", colour(COLOUR_FAINT), report->begun, report->cases, text,
               colour(COLOUR_PLAIN));
        fflush(stdout);
    }
}

void report_passed(struct report *report, const char *error_name, double error) {
    report->passed++;
    message_clear_line();
    if (report->arguments->verbose || report->cases == 1)
        printf("  %sright%s  %-40s %s %.1e\n", colour(COLOUR_GOOD), colour(COLOUR_PLAIN), report->text, error_name,
               error);
    fflush(stdout);
}

void report_not_verified(struct report *report, const char *why) {
    report->not_verified++;
    message_clear_line();
    printf("  not verified: case %s: %s [not-verified]\n", report->text, why);
    fflush(stdout);
}

void report_out_of_time(struct report *report) {
    char why[160];
    int limit = report->arguments->time_limit;
    snprintf(why, sizeof why,
             "it took more than %d s, not counting those of other programs, and was stopped. TIME_LIMIT=%d raises the "
             "limit.",
             limit, 5 * limit);
    report->out_of_time++;
    report_not_verified(report, why);
}

bool report_blank_open(const struct report *report) {
    struct blank blank;
    return *report->kernel->source && blanks_find(report->kernel->source, &blank) && blank.open;
}

static void print_open_blank(const char *source) {
    struct blank blank;
    if (!*source || !blanks_find(source, &blank) || !blank.open)
        return;
    printf("\n%s:%d: %s\n", source, blank.line, blank.text);
    if (blank.open > 1)
        printf("  (the first of %d blanks still open)\n", blank.open);
}

void report_failed(struct report *report, const char *format, ...) {
    va_list arguments;
    message_clear_line();
    if (!report->failed++)
        print_open_blank(report->kernel->source);
    printf("\n%swrong%s  case %s: ", colour(COLOUR_BAD), colour(COLOUR_PLAIN), report->text);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    fflush(stdout);
}

void report_repeat_all(const struct report *report) {
    report_repeat(report, "", report->seed);
}

void report_repeat(const struct report *report, const char *options, uint64_t seed) {
    const char *name = report->kernel->name, *underscore = strchr(name, '_');
    printf("  again: make ");
    if (!strncmp(name, "lesson-", 7) || !strncmp(name, "solution-", 9))
        printf("%.*s check", (int)(underscore ? underscore - name : (long)strlen(name)), name);
    else
        printf("check KERNEL=%s", *report->kernel->source ? report->kernel->source : report->kernel->library);
    printf("%s%s", *options ? " " : "", options);
    if (report->seeded)
        printf(" SEED=%llu", (unsigned long long)seed);
    printf(" DEVICE=%s\n", report->device->limits.simulated ? "sim" : "gpu");
    fflush(stdout);
}

bool report_enough(const struct report *report) {
    return report->failed >= MAX_FAILURES || report->out_of_time >= MAX_FAILURES;
}

int report_end(struct report *report) {
    struct message difference;
    bool meets_contract = contract_is_the_lessons(report->kernel->source, &difference);
    // What a kernel refuses proves nothing of it.
    bool few = FEWEST_SHARE * report->passed < report->offered;
    bool right = report->passed + report->not_verified == report->cases && !few && meets_contract;
    message_clear_line();
    if (few && !report->failed && !report->out_of_time && report->begun == report->cases)
        printf("\nonly %d of the %d cases of the contract ran, which is no check: the kernel, or what it says of its "
               "shared memory and limits, leaves the others out [too-few-cases]\n",
               report->passed, report->offered);
    if (!meets_contract)
        printf("\n%s\n", difference.text);
    if (report->begun < report->cases)
        printf("\nstopped after %d of %d cases\n", report->begun, report->cases);
    if (right && report->adds)
        printf("  %s would add: %s\n", report->device->limits.simulated ? "a GPU" : "the simulator (DEVICE=sim)",
               report->adds);
    printf("%s%s: %d of %d case%s right on %s", colour(right ? COLOUR_GOOD : COLOUR_BAD), report->kernel->name,
           report->passed, report->cases, report->cases == 1 ? "" : "s", report->device->limits.description);
    if (report->not_verified)
        printf(", %d not verified", report->not_verified);
    printf(", %.1f s%s\n", clock_seconds() - report->start, colour(COLOUR_PLAIN));
    bool unknown = meets_contract && !report->failed && report->not_verified &&
                   (!few || report->not_verified == report->cases || report->begun < report->cases);
    return right ? 0 : unknown ? EXIT_NOT_VERIFIED : EXIT_CHECK_FAILED;
}
