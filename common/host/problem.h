// A problem on the host: the input and output tensors of a kernel, with rows in the order [batch][heads][n].
#ifndef HOST_PROBLEM_H
#define HOST_PROBLEM_H

#include "host/case.h"

#include <stdbool.h>
#include <stdint.h>

enum { MAX_TENSORS = 9 };

// Row layout on the device: row r, counted over [batch][heads][n], starts stride[0] * batch + stride[1] * head +
// stride[2] * n elements from the start.
struct row_layout {
    int heads, n; // n = 0: one batch of one head, of which stride[2] alone counts
    int64_t stride[3];
    // The rows of a head may be split over devices: a device's part has n / parts rows of each head and is stride[0] *
    // batches elements after the part before. zigzag: of 2 * parts chunks of a head, part p has chunk p, and then chunk
    // 2 * parts - 1 - p. 0: one part.
    int parts, batches;
    bool zigzag;
};

struct host_tensor {
    const char *name; // "q", as messages call it
    enum attention_dtype dtype;
    int64_t rows;
    int columns;
    struct row_layout layout;
    bool optional; // an output that a caller may omit
    float *values; // [kept][columns] of an input, numbers that dtype has: row r is row r % kept
    int64_t kept;
};

struct host_problem {
    const struct operation *operation;
    struct problem_case which;
    struct host_tensor tensor[MAX_TENSORS]; // inputs, then outputs
    int inputs, outputs;
    float softmax_scale; // of attention
    bool finite;         // no NaN and no infinity in any input
    bool rounded;        // the user's inputs had more bits than the type
};

// The layout of contiguous rows.
struct row_layout layout_of_rows(int columns);

// The offset of row r in elements.
int64_t layout_row(const struct row_layout *layout, int64_t row);

// Whether rows are contiguous in the host's order.
bool layout_is_plain(const struct host_tensor *tensor);

// Elements from the first to the last one, gaps included.
int64_t tensor_span(const struct host_tensor *tensor);

// Both add a tensor with contiguous rows, inputs first. Values are rounded to dtype and checked for NaN and infinity;
// the problem owns them from then on. kept is 0 if there are none.
struct host_tensor *problem_add_input(struct host_problem *problem, const char *name, enum attention_dtype dtype,
                                      int64_t rows, int columns, float *values, int64_t kept);
struct host_tensor *problem_add_output(struct host_problem *problem, const char *name, enum attention_dtype dtype,
                                       int64_t rows, int columns);

static inline const float *host_row(const struct host_tensor *tensor, int64_t row) {
    return tensor->values + (row % tensor->kept) * tensor->columns;
}

// The number of elements of all outputs, and output i.
int64_t problem_output_elements(const struct host_problem *problem);
static inline const struct host_tensor *problem_output(const struct host_problem *problem, int i) {
    return &problem->tensor[problem->inputs + i];
}

// Removes the optional outputs, which are the last ones.
void problem_omit_optional(struct host_problem *problem);

void host_problem_free(struct host_problem *problem);

#endif
