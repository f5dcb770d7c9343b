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
struct left_out {
    char part[16][sizeof((struct obstacle *)NULL)->part];
    int cases[16];
};

static void leave_out(struct left_out *left_out, const char *part) {
    int i = 0;
    while (*left_out->part[i] && strcmp(left_out->part[i], part))
        i++;
    strcpy(left_out->part[i], part);
    left_out->cases[i]++;
}

int cases_thin(struct problem_case *cases, int count, uint64_t seed) {
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (!seed || cases[i].family != INPUTS_NORMAL || cases[i].has_scale || ((uint64_t)i + seed) % 2)
            cases[kept++] = cases[i];
    return kept;
}

int cases_select(const struct worker *worker, struct problem_case *cases, int count) {
    struct left_out left_out = {.cases = {0}};
    struct message first = {""};
    int kept = 0;
    for (int i = 0; i < count; i++) {
        struct obstacle obstacle = {.part = ""};
        char text[CASE_TEXT];
        case_text(worker->operation, &cases[i], text, sizeof text);
        if (worker_covers(worker, &cases[i], &obstacle) && worker_fits(worker, &cases[i], &obstacle.reason))
            cases[kept++] = cases[i];
        else if (*obstacle.part)
            leave_out(&left_out, obstacle.part);
        else
            printf("  not run: %s: %s\n", text, obstacle.reason.text);
        if (!*first.text)
            first = obstacle.reason;
    }
    if (!kept)
        message_exit(EXIT_BAD_INPUT, "%s", first.text);
    for (int i = 0; *left_out.part[i]; i++)
        printf("  not part of this lesson: %s (%d case%s)\n", left_out.part[i], left_out.cases[i],
               left_out.cases[i] == 1 ? "" : "s");
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
        if (arguments->has_scale) {
            cases[i].has_scale = true;
            cases[i].scale = arguments->scale;
        }
        cases[i].attention.causal = cases[i].attention.causal || arguments->causal;
        if (arguments->layout.layout != LAYOUT_BHND)
            cases[i].attention.layout = arguments->layout.layout;
    }
    return count;
}
