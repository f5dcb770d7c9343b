#include "runner/bench_progress.h"

#include "clock.h"
#include "host/progress.h"
#include "message.h"
#include "runner/cuda.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

static struct estimate *plan;
static double start, unit_start;
static char unit_text[96];

void bench_progress_start(struct estimate *estimate) {
    plan = estimate;
    start = clock_seconds();
}

void bench_unit_begin(int i, const char *text) {
    snprintf(unit_text, sizeof unit_text, "%s", text);
    unit_start = clock_seconds();
    estimate_begin(plan, i);
    bench_step("inputs and reference");
}

void bench_unit_end(void) {
    message_clear_line();
    estimate_done(plan, clock_seconds() - unit_start);
}

void bench_step(const char *format, ...) {
    char step[96], text[PROGRESS_TEXT];
    struct winsize window = {0};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(step, sizeof step, format, arguments);
    va_end(arguments);
    step_begin("%s, %s", unit_text, step);
    if (!message_on_terminal())
        return;
    double time = clock_seconds();
    struct progress progress = {estimate_finished(plan),
                                plan->units,
                                unit_text,
                                step,
                                time - start,
                                estimate_remaining(plan, time - unit_start)};
    ioctl(STDOUT_FILENO, TIOCGWINSZ, &window);
    progress_text(&progress, window.ws_col, text);
    printf("\r\033[K%s%s%s", colour(COLOUR_FAINT), text, colour(COLOUR_PLAIN));
    fflush(stdout);
}
