#include "predictions.h"

#include "expression.h"

#include <stdlib.h>
#include <string.h>

// A name that does not apply to the shape, such as ROWS for attention, is 0.
static bool shape_name(void *context, const char *name, double *value) {
    const struct shape_argument *shape = context;
    const struct attention_shape *a = &shape->attention;
    bool matrix = shape->is_matrix;
    const struct {
        const char *name;
        double value;
    } names[] = {
        {"B", matrix ? 0 : a->batch},
        {"H", matrix ? 0 : a->heads},
        {"KV_HEADS", matrix ? 0 : a->kv_heads},
        {"NQ", matrix ? 0 : a->nq},
        {"NK", matrix ? 0 : a->nk},
        {"D", matrix ? 0 : a->head_dim},
        {"CAUSAL", matrix ? 0 : a->causal},
        {"ROWS", matrix ? (double)shape->matrix.rows : 0},
        {"COLUMNS", matrix ? shape->matrix.columns : 0},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i].name)) {
            *value = names[i].value;
            return true;
        }
    return false;
}

bool predictions_read(const char *path, const struct shape_argument *shape, struct predictions *predictions,
                      struct message *error) {
    struct shape_argument at = *shape;
    const struct scope scope = {
        .name = shape_name,
        .context = &at,
        .vocabulary = "numbers, + - * / % ? : and B H KV_HEADS NQ NK D CAUSAL ROWS COLUMNS ceil floor min max",
    };
    *predictions = (struct predictions){.count = 0};
    struct csv *csv = &predictions->csv;
    if (!csv_read(path, csv))
        return message_set(error, "%s cannot be read [cannot-read]", path);
    predictions->prediction = calloc((size_t)csv->rows + 1, sizeof *predictions->prediction);
    if (!predictions->prediction)
        message_exit(EXIT_CHECK_FAILED, "out of memory");
    for (int row = 0; row < csv->rows; row++) {
        struct prediction *p = &predictions->prediction[predictions->count++];
        const char *formula = csv_text(csv, row, "formula");
        struct message reason;
        *p = (struct prediction){csv_text(csv, row, "name"), csv_text(csv, row, "unit"), 0};
        if (!expression_number(formula, &scope, &p->value, &reason)) {
            message_set(error, "%s:%d: the formula %.200s %s", path, csv->line[row + 1], formula, reason.text);
            predictions_free(predictions);
            return false;
        }
    }
    return true;
}

void predictions_free(struct predictions *predictions) {
    csv_free(&predictions->csv);
    free(predictions->prediction);
    *predictions = (struct predictions){.count = 0};
}
