#include "commands.h"

#include "files.h"
#include "page.h"
#include "process.h"
#include "recording.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_WORDS = 100, MAX_RUNS = 2 };

// An endless loop is reported after this many warp instructions of a block, which take a few seconds when recorded.
#define INSTRUCTION_LIMIT "20000000"
#define TIME_LIMIT "300"

struct kernel {
    const char *name, *source, *library;
};

struct exploration {
    struct kernel kernel[MAX_RUNS];
    int kernels;
    const char *option[MAX_WORDS]; // passed on to the check
    int options;
    bool causal;
    char stem[PATH_TEXT]; // build/explore/solution-02_vectorized-attention
};

static struct exploration parse_options(int count, char **word) {
    struct exploration e = {.kernels = 1, .kernel = {{"kernel", "", ""}}};
    bool has_device = false, has_limit = false;
    if (count > MAX_WORDS - 8)
        message_exit(EXIT_BAD_INPUT, "explore takes at most %d arguments [usage]", MAX_WORDS - 8);
    for (int i = 0; i < count; i++) {
        const char *value = i + 1 < count ? word[i + 1] : "";
        const char **option = !strcmp(word[i], "--name")     ? &e.kernel[0].name
                              : !strcmp(word[i], "--source") ? &e.kernel[0].source
                              : !strcmp(word[i], "--kernel") ? &e.kernel[0].library
                                                             : NULL;
        if (option) {
            *option = value;
            i++;
        } else if (!strcmp(word[i], "--beside")) {
            if (i + 3 >= count)
                message_exit(EXIT_BAD_INPUT, "--beside takes NAME FILE.cu FILE.so [usage]");
            e.kernel[e.kernels = 1] = (struct kernel){word[i + 1], word[i + 2], word[i + 3]};
            e.kernels = 2;
            i += 3;
        } else {
            has_device |= !strcmp(word[i], "--device");
            has_limit |= !strcmp(word[i], "--time-limit");
            e.causal |= !strcmp(word[i], "--causal");
            e.option[e.options++] = word[i];
        }
    }
    if (!has_device) {
        e.option[e.options++] = "--device";
        e.option[e.options++] = "sim";
    }
    if (!has_limit) {
        e.option[e.options++] = "--time-limit";
        e.option[e.options++] = TIME_LIMIT;
    }
    e.option[e.options++] = "--sample";
    e.option[e.options++] = "explore";
    return e;
}

static void set_file_names(struct exploration *e) {
    const char *file = base_name(e->kernel[0].source);
    const size_t length = strlen(file);
    const int stem = (int)(length > 3 && !strcmp(file + length - 3, ".cu") ? length - 3 : length);
    if (snprintf(e->stem, sizeof e->stem, "build/explore/%s-%.*s", e->kernel[0].name, stem, file) > PATH_TEXT - 32)
        message_exit(EXIT_BAD_INPUT, "the name %.60s... is too long [name-too-long]", e->kernel[0].name);
    if (!make_parent_folder(e->stem) || access("build/explore", W_OK))
        message_exit(EXIT_BAD_INPUT, "build/explore cannot be written [cannot-write]");
}

// Returns the exit status of the check; ends the process if the input was bad.
static int run_kernel(const struct exploration *e, const struct kernel *kernel, const char *recording,
                      const char *log) {
    const char *command[MAX_WORDS + 16] = {"build/bin/attention", "check",    "--name",       kernel->name, "--source",
                                           kernel->source,        "--kernel", kernel->library};
    char folder[PATH_MAX], *target = NULL;
    int words = 8;
    for (int i = 0; i < e->options; i++)
        command[words++] = e->option[i];
    if (!getcwd(folder, sizeof folder) || asprintf(&target, "%s/%s", folder, recording) < 0)
        message_exit(EXIT_CHECK_FAILED, "the working directory cannot be read");
    remove(recording);
    setenv("SIMULATOR_RECORDING", target, 1);
    setenv("SIMULATOR_INSTRUCTION_LIMIT", INSTRUCTION_LIMIT, 0);
    free(target);
    const int status = process_run_to(log, true, command);
    if (status == 127 || status == EXIT_BAD_INPUT) {
        print_file(log);
        exit(status == 127 ? EXIT_CHECK_FAILED : status);
    }
    return status;
}

struct data {
    struct recorded_run run[MAX_RUNS];
    int runs;
};

static void print_data(FILE *to, const void *context) {
    const struct data *data = context;
    recording_print(to, data->run, data->runs);
}

// Written to a temporary file first, so that an existing page stays until the new one is complete.
static void write_page(const char *path, const struct data *data) {
    char scratch[PATH_TEXT + 48];
    struct message error = {""};
    snprintf(scratch, sizeof scratch, "%s.%d", path, (int)getpid());
    FILE *to = fopen(scratch, "we");
    if (!to)
        message_exit(EXIT_CHECK_FAILED, "%s cannot be written: %s", scratch, strerror(errno));
    bool right = page_write(to, "explorer", print_data, data, &error);
    if (fclose(to) && right)
        right = message_set(&error, "%s cannot be written: %s", scratch, strerror(errno));
    if (right && rename(scratch, path))
        right = message_set(&error, "%s cannot be written: %s", path, strerror(errno));
    if (!right) {
        remove(scratch);
        message_exit(EXIT_CHECK_FAILED, "%s", error.text);
    }
}

int teach_explore(int count, char **word) {
    struct exploration e = parse_options(count, word);
    struct data data = {.runs = e.kernels};
    char recording[MAX_RUNS][PATH_TEXT + 32], log[MAX_RUNS][PATH_TEXT + 32], page[PATH_TEXT + 32], size[NUMBER_TEXT];
    struct stat written;
    set_file_names(&e);
    for (int i = 0; i < e.kernels; i++) {
        snprintf(recording[i], sizeof recording[i], "%s.%d.json", e.stem, i);
        snprintf(log[i], sizeof log[i], "%s.%d.log", e.stem, i);
        data.run[i] = (struct recorded_run){.name = e.kernel[i].name,
                                            .source = e.kernel[i].source,
                                            .library = e.kernel[i].library,
                                            .recording = recording[i],
                                            .log = log[i],
                                            .causal = e.causal};
        data.run[i].status = run_kernel(&e, &e.kernel[i], recording[i], log[i]);
    }
    snprintf(page, sizeof page, "%s.html", e.stem);
    write_page(page, &data);
    for (int i = 0; i < e.kernels; i++)
        if (data.run[i].status)
            printf("%s fails its check; the page shows the run up to the failure [check-failed]\n", e.kernel[i].name);
    printf("%s (%s)\n", page, stat(page, &written) ? "" : format_bytes((double)written.st_size, size));
    return data.run[0].status ? EXIT_CHECK_FAILED : 0;
}
