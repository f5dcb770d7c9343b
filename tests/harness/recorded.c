#include "recorded.h"

#include "cmocka_all.h"
#include "operations/attention_operation.h"

#include <stdio.h>
#include <stdlib.h>

char folder[] = "/tmp/attention-results-XXXXXX";
const struct problem_case which = {.attention = {1, 16, 16, 4096, 4096, 128}};
const struct results_timing timing = {1000, 990, 1010, 1250, 50, 1980, 1965, true, true};

int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

int remove_folder(void **state) {
    (void)state;
    char command[200];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

struct results_run run_of(const char *device) {
    struct results_run run = {
        .folder = folder, .commit = "0123abc", .device = device, .driver = "580.1", .cuda = "13.0", .sm_count = 132};
    results_start(&run);
    return run;
}

char *slurp(const char *name) {
    char path[200];
    static char text[200000];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return text;
}

int count(const char *text, char c) {
    int n = 0;
    for (; *text; text++)
        n += *text == c;
    return n;
}

void add_attention(struct results_rows *rows, const struct results_run *run, const char *lesson) {
    results_add(rows, run,
                &(struct results_row){.operation = &attention_operation,
                                      .which = &which,
                                      .lesson = lesson,
                                      .timing = &timing,
                                      .error = 1e-7,
                                      .peak_tflops = 66.9,
                                      .peak_gb_per_s = 4916.7});
}

bool write_attention(const struct results_run *run, const char *lesson, struct message *error) {
    struct results_rows rows = {0};
    add_attention(&rows, run, lesson);
    return results_write(run, results_file_of(&attention_operation), &rows, error);
}
