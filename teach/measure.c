#include "measure.h"

#include "checksum.h"
#include "process.h"
#include "text.h"

#include <ctype.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The checksum of everything except the source that influences the counts: simulator, runner and headers.
static const char *harness_checksum(void) {
    static char text[CHECKSUM_TEXT];
    static const char *const patterns[] = {"build/simulator/libcudart.so.*", "build/bin/runner", "common/*.h",
                                           "common/*.cuh"};
    struct checksum checksum = {0, 0};
    if (*text)
        return text;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        glob_t found;
        if (!glob(patterns[i], 0, NULL, &found))
            for (size_t j = 0; j < found.gl_pathc; j++)
                checksum_add_file(&checksum, found.gl_pathv[j]);
        globfree(&found);
    }
    return checksum_text(&checksum, text);
}

struct run {
    char source[PATH_TEXT], shape[64];
    bool causal;
    const char *script; // for sed; "" if the source is used unchanged
};

static bool parse_run(const char *text, char label[32], struct run *run) {
    int length = 0;
    if (sscanf(text, "%31s %4000s %63s %n", label, run->source, run->shape, &length) != 3)
        return false;
    run->script = text + length;
    const char *rest = text_after_prefix(run->script, "causal");
    run->causal = rest && (!*rest || *rest == ' ');
    if (run->causal)
        run->script = rest + strspn(rest, " ");
    return true;
}

static bool copy(const char *from, const char *to) {
    const char *const command[] = {"cp", from, to, NULL};
    return make_parent_folder(to) && process_run(command) == 0;
}

// The next entry "NAME<KernelTraits<64, ...>>()," or "NAME<KernelTraits<E, 64, ...>>()," of a kernel table: its head
// dimension and its end. NULL if there is none.
static char *next_config(char *text, int *head_dim, char **end) {
    static const char begin[] = "<KernelTraits<", type[] = "E, ", close[] = ">>(),";
    for (char *found; (found = strstr(text, begin)); text = found + 1) {
        const char *number = found + strlen(begin);
        number += strncmp(number, type, strlen(type)) ? 0 : strlen(type);
        *end = strstr(found, close);
        if ((*head_dim = atoi(number)) > 0 && *end && !memchr(found, '\n', (size_t)(*end - found))) {
            *end += strlen(close);
            while (found > text && (isalnum((unsigned char)found[-1]) || found[-1] == '_'))
                found--;
            return found;
        }
    }
    return NULL;
}

// A lesson compiles kernels for several head dimensions, and a question runs only one. The other entries of the table
// are overwritten with spaces, since compiling them takes long; line numbers stay the same.
static bool keep_needed_configs(const char *path, const char *shape) {
    struct lines lines;
    const char *last = strrchr(shape, ',');
    int wanted = last ? atoi(last + 1) : 0, needed = 0, head_dim;
    char *end;
    if (!lines_read(path, &lines))
        return false;
    for (int i = 0; i < lines.count; i++)
        for (char *v = lines.line[i]; (v = next_config(v, &head_dim, &end)); v = end)
            if (head_dim >= wanted && (!needed || head_dim < needed))
                needed = head_dim;
    FILE *file = fopen(path, "w");
    for (int i = 0; file && i < lines.count; i++) {
        for (char *v = lines.line[i]; (v = next_config(v, &head_dim, &end)); v = end)
            if (needed && head_dim != needed)
                memset(v, ' ', (size_t)(end - v));
        fprintf(file, "%s\n", lines.line[i]);
    }
    lines_free(&lines);
    return file && !fclose(file);
}

// Builds the source and runs its check on the simulator; what they print goes to the log. The exit status of the check,
// -1 if the source does not compile. csv: where the simulator is to write its counts, NULL if they are not wanted.
static int check(const struct run *run, const char *source, const char *csv, const char *log) {
    char library[PATH_TEXT + 32], target[PATH_TEXT * 2], folder[PATH_MAX];
    const char *make = getenv("MAKE");
    snprintf(library, sizeof library, "build/kernels/%.*s.so", (int)strlen(source) - 3, source);
    const char *const build[] = {make && *make ? make : "make", "--no-print-directory", library, NULL};
    if (!getcwd(folder, sizeof folder) || process_run_to(log, true, build))
        return -1;
    unsetenv("SIMULATOR_TRACE");
    if (csv) {
        snprintf(target, sizeof target, "%s/%s", folder, csv);
        setenv("SIMULATOR_TRACE", "1", 1);
        setenv("SIMULATOR_TRACE_CSV", target, 1);
    }
    const char *command[20] = {"build/bin/attention",
                               "check",
                               "--device",
                               "sim",
                               "--name",
                               "quiz",
                               "--source",
                               source,
                               "--kernel",
                               library,
                               "--seed",
                               "1",
                               "--shape",
                               run->shape};
    int words = 14;
    if (run->causal)
        command[words++] = "--causal";
    if (csv) {
        command[words++] = "--sample";
        command[words++] = "trace";
    }
    return process_run_to(log, true, command);
}

// The file of an outcome: the exit status of the check in a line, then what it printed.
static bool write_outcome(int status, const char *log, const char *path) {
    char *printed = text_read(log);
    FILE *file = printed ? fopen(path, "w") : NULL;
    if (file)
        fprintf(file, "status %d\n%s", status, printed);
    free(printed);
    return file && !fclose(file);
}

static void show_progress(bool begin) {
    if (isatty(STDERR_FILENO))
        fputs(begin ? "measuring ...\r" : "\r\033[K", stderr);
}

bool measure(const char *text, bool outcome, char label[32], char path[PATH_TEXT], struct message *error) {
    struct run run;
    char changed[64], log[64], scratch[64], checksum[CHECKSUM_TEXT], folder[128], variant[256], shape[80];
    if (!parse_run(text, label, &run))
        return message_set(error, "has a run that is not LABEL SOURCE SHAPE: %.100s [bad-run]", text);
    snprintf(changed, sizeof changed, "build/quiz/source.%d", (int)getpid());
    snprintf(log, sizeof log, "build/quiz/log.%d", (int)getpid());
    snprintf(scratch, sizeof scratch, "build/quiz/csv.%d", (int)getpid());
    if (!make_parent_folder(changed))
        return message_set(error, "needs build/quiz, which cannot be written");
    const char *const sed[] = {"sed", run.script, run.source, NULL};
    if (process_run_to(changed, false, sed))
        return message_set(error, "has a run whose sed script %.100s cannot be applied to %s [sed-failed]", run.script,
                           run.source);
    char original[CHECKSUM_TEXT];
    bool unchanged = *run.script && !strcmp(file_checksum(run.source, original), file_checksum(changed, checksum));
    if (!keep_needed_configs(changed, run.shape))
        return message_set(error, "needs build/quiz, which cannot be written");
    file_checksum(changed, checksum);
    snprintf(folder, sizeof folder, "build/quiz/%s", checksum);
    snprintf(variant, sizeof variant, "%s/%.100s", folder, base_name(run.source));
    snprintf(shape, sizeof shape, "%s%s", run.shape, run.causal ? "_causal" : "");
    for (char *c = shape; *c; c++)
        *c = strchr(",:", *c) ? '_' : *c;
    snprintf(path, PATH_TEXT, "%s/%s-%s-%.100s.%s", folder, shape, harness_checksum(), base_name(run.source),
             outcome ? "outcome" : "csv");

    bool same = !strcmp(file_checksum(run.source, original), checksum), right = true;
    if (unchanged) {
        right = message_set(error, "has a run whose sed script %.100s changes nothing in %s [sed-no-change]",
                            run.script, run.source);
    } else if (!file_exists(path)) {
        show_progress(true);
        right = make_parent_folder(path) && (same || copy(changed, variant));
        int status = right ? check(&run, same ? run.source : variant, outcome ? NULL : scratch, log) : -1;
        right = outcome ? (status == 0 || status == EXIT_CHECK_FAILED) && write_outcome(status, log, scratch) : !status;
        right = right && !rename(scratch, path);
        show_progress(false);
        if (!right) {
            print_file(log);
            message_set(error, "cannot be graded: counting %s with '%.100s' failed at SHAPE=%s [count-failed]",
                        run.source, run.script, run.shape);
        }
    }
    remove(changed);
    remove(log);
    remove(scratch);
    return right;
}
