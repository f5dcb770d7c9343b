#include "work.h"

#include "commands.h"
#include "files.h"
#include "process.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_WORDS = 100 };

// Number of sampled blocks of a launch, in pairs; the simulator weights each pair by the blocks it represents.
#define SAMPLE "4"

static const char *const count_name[WORK_COUNTS] = {
    "issue", "fma", "alu", "xu", "passes", "mma", "wgmma", "wavefronts", "missed_sectors", "cycles",
};

struct work work_from_row(const struct csv *csv, int row) {
    struct work work = {
        .blocks = csv_number(csv, row, "blocks"),
        .blocks_run = csv_number(csv, row, "blocks_run"),
        .resident_blocks = csv_number(csv, row, "resident_blocks"),
        .shared_bytes = csv_number(csv, row, "shared_bytes"),
    };
    for (int c = 0; c < WORK_COUNTS; c++)
        work.count[c] = csv_number(csv, row, count_name[c]);
    return work;
}

// Reads the case from the log of the check: "... SHAPE=1,16,4096,64 causal bf16 ...".
static bool parse_case(const char *path, struct run_work *run_work) {
    struct lines log;
    if (!lines_read(path, &log))
        return false;
    for (int i = 0; i < log.count && !*run_work->shape; i++) {
        const char *shape = strstr(log.line[i], "SHAPE=");
        if (!shape)
            continue;
        shape += strlen("SHAPE=");
        snprintf(run_work->shape, sizeof run_work->shape, "%.*s", (int)strspn(shape, "0123456789,:"), shape);
        run_work->causal = strstr(shape, " causal");
        snprintf(run_work->dtype, sizeof run_work->dtype, "%s",
                 strstr(shape, " bf16")   ? "bf16"
                 : strstr(shape, " fp16") ? "fp16"
                                          : "fp32");
    }
    lines_free(&log);
    return *run_work->shape;
}

static bool read_launches(const char *path, struct run_work *run_work) {
    struct csv csv;
    if (!csv_read(path, &csv))
        return false;
    for (int row = 0; row < csv.rows && run_work->launches < MAX_LAUNCHES; row++)
        run_work->launch[run_work->launches++] = work_from_row(&csv, row);
    csv_free(&csv);
    return run_work->launches;
}

static void set_environment(const char *csv) {
    setenv("SIMULATOR_TRACE", "1", 1);
    setenv("SIMULATOR_WORK_CSV", csv, 1);
    setenv("SIMULATOR_SAMPLE", SAMPLE, 1);
    setenv("SIMULATOR_ANALYSES", "off", 1);
    unsetenv("SIMULATOR_TRACE_CSV");
    unsetenv("SIMULATOR_TRACE_JSON");
}

int work_run(const char *seconds, int count, char **word, struct run_work *run_work) {
    const char *command[MAX_WORDS] = {
        "build/bin/attention", "check", "--device", "sim", "--sample", "work", "--seed", "1", "--time-limit", seconds};
    int words = 10;
    char csv[64], log[64];
    *run_work = (struct run_work){.launches = 0};
    if (count > MAX_WORDS - words - 1)
        message_exit(EXIT_BAD_INPUT, "work takes at most %d arguments [usage]", MAX_WORDS - words - 1);
    for (int i = 0; i < count; i++) {
        bool is_set_here =
            !strcmp(word[i], "--device") || !strcmp(word[i], "--seed") || !strcmp(word[i], "--time-limit");
        if (is_set_here && i + 1 < count)
            i++;
        else
            command[words++] = word[i];
    }
    snprintf(csv, sizeof csv, "build/trace/work-%d.csv", (int)getpid());
    snprintf(log, sizeof log, "build/trace/work-%d.log", (int)getpid());
    if (!make_parent_folder(csv))
        message_exit(EXIT_BAD_INPUT, "build/trace cannot be written [cannot-write]");
    set_environment(csv);
    int status = process_run_to(log, true, command);
    if (status == 0 && (!parse_case(log, run_work) || !read_launches(csv, run_work)))
        status = EXIT_CHECK_FAILED;
    remove(csv);
    remove(log);
    return status;
}

double work_bytes(const struct run_work *run_work) {
    double size[4] = {0}, element = strcmp(run_work->dtype, "fp32") ? 2 : 4;
    int numbers = sscanf(run_work->shape, "%lf,%lf,%lf,%lf", &size[0], &size[1], &size[2], &size[3]);
    if (numbers == 2) // a matrix: rows, columns
        return 2 * element * size[0] * size[1];
    return 4 * element * size[0] * size[1] * size[2] * size[3];
}

static void print_rows(const char *kernel, const struct run_work *run_work) {
    for (int i = 0; i < run_work->launches; i++) {
        const struct work *work = &run_work->launch[i];
        printf("%s,%s,\"%s\",%d,%.0f,%.0f,%.0f,%.0f", kernel, run_work->dtype, run_work->shape, run_work->causal,
               work->blocks, work->blocks_run, work->resident_blocks, work->shared_bytes);
        for (int c = 0; c < WORK_COUNTS; c++)
            printf(",%.0f", work->count[c]);
        putchar('\n');
    }
}

int teach_work(int count, char **word) {
    struct run_work run_work;
    int status = work_run("600", count - 1, word + 1, &run_work);
    if (!status)
        print_rows(word[0], &run_work);
    return status;
}
