#include "work.h"

#include "commands.h"
#include "files.h"
#include "process.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_WORDS = 100 };

// As many blocks of a launch, two by two: those far from the first and from the last weigh as much as they are.
#define SAMPLE "4"

static const char *const count_name[WORK_COUNTS] = {
    "issue", "fma", "alu", "xu", "passes", "mma", "wgmma", "wavefronts", "missed_sectors", "cycles",
};

struct work work_of_row(const struct csv *csv, int row) {
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

// The harness says what it ran: "right  SHAPE=1,16,4096,64 causal bf16 ...".
static bool read_case(const char *path, struct works *works) {
    struct lines log;
    if (!lines_read(path, &log))
        return false;
    for (int i = 0; i < log.count && !*works->shape; i++) {
        const char *shape = strstr(log.line[i], "right  SHAPE=");
        if (!shape)
            continue;
        shape += strlen("right  SHAPE=");
        snprintf(works->shape, sizeof works->shape, "%.*s", (int)strspn(shape, "0123456789,:"), shape);
        works->causal = strstr(shape, " causal");
        snprintf(works->dtype, sizeof works->dtype, "%s",
                 strstr(shape, " bf16")   ? "bf16"
                 : strstr(shape, " fp16") ? "fp16"
                                          : "fp32");
    }
    lines_free(&log);
    return *works->shape;
}

static bool read_launches(const char *path, struct works *works) {
    struct csv csv;
    if (!csv_read(path, &csv))
        return false;
    for (int row = 0; row < csv.rows && works->launches < MOST_LAUNCHES; row++)
        works->launch[works->launches++] = work_of_row(&csv, row);
    csv_free(&csv);
    return works->launches;
}

static void set_environment(const char *csv) {
    setenv("SIMULATOR_TRACE", "1", 1);
    setenv("SIMULATOR_WORK_CSV", csv, 1);
    setenv("SIMULATOR_SAMPLE", SAMPLE, 1);
    setenv("SIMULATOR_ANALYSES", "off", 1);
    unsetenv("SIMULATOR_TRACE_CSV");
    unsetenv("SIMULATOR_TRACE_JSON");
}

int work_run(const char *seconds, int count, char **word, struct works *works) {
    const char *command[MOST_WORDS] = {
        "build/bin/attention", "check", "--device", "sim", "--sample", "work", "--seed", "1", "--time-limit", seconds};
    int words = 10;
    char csv[64], log[64];
    *works = (struct works){.launches = 0};
    if (count > MOST_WORDS - words - 1)
        message_exit(EXIT_BAD_INPUT, "work takes no more than %d words", MOST_WORDS - words - 1);
    for (int i = 0; i < count; i++) {
        bool is_ours = !strcmp(word[i], "--device") || !strcmp(word[i], "--seed") || !strcmp(word[i], "--time-limit");
        if (is_ours && i + 1 < count)
            i++;
        else
            command[words++] = word[i];
    }
    snprintf(csv, sizeof csv, "build/trace/work-%d.csv", (int)getpid());
    snprintf(log, sizeof log, "build/trace/work-%d.log", (int)getpid());
    if (!files_make_folder(csv))
        message_exit(EXIT_BAD_INPUT, "build/trace cannot be written");
    set_environment(csv);
    int status = process_run_to(log, true, command);
    if (status == 0 && (!read_case(log, works) || !read_launches(csv, works)))
        status = EXIT_CHECK_FAILED;
    remove(csv);
    remove(log);
    return status;
}

double work_bytes(const struct works *works) {
    double size[4] = {0}, element = strcmp(works->dtype, "fp32") ? 2 : 4;
    int numbers = sscanf(works->shape, "%lf,%lf,%lf,%lf", &size[0], &size[1], &size[2], &size[3]);
    if (numbers == 2) // a matrix: rows, columns
        return 2 * element * size[0] * size[1];
    return 4 * element * size[0] * size[1] * size[2] * size[3];
}

static void print_rows(const char *kernel, const struct works *works) {
    for (int i = 0; i < works->launches; i++) {
        const struct work *work = &works->launch[i];
        printf("%s,%s,\"%s\",%d,%.0f,%.0f,%.0f,%.0f", kernel, works->dtype, works->shape, works->causal, work->blocks,
               work->blocks_run, work->resident_blocks, work->shared_bytes);
        for (int c = 0; c < WORK_COUNTS; c++)
            printf(",%.0f", work->count[c]);
        putchar('\n');
    }
}

int teach_work(int count, char **word) {
    struct works works;
    int status = work_run("600", count - 1, word + 1, &works);
    if (!status)
        print_rows(word[0], &works);
    return status;
}
