#include "runner/bench_table.h"

#include "message.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CELL_TEXT = 32, NAME_WIDTH = 36 };

// "12.3 us", "12.34 ms", "1.234 s "
static void print_duration(double microseconds, char text[CELL_TEXT]) {
    if (microseconds < 1e3)
        snprintf(text, CELL_TEXT, "%.1f us", microseconds);
    else if (microseconds < 1e6)
        snprintf(text, CELL_TEXT, "%.2f ms", microseconds * 1e-3);
    else
        snprintf(text, CELL_TEXT, "%.3f s ", microseconds * 1e-6);
}

static void print_median(const struct bench_row *r, char text[CELL_TEXT]) {
    print_duration(r->timing->median_us, text);
}

static void print_min(const struct bench_row *r, char text[CELL_TEXT]) {
    print_duration(r->timing->min_us, text);
}

static void print_p95(const struct bench_row *r, char text[CELL_TEXT]) {
    print_duration(r->timing->p95_us, text);
}

static void print_warm(const struct bench_row *r, char text[CELL_TEXT]) {
    if (r->warm)
        print_duration(r->warm->median_us, text);
}

static void print_tflops(const struct bench_row *r, char text[CELL_TEXT]) {
    snprintf(text, CELL_TEXT, "%.2f", 1e-6 * r->operation->flops(r->which) / r->timing->median_us);
}

static double gb_per_s(const struct bench_row *r, const struct results_timing *timing) {
    return 1e-3 * r->operation->bytes(r->which) / timing->median_us;
}

static void print_gb_per_s(const struct bench_row *r, char text[CELL_TEXT]) {
    snprintf(text, CELL_TEXT, "%.1f", gb_per_s(r, r->timing));
}

// Against the time that the arithmetic at its peak or the least traffic at the memory's would take, the longer one.
static void print_of_limit(const struct bench_row *r, char text[CELL_TEXT]) {
    double peak = r->device->peak_tflops[r->which->dtype];
    double compute = peak > 0 ? r->operation->flops(r->which) / (peak * 1e6) : 0; // us
    double memory = 1e-3 * r->operation->bytes(r->which) / r->device->peak_gb_per_s;
    const char *by = compute <= memory ? "mem" : r->which->dtype == ATTENTION_FP32 ? "fp32" : "mma";
    snprintf(text, CELL_TEXT, "%.1f%% %s", 100 * fmax(compute, memory) / r->timing->median_us, by);
}

static void print_of_copy(const struct bench_row *r, char text[CELL_TEXT]) {
    snprintf(text, CELL_TEXT, "%.1f%%", 100 * r->copy->median_us / r->timing->median_us);
}

static void print_of_peak(const struct bench_row *r, char text[CELL_TEXT]) {
    snprintf(text, CELL_TEXT, "%.1f%%", 100 * gb_per_s(r, r->timing) / r->device->peak_gb_per_s);
}

static void print_ratio(const struct results_timing *to, const struct bench_row *r, char text[CELL_TEXT]) {
    double ratio = to ? to->median_us / r->timing->median_us : 0;
    if (ratio > 0)
        snprintf(text, CELL_TEXT, ratio < 100 ? "%.2fx" : "%.0fx", ratio);
}

static void print_before(const struct bench_row *r, char text[CELL_TEXT]) {
    print_ratio(r->before, r, text);
}

static void print_first(const struct bench_row *r, char text[CELL_TEXT]) {
    print_ratio(r->first, r, text);
}

static void print_error(const struct bench_row *r, char text[CELL_TEXT]) {
    if (r->kernel)
        snprintf(text, CELL_TEXT, "%.1e", r->error);
}

static const struct column {
    const char *name, *heading;
    int width;
    void (*print)(const struct bench_row *row, char text[CELL_TEXT]);
} columns[] = {
    {"median", "median", 10, print_median},
    {"min", "min", 10, print_min},
    {"p95", "p95", 10, print_p95},
    {"warm", "warm", 10, print_warm},
    {"tflops", "TFLOP/s", 8, print_tflops},
    {"gb_per_s", "GB/s", 8, print_gb_per_s},
    {"of_limit", "of the limit", 12, print_of_limit},
    {"of_copy", "of copy", 10, print_of_copy},
    {"of_peak", "of peak", 10, print_of_peak},
    {"before", "before", 8, print_before},
    {"first", "first", 8, print_first},
    {"rms", "rms", 8, print_error},
    {"error", "error", 8, print_error},
};

// The next column of an operation's list; NULL where there is none.
static const struct column *next(const char **list) {
    size_t length = strcspn(*list += strspn(*list, " "), " ");
    for (size_t i = 0; length && i < sizeof columns / sizeof *columns; i++)
        if (strlen(columns[i].name) == length && !strncmp(columns[i].name, *list, length)) {
            *list += length;
            return &columns[i];
        }
    if (length)
        message_exit(EXIT_CHECK_FAILED, "a table has no column '%.*s'", (int)length, *list);
    return NULL;
}

void bench_print_heading(const struct operation *operation) {
    const char *list = operation->table;
    printf("  %-*s", NAME_WIDTH, "");
    for (const struct column *column; (column = next(&list));)
        printf(" %*s", column->width, column->heading);
    putchar('\n');
}

void bench_print_row(const struct bench_row *row) {
    const char *list = row->operation->table;
    printf("  %-*s", NAME_WIDTH, row->kernel ? row->kernel->argument->name : "cudaMemcpy");
    for (const struct column *column; (column = next(&list));) {
        char text[CELL_TEXT] = "-";
        column->print(row, text);
        printf(" %*s", column->width, text);
    }
    puts(bench_noise(row->timing->noisy || !row->warm ? row->timing : row->warm));
}

const char *bench_noise(const struct results_timing *timing) {
    static char text[CELL_TEXT];
    if (!timing->noisy)
        return "";
    snprintf(text, sizeof text, "  %snoisy%s", colour(COLOUR_BAD), colour(COLOUR_PLAIN));
    return text;
}

bool bench_is_baseline(const struct kernel *kernel) {
    return !strncmp(kernel->argument->name, "baseline-", 9);
}

struct device_tensor bench_workspace(size_t bytes, int devices) {
    struct device_tensor none = {0};
    return bytes ? tensor_create_parts(bytes, false, 0, devices ? devices : 1) : none;
}

void bench_record(const struct results_run *run, struct results_file file, struct results_rows *rows) {
    struct message error;
    if (!results_write(run, file, rows, &error))
        message_exit(EXIT_CHECK_FAILED, "%s", error.text);
}
