#include "runner/cases.h"

#include "host/inputs.h"
#include "runner/report.h"

#include <stdio.h>
#include <string.h>

enum input_family cases_family(const struct arguments *arguments) {
    enum input_family family = INPUTS_NORMAL;
    struct message error;
    if (*arguments->inputs && !inputs_from_name(arguments->inputs, &family, &error))
        message_exit(EXIT_BAD_INPUT, "%s", error.text);
    return family;
}

// Counts what is not part of a lesson by its name.
struct skipped {
    char part[16][sizeof((struct obstacle *)NULL)->part];
    int cases[16];
};

static void count_skipped(struct skipped *skipped, const char *part) {
    int i = 0;
    while (*skipped->part[i] && strcmp(skipped->part[i], part))
        i++;
    strcpy(skipped->part[i], part);
    skipped->cases[i]++;
}

// Tiles of 128 queries and 64 keys, as a kernel of the tensor cores may have them.
static int64_t tiles_of(const struct attention_shape *s) {
    return (int64_t)s->batch * s->heads * ((s->nq + 127) / 128) * ((s->nk + 63) / 64);
}

int cases_thin(const struct operation *operation, struct problem_case *cases, int count, uint64_t seed) {
    enum { MANY_TILES = 64 };
    int kept = 0;
    for (int i = 0; i < count; i++) {
        bool plain = cases[i].family == INPUTS_NORMAL && !cases[i].has_scale;
        bool large = !operation->is_matrix && tiles_of(&cases[i].attention) >= MANY_TILES;
        if (!seed || (!large && (!plain || ((uint64_t)i + seed) % 2)))
            cases[kept++] = cases[i];
    }
    return kept;
}

int cases_select(const struct worker *worker, struct problem_case *cases, int count, FILE *out) {
    struct skipped skipped = {.cases = {0}};
    struct message first = {""};
    int kept = 0;
    for (int i = 0; i < count; i++) {
        struct obstacle obstacle = {.part = ""};
        char text[CASE_TEXT];
        case_text(worker->operation, &cases[i], text, sizeof text);
        if (worker_covers(worker, &cases[i], &obstacle) && worker_fits(worker, &cases[i], &obstacle.reason))
            cases[kept++] = cases[i];
        else if (*obstacle.part)
            count_skipped(&skipped, obstacle.part);
        else
            fprintf(out, "  not run: %s: %s\n", text, obstacle.reason.text);
        if (!*first.text)
            first = obstacle.reason;
    }
    if (!kept)
        message_exit(EXIT_BAD_INPUT, "%s", first.text);
    for (int i = 0; *skipped.part[i]; i++)
        fprintf(out, "%s%s (%d case%s)", i ? ", " : "  not part of this lesson: ", skipped.part[i], skipped.cases[i],
                skipped.cases[i] == 1 ? "" : "s");
    if (*skipped.part[0])
        fputc('\n', out);
    return kept;
}

int cases_list(const struct worker *worker, const struct arguments *arguments, enum attention_dtype dtype,
               struct problem_case *cases) {
    const struct operation *operation = worker->operation;
    enum input_family family = cases_family(arguments);
    bool small = worker->device.limits.simulated || arguments->small;
    int count = operation->cases(arguments->quick ? MATRIX_QUICK : small ? MATRIX_SIMULATOR : MATRIX_GPU, cases);
    for (int i = 0; i < count; i++) {
        cases[i].dtype = dtype;
        if (*arguments->inputs)
            cases[i].family = family;
        if (operation->is_matrix)
            continue;
        if (arguments->gpus && operation->several_devices)
            cases[i].devices = arguments->gpus;
        if (arguments->has_scale) {
            cases[i].has_scale = true;
            cases[i].scale = arguments->scale;
        }
        cases[i].attention.causal = cases[i].attention.causal || arguments->causal;
        if (arguments->layout.layout == LAYOUT_BHND)
            continue;
        cases[i].attention.layout = arguments->layout.layout;
        memcpy(cases[i].attention.stride, arguments->layout.stride, sizeof arguments->layout.stride);
    }
    return count;
}
