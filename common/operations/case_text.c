#include "host/inputs.h"
#include "host/parallel.h"
#include "operation.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 3, 4))) static void add(char *text, size_t size, const char *format, ...) {
    va_list arguments;
    size_t length = strlen(text);
    va_start(arguments, format);
    vsnprintf(text + length, size - length, format, arguments);
    va_end(arguments);
}

static void start(const struct operation *operation, const struct problem_case *which, const char *variable, char *text,
                  size_t size) {
    char shape[SHAPE_TEXT];
    if (operation->is_matrix)
        snprintf(shape, sizeof shape, "%lld,%d", (long long)which->matrix.rows, which->matrix.columns);
    else
        shape_text(&which->attention, shape);
    snprintf(text, size, "%s%s", variable, shape);
}

// fp32 goes without saying.
static const char *type_of(const struct problem_case *which) {
    return which->dtype == ATTENTION_FP32 ? "" : dtype_of(which->dtype)->name;
}

// Of attention N(0,1) goes without saying, too.
static const char *family_of(const struct operation *operation, const struct problem_case *which) {
    return which->family || operation->is_matrix ? inputs_name(which->family) : "";
}

// As short as it is the same number.
static void add_scale(char *text, size_t size, const char *before, float scale) {
    char number[32];
    snprintf(number, sizeof number, "%g", scale);
    if (strtof(number, NULL) != scale)
        snprintf(number, sizeof number, "%.9g", scale);
    add(text, size, "%s%s", before, number);
}

void case_text(const struct operation *operation, const struct problem_case *which, char *text, size_t size) {
    char layout[LAYOUT_TEXT] = "";
    bool causal = !operation->is_matrix && which->attention.causal;
    if (!operation->is_matrix)
        layout_text(&which->attention, layout);
    start(operation, which, "SHAPE=", text, size);
    const char *const words[] = {type_of(which), causal ? "causal" : "", layout, family_of(operation, which)};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (*words[i])
            add(text, size, " %s", words[i]);
    if (which->devices)
        add(text, size, " on %d GPU%s", which->devices, which->devices == 1 ? "" : "s");
    if (which->has_scale)
        add_scale(text, size, " scale ", which->scale);
}

void case_variables(const struct operation *operation, const struct problem_case *which, char *text, size_t size) {
    char layout[LAYOUT_TEXT] = "";
    if (!operation->is_matrix)
        layout_text(&which->attention, layout);
    start(operation, which, "SHAPE=", text, size);
    if (*type_of(which))
        add(text, size, " DTYPE=%s", type_of(which));
    if (!operation->is_matrix && which->attention.causal)
        add(text, size, " CAUSAL=1");
    if (*layout)
        add(text, size, " LAYOUT=%s", layout);
    if (*family_of(operation, which))
        add(text, size, " INPUTS=%s", family_of(operation, which));
    if (which->has_scale)
        add_scale(text, size, " SCALE=", which->scale);
    if (which->devices)
        add(text, size, " GPUS=%d", which->devices);
}

void case_title(const struct operation *operation, const struct problem_case *which, char *text, size_t size) {
    char layout[LAYOUT_TEXT] = "";
    start(operation, which, operation->is_matrix ? "ROWS,COLUMNS = " : "B,H,N,D = ", text, size);
    if (!operation->is_matrix)
        layout_text(&which->attention, layout);
    if (!operation->is_matrix && which->attention.causal)
        add(text, size, " causal");
    if (*layout)
        add(text, size, " %s", layout);
    if (which->family && !operation->is_matrix)
        add(text, size, " %s", inputs_name(which->family));
    if (which->devices)
        add(text, size, " on %d GPU%s", which->devices, which->devices == 1 ? "" : "s");
}

double case_host_bytes(const struct operation *operation, const struct problem_case *which) {
    enum { MOST_SAMPLED = 1 << 16, DOUBLES_PER_SAMPLED = 3, SPARE = 1 << 28 };
    bool matrix = operation->is_matrix;
    int columns = matrix ? which->matrix.columns : which->attention.head_dim;
    double rows = matrix ? (double)which->matrix.rows : (double)shape_q_elements(&which->attention) / columns;
    double scores = 8.0 * (matrix ? columns : which->attention.nk) * parallel_threads();
    // A matrix is kept as it is and judged row by row; the wrong ones are marked.
    double sampled = rows < MOST_SAMPLED ? rows : MOST_SAMPLED;
    return scores + sampled * columns * (matrix ? 1 : DOUBLES_PER_SAMPLED * 8 + 1) + SPARE;
}
