#include "runner/bench_table.h"

#include "message.h"

#include <stdio.h>
#include <string.h>

const char *bench_duration(double microseconds, char text[BENCH_TEXT]) {
    if (microseconds < 1e3)
        snprintf(text, BENCH_TEXT, "%.1f us", microseconds);
    else if (microseconds < 1e6)
        snprintf(text, BENCH_TEXT, "%.2f ms", microseconds * 1e-3);
    else
        snprintf(text, BENCH_TEXT, "%.3f s ", microseconds * 1e-6);
    return text;
}

const char *bench_ratio(double ratio, char text[BENCH_TEXT]) {
    if (ratio > 0)
        snprintf(text, BENCH_TEXT, ratio < 100 ? "%.2fx" : "%.0fx", ratio);
    else
        snprintf(text, BENCH_TEXT, "-");
    return text;
}

const char *bench_noise(const struct results_timing *timing) {
    static char text[BENCH_TEXT];
    if (!timing->noisy)
        return "";
    snprintf(text, sizeof text, "  %snoisy%s", colour(COLOUR_BAD), colour(COLOUR_PLAIN));
    return text;
}

bool bench_is_baseline(const struct kernel *kernel) {
    return !strncmp(kernel->argument->name, "baseline-", 9);
}

struct device_tensor bench_workspace(size_t bytes) {
    struct device_tensor none = {0};
    return bytes ? tensor_create((int64_t)((bytes + sizeof(float) - 1) / sizeof(float)), false) : none;
}

void bench_record(const struct results_run *run, enum results_file file, struct results_rows *rows) {
    struct message error;
    if (!results_write(run, file, rows, &error))
        message_exit(EXIT_CHECK_FAILED, "%s", error.text);
}
