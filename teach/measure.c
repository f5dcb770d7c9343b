#include "measure.h"

#include "process.h"
#include "stamp.h"
#include "text.h"

#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Of all that decides what is counted, beside the source itself.
static const char *harness_stamp(void) {
    static char text[STAMP_TEXT];
    static const char *const patterns[] = {"build/simulator/libcudart.so.*", "build/bin/runner", "common/*.h",
                                           "common/*.cuh"};
    struct stamp stamp = {0, 0};
    if (*text)
        return text;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        glob_t found;
        if (!glob(patterns[i], 0, NULL, &found))
            for (size_t j = 0; j < found.gl_pathc; j++)
                stamp_add(&stamp, found.gl_pathv[j]);
        globfree(&found);
    }
    return stamp_end(&stamp, text);
}

struct run {
    char source[PATH_TEXT], shape[64];
    bool causal;
    const char *script; // for sed, "" where the source is taken as it is
};

static bool read_run(const char *text, char label[32], struct run *run) {
    int length = 0;
    if (sscanf(text, "%31s %4000s %63s %n", label, run->source, run->shape, &length) != 3)
        return false;
    run->script = text + length;
    const char *rest = text_after(run->script, "causal");
    run->causal = rest && (!*rest || *rest == ' ');
    if (run->causal)
        run->script = rest + strspn(rest, " ");
    return true;
}

static bool copy(const char *from, const char *to) {
    const char *const command[] = {"cp", from, to, NULL};
    return files_make_folder(to) && process_run(command) == 0;
}

// The next entry "variant<Tile<64, ...>>()," of a table of kernels, or "variant<Tile<E, 64, ...>>(),": its head
// dimension, and where it ends. NULL: there is none.
static char *next_variant(char *text, int *head_dim, char **end) {
    static const char begin[] = "variant<Tile<", type[] = "E, ", close[] = ">>(),";
    for (char *found; (found = strstr(text, begin)); text = found + 1) {
        const char *number = found + strlen(begin);
        number += strncmp(number, type, strlen(type)) ? 0 : strlen(type);
        *end = strstr(found, close);
        if ((*head_dim = atoi(number)) > 0 && *end && !memchr(found, '\n', (size_t)(*end - found))) {
            *end += strlen(close);
            return found;
        }
    }
    return NULL;
}

// A lesson compiles kernels for several sizes of heads, and a question runs one: the others, which take long to
// compile, are blanked out in the table. The lines stay as they are.
static bool leave_needed_variants(const char *path, const char *shape) {
    struct lines lines;
    const char *last = strrchr(shape, ',');
    int wanted = last ? atoi(last + 1) : 0, needed = 0, head_dim;
    char *end;
    if (!lines_read(path, &lines))
        return false;
    for (int i = 0; i < lines.count; i++)
        for (char *v = lines.line[i]; (v = next_variant(v, &head_dim, &end)); v = end)
            if (head_dim >= wanted && (!needed || head_dim < needed))
                needed = head_dim;
    FILE *file = fopen(path, "w");
    for (int i = 0; file && i < lines.count; i++) {
        for (char *v = lines.line[i]; (v = next_variant(v, &head_dim, &end)); v = end)
            if (needed && head_dim != needed)
                memset(v, ' ', (size_t)(end - v));
        fprintf(file, "%s\n", lines.line[i]);
    }
    lines_free(&lines);
    return file && !fclose(file);
}

// Makes csv. What others print goes to the log.
static bool count(const struct run *run, const char *source, const char *csv, const char *log) {
    char library[PATH_TEXT + 32], target[PATH_TEXT * 2], folder[PATH_MAX];
    const char *make = getenv("MAKE");
    snprintf(library, sizeof library, "build/kernels/%.*s.so", (int)strlen(source) - 3, source);
    const char *const build[] = {make && *make ? make : "make", "--no-print-directory", library, NULL};
    if (!getcwd(folder, sizeof folder) || process_run_to(log, true, build))
        return false;
    snprintf(target, sizeof target, "%s/%s", folder, csv);
    setenv("SIMULATOR_TRACE", "1", 1);
    setenv("SIMULATOR_TRACE_CSV", target, 1);
    const char *const check[] = {"build/bin/attention",
                                 "check",
                                 "--device",
                                 "sim",
                                 "--name",
                                 "quiz",
                                 "--source",
                                 source,
                                 "--kernel",
                                 library,
                                 "--sample",
                                 "trace",
                                 "--shape",
                                 run->shape,
                                 run->causal ? "--causal" : NULL,
                                 NULL};
    return process_run_to(log, true, check) == 0;
}

static void say_measuring(bool begin) {
    if (isatty(STDERR_FILENO))
        fputs(begin ? "measuring ...\r" : "\r\033[K", stderr);
}

bool measure(const char *text, char label[32], char csv[PATH_TEXT], struct message *error) {
    struct run run;
    char changed[64], log[64], scratch[64], stamp[STAMP_TEXT], folder[128], variant[256], shape[80];
    if (!read_run(text, label, &run))
        return message_set(error, "has a run that is not LABEL SOURCE SHAPE: %.100s", text);
    snprintf(changed, sizeof changed, "build/quiz/source.%d", (int)getpid());
    snprintf(log, sizeof log, "build/quiz/log.%d", (int)getpid());
    snprintf(scratch, sizeof scratch, "build/quiz/csv.%d", (int)getpid());
    if (!files_make_folder(changed))
        return message_set(error, "needs build/quiz, which cannot be written");
    const char *const sed[] = {"sed", run.script, run.source, NULL};
    if (process_run_to(changed, false, sed))
        return message_set(error, "has a run of which sed cannot apply %.100s to %s", run.script, run.source);
    char original[STAMP_TEXT];
    bool unchanged = *run.script && !strcmp(stamp_of(run.source, original), stamp_of(changed, stamp));
    if (!leave_needed_variants(changed, run.shape))
        return message_set(error, "needs build/quiz, which cannot be written");
    stamp_of(changed, stamp);
    snprintf(folder, sizeof folder, "build/quiz/%s", stamp);
    snprintf(variant, sizeof variant, "%s/%.100s", folder, text_base(run.source));
    snprintf(shape, sizeof shape, "%s%s", run.shape, run.causal ? "_causal" : "");
    for (char *c = shape; *c; c++)
        *c = strchr(",:", *c) ? '_' : *c;
    snprintf(csv, PATH_TEXT, "%s/%s-%s-%.100s.csv", folder, shape, harness_stamp(), text_base(run.source));

    bool same = !strcmp(stamp_of(run.source, original), stamp), right = true;
    if (unchanged) {
        right = message_set(error, "has a run whose %.100s changes nothing in %s", run.script, run.source);
    } else if (!files_exist(csv)) {
        say_measuring(true);
        right = files_make_folder(csv) && (same || copy(changed, variant)) &&
                count(&run, same ? run.source : variant, scratch, log) && !rename(scratch, csv);
        say_measuring(false);
        if (!right) {
            files_show(log);
            message_set(error, "cannot be graded: %s with '%.100s' could not be counted at %s", run.source, run.script,
                        run.shape);
        }
    }
    remove(changed);
    remove(log);
    remove(scratch);
    return right;
}
