#include "commands.h"

#include "estimated.h"
#include "files.h"
#include "process.h"
#include "report.h"
#include "sources.h"
#include "traced.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_WORDS = 100 };

struct run {
    const char *name, *source, *library;
    bool causal, has_device;
    const char *command[MOST_WORDS];
    char csv[PATH_TEXT], json[PATH_TEXT], log[PATH_TEXT], ptxas[PATH_TEXT];
    char shape[64]; // as the log says it, "" where it does not
};

static struct run read_words(int count, char **word) {
    struct run run = {.name = "kernel", .source = "", .library = ""};
    int words = 0;
    run.command[words++] = "build/bin/attention";
    run.command[words++] = "check";
    if (count > MOST_WORDS - 8)
        message_exit(EXIT_BAD_INPUT, "trace takes no more than %d words", MOST_WORDS - 8);
    for (int i = 0; i < count; i++) {
        const char *value = i + 1 < count ? word[i + 1] : "";
        if (!strcmp(word[i], "--name"))
            run.name = value;
        else if (!strcmp(word[i], "--source"))
            run.source = value;
        else if (!strcmp(word[i], "--kernel"))
            run.library = value;
        else if (!strcmp(word[i], "--causal"))
            run.causal = true;
        else if (!strcmp(word[i], "--device"))
            run.has_device = true;
        if (!strcmp(word[i], "--device") && !strcmp(value, "gpu"))
            message_exit(EXIT_BAD_INPUT,
                         "trace counts on the simulator, not on a GPU; leave DEVICE away, or take make ... "
                         "profile");
        run.command[words++] = word[i];
    }
    if (!run.has_device) {
        run.command[words++] = "--device";
        run.command[words++] = "sim";
    }
    // One case, of the shape that the operation names where the user has named none.
    run.command[words++] = "--sample";
    run.command[words++] = "trace";
    return run;
}

// "lessons/03_fused_softmax/softmax.cu" of a run called solution-03 is build/trace/solution-03-softmax.
static void name_files(struct run *run) {
    char folder[PATH_MAX], stem[PATH_TEXT];
    const char *file = text_base(run->source);
    int length = (int)strlen(file) - (strlen(file) > 3 && !strcmp(file + strlen(file) - 3, ".cu") ? 3 : 0);
    if (!getcwd(folder, sizeof folder))
        message_exit(EXIT_BAD_INPUT, "the working directory cannot be read");
    if (snprintf(stem, sizeof stem, "build/trace/%s-%.*s", run->name, length, file) > PATH_TEXT - 8)
        message_exit(EXIT_BAD_INPUT, "%.60s... is too long a name", run->name);
    snprintf(run->csv, sizeof run->csv, "%.4080s.csv", stem);
    snprintf(run->json, sizeof run->json, "%.4080s.json", stem);
    snprintf(run->log, sizeof run->log, "%.4080s.log", stem);
    snprintf(run->ptxas, sizeof run->ptxas, "%.4080s.ptxas", run->library);
    if (!files_make_folder(run->csv))
        message_exit(EXIT_BAD_INPUT, "build/trace cannot be written");
    char *csv = NULL, *json = NULL;
    if (asprintf(&csv, "%s/%s", folder, run->csv) < 0 || asprintf(&json, "%s/%s", folder, run->json) < 0)
        message_exit(EXIT_CHECK_FAILED, "out of memory");
    setenv("SIMULATOR_TRACE", "1", 1);
    setenv("SIMULATOR_TRACE_CSV", csv, 1);
    setenv("SIMULATOR_TRACE_JSON", json, 1);
    free(csv);
    free(json);
    remove(run->csv);
    remove(run->json);
}

// The harness says what it ran: "right  SHAPE=1,1,256,64 causal ...".
static void find_shape(struct run *run) {
    struct lines log;
    if (!lines_read(run->log, &log))
        return;
    for (int i = 0; i < log.count && !*run->shape; i++) {
        const char *shape = strstr(log.line[i], "SHAPE=");
        if (!shape)
            continue;
        shape += strlen("SHAPE=");
        int length = (int)strspn(shape, "0123456789,:");
        length -= length && shape[length - 1] == ':';
        snprintf(run->shape, sizeof run->shape, "%.*s", length, shape);
    }
    lines_free(&log);
}

// Beside the source, or in the lesson of the same name: a solution has the predictions of its skeleton.
static bool find_predictions(const char *source, char path[PATH_TEXT]) {
    return (source_table_beside(source, "predictions", path) && files_exist(path)) ||
           (source_table_of_lesson(source, "predictions", path) && files_exist(path));
}

// None where the shape is not known, or no page predicts anything.
static struct predictions predicted(const struct run *run) {
    struct predictions predictions = {.count = 0};
    struct shape_argument shape;
    struct message error;
    char path[PATH_TEXT];
    if (!*run->shape || !shape_parse(run->shape, &shape, &error) || !find_predictions(run->source, path))
        return predictions;
    shape.attention.causal = run->causal;
    if (!predictions_read(path, &shape, &predictions, &error))
        message_exit(EXIT_BAD_INPUT, "%s", error.text);
    return predictions;
}

int traced_run(int count, char **word, struct traced *traced) {
    struct run run = read_words(count, word);
    name_files(&run);
    int status = process_run_to(run.log, true, run.command);
    find_shape(&run);
    snprintf(traced->shape, sizeof traced->shape, "%s", run.shape);
    if (status)
        return status;
    return *run.shape && traffic_read(run.csv, &traced->traffic) ? 0 : EXIT_CHECK_FAILED;
}

const char *traced_source(int count, char **word) {
    for (int i = 0; i + 1 < count; i++)
        if (!strcmp(word[i], "--source"))
            return word[i + 1];
    return "";
}

int teach_trace(int count, char **word) {
    struct run run = read_words(count, word);
    struct traffic traffic;
    struct lines counted;
    name_files(&run);
    int status = process_run_to(run.log, true, run.command);
    bool has_counts = lines_read(run.csv, &counted) && counted.count;
    lines_free(&counted);
    if (status == EXIT_BAD_INPUT || !has_counts) {
        files_show(run.log);
        return status ? status : EXIT_CHECK_FAILED;
    }
    find_shape(&run);
    struct predictions predictions = predicted(&run);
    if (traffic_read(run.csv, &traffic)) {
        traffic_merge(&traffic);
        printf("%s  %s  %s%s%s, counted by the simulator\n\n", run.name, run.source, *run.shape ? "shape " : "",
               run.shape, run.causal ? ", causal" : "");
        report_kernels(&traffic, run.ptxas);
        report_predictions(&traffic, &predictions);
        traffic_free(&traffic);
    } else {
        printf("No memory access was counted: the kernel was not launched, or reads and writes nothing.\n");
    }
    predictions_free(&predictions);
    printf("Counts: %s, %s\n", run.csv, run.json);
    if (!status)
        estimated_print(count, word, 0);
    if (status)
        printf("The kernel fails its check, so these are the counts of a kernel that does something else; see make ... "
               "check.\n");
    return status;
}

int teach_predictions(int count, char **word) {
    for (int i = 1; i < count; i++) {
        struct shape_argument shape;
        struct predictions predictions;
        struct message error;
        if (!shape_parse(word[i], &shape, &error) || !predictions_read(word[0], &shape, &predictions, &error))
            message_exit(EXIT_BAD_INPUT, "%s", error.text);
        for (int j = 0; j < predictions.count; j++) {
            const struct prediction *p = &predictions.prediction[j];
            printf("%s\t%s\t%s\t%.0f\n", word[i], p->name, p->unit, p->value);
        }
        predictions_free(&predictions);
    }
    return 0;
}

int teach_conflicts(int count, char **word) {
    struct traffic traffic;
    char taken_text[NUMBER_TEXT], needed_text[NUMBER_TEXT];
    double taken = 0, needed = 0;
    (void)count;
    if (!traffic_read(word[0], &traffic))
        message_exit(EXIT_BAD_INPUT, "%s holds no counts; make clean, and try again", word[0]);
    for (int i = 0; i < traffic.count; i++) {
        taken += traffic.access[i].quantity[WAVEFRONTS];
        needed += traffic.access[i].quantity[IDEAL_WAVEFRONTS];
    }
    traffic_free(&traffic);
    printf("%s %s\n", text_grouped(taken, taken_text), text_grouped(needed, needed_text));
    // A few are left where a ragged edge makes them.
    return taken > 1.02 * needed ? EXIT_CHECK_FAILED : 0;
}

int teach_counter(int count, char **word) {
    struct traffic traffic;
    (void)count;
    if (!traffic_read(word[0], &traffic))
        message_exit(EXIT_BAD_INPUT, "%s holds no counts; make clean, and try again", word[0]);
    double counted = report_counted(&traffic, word[1]), x, y, z;
    for (int i = 0; i < traffic.count; i++) {
        const struct traffic_access *access = &traffic.access[i];
        if (!strcmp(word[1], "shared_bytes"))
            counted = fmax(counted, access->shared_bytes);
        else if (!strcmp(word[1], "blocks") && sscanf(access->grid, "%lfx%lfx%lf", &x, &y, &z) == 3)
            counted = fmax(counted, x * y * z);
    }
    traffic_free(&traffic);
    printf("%.0f\n", counted);
    return 0;
}
