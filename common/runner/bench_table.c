#include "runner/bench_table.h"

#include "runner/clocks.h"
#include "runner/cuda.h"

#include <stdio.h>
#include <string.h>

struct results_run bench_start(const struct device *device, const struct arguments *arguments) {
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
    fflush(stdout);
    return run;
}

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

void bench_recorded(const struct results_run *run, const char *file) {
    char slug[128];
    results_slug(run->device, slug, sizeof slug);
    if (run->folder)
        printf("\nadded to %s/%s/%s as run %s\n", run->folder, slug, file, run->run);
}
