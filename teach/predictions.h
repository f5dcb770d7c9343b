// The memory traffic that a lesson's page predicts: lessons/NN_name/predictions.csv, or softmax_predictions.csv for
// softmax.cu, with lines  name,unit,formula.
//
//   name     SPACE_ACCESS_QUANTITY, summed over all kernels of one run. SPACE: global, shared, local. ACCESS: load,
//   store,
//            atomic, reduction, async_copy, matrix_load, matrix_store. QUANTITY: requests, lanes, bytes, sectors,
//            ideal_sectors, wavefronts, ideal_wavefronts. With @TEXT appended: only source lines that contain TEXT,
//            also as the kernel's line that calls an inlined function.
//   unit     for people
//   formula  an expression (expression.h) with the names B, H, KV_HEADS, NQ, NK, D, CAUSAL, ROWS and COLUMNS
#ifndef PREDICTIONS_H
#define PREDICTIONS_H

#include "csv.h"
#include "shape.h"

struct prediction {
    const char *name, *unit;
    double value;
};

struct predictions {
    struct csv csv;
    struct prediction *prediction; // [count]
    int count;
};

// The predictions of a file at a shape. False with one line if it cannot be read or a formula has no value.
bool predictions_read(const char *path, const struct shape_argument *shape, struct predictions *predictions,
                      struct message *error);
void predictions_free(struct predictions *predictions);

#endif
