#include "commands.h"

#include "estimate_report.h"
#include "files.h"
#include "process.h"
#include "report.h"
#include "sources.h"
#include "traced_kernel.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_WORDS = 100 };

struct run {
    const char *name, *source, *library;
    bool causal, has_device;
    const char *command[MAX_WORDS];
    char csv[PATH_TEXT], json[PATH_TEXT], overlap[PATH_TEXT], log[PATH_TEXT], ptxas[PATH_TEXT];
    char shape[64]; // from the log of the check, "" if unknown
};

static struct run parse_options(int count, char **word) {
    struct run run = {.name = "kernel", .source = "", .library = ""};
    int words = 0;
    run.command[words++] = "build/bin/attention";
    run.command[words++] = "check";
    if (count > MAX_WORDS - 8)
        message_exit(EXIT_BAD_INPUT, "trace takes at most %d arguments [usage]", MAX_WORDS - 8);
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
        run.command[words++] = word[i];
    }
    if (!run.has_device) {
        run.command[words++] = "--device";
        run.command[words++] = "sim";
    }
    // One case; the default shape is the one that the operation names for traces.
    run.command[words++] = "--sample";
    run.command[words++] = "trace";
    return run;
}

// "lessons/03_fused_softmax/softmax.cu" of a run called solution-03 is build/trace/solution-03-softmax.
static void set_file_names(struct run *run) {
    char folder[PATH_MAX], stem[PATH_TEXT];
    const char *file = base_name(run->source);
    int length = (int)strlen(file) - (strlen(file) > 3 && !strcmp(file + strlen(file) - 3, ".cu") ? 3 : 0);
    if (!getcwd(folder, sizeof folder))
        message_exit(EXIT_BAD_INPUT, "the working directory cannot be read");
    if (snprintf(stem, sizeof stem, "build/trace/%s-%.*s", run->name, length, file) > PATH_TEXT - 8)
        message_exit(EXIT_BAD_INPUT, "the name %.60s... is too long [name-too-long]", run->name);
    snprintf(run->csv, sizeof run->csv, "%.4080s.csv", stem);
    snprintf(run->json, sizeof run->json, "%.4080s.json", stem);
    snprintf(run->overlap, sizeof run->overlap, "%.4070s-overlap.csv", stem);
    snprintf(run->log, sizeof run->log, "%.4080s.log", stem);
    snprintf(run->ptxas, sizeof run->ptxas, "%.4080s.ptxas", run->library);
    if (!make_parent_folder(run->csv))
        message_exit(EXIT_BAD_INPUT, "build/trace cannot be written [cannot-write]");
    char *csv = NULL, *json = NULL, *overlap = NULL;
    if (asprintf(&csv, "%s/%s", folder, run->csv) < 0 || asprintf(&json, "%s/%s", folder, run->json) < 0 ||
        asprintf(&overlap, "%s/%s", folder, run->overlap) < 0)
        message_exit(EXIT_CHECK_FAILED, "out of memory");
    setenv("SIMULATOR_TRACE", "1", 1);
    setenv("SIMULATOR_TRACE_CSV", csv, 1);
    setenv("SIMULATOR_TRACE_JSON", json, 1);
    setenv("SIMULATOR_OVERLAP_CSV", overlap, 1);
    free(csv);
    free(json);
    free(overlap);
    remove(run->csv);
    remove(run->json);
    remove(run->overlap);
}

// Reads the shape from the log of the check: "... SHAPE=1,1,256,64 causal ...".
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

// In the folder of the source, or in the lesson of the same name: a solution shares the predictions of its skeleton.
static bool find_predictions_file(const char *source, char path[PATH_TEXT]) {
    return (source_table(source, "predictions", path) && file_exists(path)) ||
           (lesson_table(source, "predictions", path) && file_exists(path));
}

// Empty if the shape is unknown or the lesson has no predictions.
static struct predictions read_shape_predictions(const struct run *run) {
    struct predictions predictions = {.count = 0};
    struct shape_argument shape;
    struct message error;
    char path[PATH_TEXT];
    if (!*run->shape || !shape_parse(run->shape, &shape, &error) || !find_predictions_file(run->source, path))
        return predictions;
    shape.attention.causal = run->causal;
    if (!predictions_read(path, &shape, &predictions, &error))
        message_exit(EXIT_BAD_INPUT, "%s", error.text);
    return predictions;
}

int run_traced_kernel(int count, char **word, struct traced_kernel *traced_kernel) {
    struct run run = parse_options(count, word);
    set_file_names(&run);
    int status = process_run_to(run.log, true, run.command);
    find_shape(&run);
    snprintf(traced_kernel->shape, sizeof traced_kernel->shape, "%s", run.shape);
    snprintf(traced_kernel->overlap, sizeof traced_kernel->overlap, "%s", run.overlap);
    if (status)
        return status;
    return *run.shape && traffic_read(run.csv, &traced_kernel->traffic) ? 0 : EXIT_CHECK_FAILED;
}

const char *source_option(int count, char **word) {
    for (int i = 0; i + 1 < count; i++)
        if (!strcmp(word[i], "--source"))
            return word[i + 1];
    return "";
}

int teach_trace(int count, char **word) {
    struct run run = parse_options(count, word);
    struct traffic traffic;
    struct lines counted;
    set_file_names(&run);
    int status = process_run_to(run.log, true, run.command);
    bool has_counts = lines_read(run.csv, &counted) && counted.count;
    lines_free(&counted);
    if (status == EXIT_BAD_INPUT || status == EXIT_NOT_VERIFIED || !has_counts) {
        print_file(run.log);
        return status ? status : EXIT_CHECK_FAILED;
    }
    find_shape(&run);
    struct predictions predictions = read_shape_predictions(&run);
    if (traffic_read(run.csv, &traffic)) {
        merge_copies(&traffic);
        printf("%s  %s  %s%s%s, counted by the simulator\n\n", run.name, run.source, *run.shape ? "shape " : "",
               run.shape, run.causal ? ", causal" : "");
        report_kernels(&traffic, run.ptxas);
        report_predictions(&traffic, &predictions);
        traffic_free(&traffic);
    } else {
        printf("No memory access was counted: the kernel was not launched, or it neither loads nor stores.\n");
    }
    predictions_free(&predictions);
    printf("Counts: %s, %s\n", run.csv, run.json);
    if (!status)
        print_estimate(count, word, false);
    if (status)
        printf(
            "The kernel fails its check, so its counts may differ from those of a correct kernel; see make ... check "
            "[check-failed]\n");
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
    double actual = 0, ideal = 0;
    (void)count;
    if (!traffic_read(word[0], &traffic))
        message_exit(EXIT_BAD_INPUT, "%s holds no counts; run make clean, then try again [no-counts]", word[0]);
    for (int i = 0; i < traffic.count; i++) {
        actual += traffic.access[i].quantity[WAVEFRONTS];
        ideal += traffic.access[i].quantity[IDEAL_WAVEFRONTS];
    }
    traffic_free(&traffic);
    printf("%s %s\n", format_grouped(actual, taken_text), format_grouped(ideal, needed_text));
    // Partial tiles at the edges may cause a few conflicts.
    return actual > 1.02 * ideal ? EXIT_CHECK_FAILED : 0;
}

int teach_counter(int count, char **word) {
    struct traffic traffic;
    (void)count;
    if (!traffic_read(word[0], &traffic))
        message_exit(EXIT_BAD_INPUT, "%s holds no counts; run make clean, then try again [no-counts]", word[0]);
    double counted = counted_quantity(&traffic, word[1]), x, y, z;
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
