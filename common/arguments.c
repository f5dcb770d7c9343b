#include "arguments.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char descriptor_variable[] = "ATTENTION_ARGUMENTS_FD";

// Ends a message with the code by which tests and searches know it.
static bool with_code(struct message *error, const char *code) {
    const size_t length = strlen(error->text);
    snprintf(error->text + length, sizeof error->text - length, " [%s]", code);
    return false;
}

static bool copy(char *to, size_t size, const char *text, struct message *error) {
    if (strlen(text) >= size)
        return message_set(error, "%.60s... is too long: %zu characters at most", text, size - 1);
    strcpy(to, text);
    return true;
}

static bool read_unsigned(const char *text, uint64_t *number) {
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && errno == 0;
}

static bool read_scale(const char *text, float *scale, struct message *error) {
    char *end;
    *scale = strtof(text, &end);
    if (end == text || *end || !isfinite(*scale))
        return message_set(error, "SCALE=%.60s is no number: give the factor of the scores, 0.125", text);
    return true;
}

// "256,1024": numbers of queries, and of keys.
static bool read_sizes(const char *text, struct arguments *a, struct message *error) {
    const char *at = text;
    for (a->sizes = 0;; at++) {
        char *end;
        long size = strtol(at, &end, 10);
        if (*at < '0' || *at > '9' || size < 1 || size > 1 << 20 || a->sizes == MAX_SIZES || (*end && *end != ','))
            return message_set(error,
                               "SIZES=%.60s cannot be used: give up to %d numbers, 256,1024,4096, each 1 to 2^20", text,
                               MAX_SIZES);
        for (int i = 0; i < a->sizes; i++)
            if (a->size[i] == size)
                return message_set(error, "SIZES=%.60s cannot be used: %ld is there twice", text, size);
        a->size[a->sizes++] = (int)size;
        at = end;
        if (!*at)
            return true;
    }
}

static bool append(const char **list, int *count, const char *value, struct message *error) {
    if (*count == MAX_KERNELS)
        return message_set(error, "too many kernels: %d at most", MAX_KERNELS);
    list[(*count)++] = value;
    return true;
}

// Results call a lesson by its folder, "solution-02_vectorized". Where the name is only "solution-02", the folder of
// its source completes it.
static void complete_name(struct kernel_argument *kernel, const char *name) {
    const char *dash = strrchr(name, '-'), *file = strrchr(kernel->source, '/');
    snprintf(kernel->name, sizeof kernel->name, "%s", name);
    if (!dash || !file || strlen(dash + 1) != 2)
        return;
    const char *folder = file;
    while (folder > kernel->source && folder[-1] != '/')
        folder--;
    if (strncmp(folder, dash + 1, 2) == 0 && folder[2] == '_')
        snprintf(kernel->name, sizeof kernel->name, "%.*s%.*s", (int)(dash + 1 - name), name, (int)(file - folder),
                 folder);
}

struct lists {
    const char *library[MAX_KERNELS], *name[MAX_KERNELS], *source[MAX_KERNELS];
    int libraries, names, sources;
};

static bool parse_option(const char *option, const char *value, struct arguments *a, struct lists *lists,
                         struct message *error) {
    uint64_t number;
    if (!strcmp(option, "--kernel"))
        return append(lists->library, &lists->libraries, value, error);
    if (!strcmp(option, "--name"))
        return append(lists->name, &lists->names, value, error);
    if (!strcmp(option, "--source"))
        return append(lists->source, &lists->sources, value, error);
    if (!strcmp(option, "--device")) {
        if (strcmp(value, "gpu") && strcmp(value, "sim"))
            return message_set(error, "DEVICE=%.60s is unknown; use gpu or sim", value);
        a->device = !strcmp(value, "gpu") ? DEVICE_GPU : DEVICE_SIMULATOR;
    } else if (!strcmp(option, "--shape")) {
        a->has_shape = true;
        return shape_parse(value, &a->shape, error) && copy(a->shape_text, sizeof a->shape_text, value, error);
    } else if (!strcmp(option, "--sample")) {
        if (strcmp(value, "trace") && strcmp(value, "profile") && strcmp(value, "explore") && strcmp(value, "work"))
            return message_set(error, "sample %.60s is unknown: use trace, profile, explore or work", value);
        a->sample = !strcmp(value, "trace")     ? SAMPLE_TRACE
                    : !strcmp(value, "profile") ? SAMPLE_PROFILE
                    : !strcmp(value, "work")    ? SAMPLE_WORK
                                                : SAMPLE_EXPLORE;
    } else if (!strcmp(option, "--gpus")) {
        if (!read_unsigned(value, &number) || number < 1 || number > MAX_DEVICES)
            return message_set(error, "GPUS=%.60s cannot be used: give 1 to %d", value, MAX_DEVICES);
        a->gpus = (int)number;
    } else if (!strcmp(option, "--dtype")) {
        a->has_dtype = true;
        return dtype_from_name(value, &a->dtype, error);
    } else if (!strcmp(option, "--scale")) {
        a->has_scale = true;
        return read_scale(value, &a->scale, error);
    } else if (!strcmp(option, "--inputs")) {
        return copy(a->inputs, sizeof a->inputs, value, error);
    } else if (!strcmp(option, "--layout")) {
        return layout_parse(value, &a->layout, error);
    } else if (!strcmp(option, "--data")) {
        return copy(a->data, sizeof a->data, value, error);
    } else if (!strcmp(option, "--out")) {
        return copy(a->out, sizeof a->out, value, error);
    } else if (!strcmp(option, "--seed")) {
        if (!read_unsigned(value, &a->seed))
            return message_set(error, "SEED=%.60s is no number: use 0 to 2^64 - 1", value);
        a->has_seed = true;
    } else if (!strcmp(option, "--time-limit")) {
        if (!read_unsigned(value, &number) || number < 1 || number > 86400)
            return message_set(error, "TIME_LIMIT=%.60s cannot be used: give 1 to 86400 seconds", value);
        a->time_limit = (int)number;
    } else if (!strcmp(option, "--results")) {
        return copy(a->results, sizeof a->results, value, error);
    } else if (!strcmp(option, "--commit")) {
        return copy(a->commit, sizeof a->commit, value, error);
    } else if (!strcmp(option, "--ceilings")) {
        return copy(a->ceilings, sizeof a->ceilings, value, error);
    } else if (!strcmp(option, "--state")) {
        return copy(a->state, sizeof a->state, value, error);
    } else if (!strcmp(option, "--sizes")) {
        return read_sizes(value, a, error);
    } else {
        return message_set(error, "option %.60s is unknown; common/arguments.h lists the options", option);
    }
    return true;
}

static bool join_kernels(struct arguments *a, const struct lists *lists, struct message *error) {
    if (!lists->libraries)
        return message_set(error, "no kernel: give --kernel FILE.so");
    if (lists->names > lists->libraries || lists->sources > lists->libraries)
        return message_set(error, "more names or sources than kernels: give each --kernel at most one of each");
    if (a->action == ACTION_CHECK && lists->libraries > 1)
        return message_set(error, "check takes one kernel, not %d", lists->libraries);
    a->kernels = lists->libraries;
    for (int i = 0; i < a->kernels; i++) {
        struct kernel_argument *kernel = &a->kernel[i];
        if (!copy(kernel->library, sizeof kernel->library, lists->library[i], error) ||
            !copy(kernel->source, sizeof kernel->source, i < lists->sources ? lists->source[i] : "", error))
            return false;
        complete_name(kernel, i < lists->names ? lists->name[i] : kernel->library);
    }
    return true;
}

// Sets the options; false with the code in the message.
static bool parse_options(int argc, char **argv, struct arguments *a, struct lists *lists, struct message *error) {
    const struct {
        const char *option;
        bool *set;
    } flags[] = {{"--causal", &a->causal}, {"--quick", &a->quick}, {"--fresh", &a->fresh},    {"--lse", &a->lse},
                 {"--ready", &a->ready},   {"--small", &a->small}, {"--verbose", &a->verbose}};
    enum { FLAGS = sizeof flags / sizeof *flags };
    for (int i = 2; i < argc; i++) {
        int flag = 0;
        while (flag < FLAGS && strcmp(argv[i], flags[flag].option))
            flag++;
        if (flag < FLAGS) {
            *flags[flag].set = true;
            continue;
        }
        if (strncmp(argv[i], "--", 2))
            message_set(error, "argument %.60s is unknown; common/arguments.h lists the options", argv[i]);
        else if (i + 1 == argc)
            message_set(error, "option %.60s needs a value", argv[i]);
        else if (parse_option(argv[i], argv[i + 1], a, lists, error)) {
            i++;
            continue;
        } else
            return with_code(error, "unknown-value");
        return with_code(error, "usage");
    }
    return true;
}

// Options that are right by themselves and exclude each other.
static bool options_agree(const struct arguments *a, struct message *error) {
    if (*a->data && a->has_shape)
        return message_set(error, "DATA and SHAPE exclude each other: the files have a shape of their own");
    if (*a->data && *a->inputs)
        return message_set(error, "DATA and INPUTS exclude each other: the files are the inputs");
    if (*a->data && a->action == ACTION_BENCH)
        return message_set(error, "bench draws its inputs itself: leave DATA out, or use check");
    if (a->sizes && (a->has_shape || a->quick))
        return message_set(error, "SIZES goes with neither SHAPE nor QUICK: they choose a shape themselves");
    if (a->has_scale && a->action == ACTION_BENCH)
        return message_set(error, "bench scales by 1/sqrt(head_dim): leave SCALE out, or use check");
    if (*a->inputs && a->action == ACTION_BENCH)
        return message_set(error, "bench times N(0,1) inputs: leave INPUTS out, or use check");
    if (a->layout.layout == LAYOUT_STRIDES && (!a->has_shape || a->shape.is_matrix))
        return message_set(error, "strides in LAYOUT are those of one shape: give SHAPE=B,H,N,D, too");
    return !a->has_shape || a->shape.is_matrix || shape_strides_disjoint(&a->shape.attention, error);
}

bool arguments_parse(int argc, char **argv, struct arguments *a, struct message *error) {
    struct lists lists = {0};
    memset(a, 0, sizeof *a);
    a->time_limit = 60;
    if (argc < 2 || (strcmp(argv[1], "check") && strcmp(argv[1], "bench")))
        return message_set(error, "build/bin/attention has no action '%.60s': use check or bench [usage]",
                           argc < 2 ? "" : argv[1]);
    a->action = !strcmp(argv[1], "bench") ? ACTION_BENCH : ACTION_CHECK;
    if (!parse_options(argc, argv, a, &lists, error))
        return false;
    a->shape.attention.causal = a->causal;
    a->shape.attention.layout = a->layout.layout;
    memcpy(a->shape.attention.stride, a->layout.stride, sizeof a->layout.stride);
    if (!options_agree(a, error))
        return with_code(error, "conflict");
    if (a->device == DEVICE_GPU && (a->sample == SAMPLE_TRACE || a->sample == SAMPLE_EXPLORE))
        return message_set(error, "%s [simulator-only]",
                           a->sample == SAMPLE_TRACE
                               ? "trace counts on the simulator, not on a GPU; omit DEVICE, or use make ... profile"
                               : "explore records on the simulator, not on a GPU; omit DEVICE");
    return a->ready || join_kernels(a, &lists, error) || with_code(error, "usage");
}

int arguments_send(const struct arguments *arguments) {
    char number[16];
    int file = memfd_create("arguments", 0);
    if (file < 0 || write(file, arguments, sizeof *arguments) != (ssize_t)sizeof *arguments)
        message_exit(EXIT_CHECK_FAILED, "no memory for the arguments: %s", strerror(errno));
    snprintf(number, sizeof number, "%d", file);
    setenv(descriptor_variable, number, 1);
    return file;
}

void arguments_receive(struct arguments *arguments) {
    const char *number = getenv(descriptor_variable);
    int file = number ? atoi(number) : -1;
    if (file < 0 || pread(file, arguments, sizeof *arguments, 0) != (ssize_t)sizeof *arguments)
        message_exit(EXIT_BAD_INPUT, "the runner is started by build/bin/attention, from the same build");
    close(file);
    unsetenv(descriptor_variable);
}
