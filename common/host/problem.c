#include "host/problem.h"

#include "host/parallel.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct row_layout layout_of_rows(int columns) {
    return (struct row_layout){.stride = {0, 0, columns}};
}

static int64_t row_of_part(const struct row_layout *layout, int64_t batch, int64_t head, int64_t n) {
    int64_t rows = layout->n / layout->parts, part = n / rows, row = n % rows;
    if (layout->zigzag) {
        int64_t chunk = n / (rows / 2), last = 2 * layout->parts - 1;
        part = chunk < layout->parts ? chunk : last - chunk;
        row = n % (rows / 2) + (chunk < layout->parts ? 0 : rows / 2);
    }
    return (part * layout->batches + batch) * layout->stride[0] + head * layout->stride[1] + row * layout->stride[2];
}

int64_t layout_row(const struct row_layout *layout, int64_t row) {
    if (!layout->n)
        return row * layout->stride[2];
    int64_t n = row % layout->n, head = row / layout->n % layout->heads, batch = row / layout->n / layout->heads;
    if (layout->parts)
        return row_of_part(layout, batch, head, n);
    return batch * layout->stride[0] + head * layout->stride[1] + n * layout->stride[2];
}

bool layout_is_plain(const struct host_tensor *tensor) {
    const struct row_layout *l = &tensor->layout;
    int64_t columns = tensor->columns, batches = l->n ? tensor->rows / l->n / l->heads : 1;
    return !l->n ||
           (!l->parts && (l->n == 1 || l->stride[2] == columns) && (l->heads == 1 || l->stride[1] == columns * l->n) &&
            (batches == 1 || l->stride[0] == columns * l->n * l->heads));
}

int64_t tensor_span(const struct host_tensor *tensor) {
    const struct row_layout *l = &tensor->layout;
    if (!l->n)
        return tensor->rows * tensor->columns;
    int64_t batches = tensor->rows / l->n / l->heads;
    if (l->parts)
        return tensor->rows * tensor->columns;
    return (batches - 1) * l->stride[0] + (l->heads - 1) * l->stride[1] + (l->n - 1) * l->stride[2] + tensor->columns;
}

struct rounding {
    struct host_tensor *tensor;
    bool finite;
};

// Threads write finite at most with false.
static void round_values(int64_t begin, int64_t end, void *context) {
    struct rounding *rounding = context;
    float *values = rounding->tensor->values;
    bool finite = true;
    for (int64_t i = begin; i < end; i++) {
        values[i] = dtype_round(rounding->tensor->dtype, values[i]);
        finite = finite && isfinite(values[i]);
    }
    if (!finite)
        __atomic_store_n(&rounding->finite, false, __ATOMIC_RELAXED);
}

struct host_tensor *problem_add_input(struct host_problem *problem, const char *name, enum attention_dtype dtype,
                                      int64_t rows, int columns, float *values, int64_t kept) {
    assert(problem->inputs < MAX_TENSORS && !problem->outputs);
    struct host_tensor *tensor = &problem->tensor[problem->inputs];
    *tensor = (struct host_tensor){name, dtype, rows, columns, layout_of_rows(columns), .values = values, .kept = kept};
    struct rounding rounding = {tensor, true};
    parallel_for(kept * columns, 1 << 16, round_values, &rounding);
    problem->finite = (problem->inputs++ == 0 || problem->finite) && rounding.finite;
    return tensor;
}

struct host_tensor *problem_add_output(struct host_problem *problem, const char *name, enum attention_dtype dtype,
                                       int64_t rows, int columns) {
    assert(problem->inputs + problem->outputs < MAX_TENSORS);
    struct host_tensor *tensor = &problem->tensor[problem->inputs + problem->outputs++];
    *tensor = (struct host_tensor){
        .name = name, .dtype = dtype, .rows = rows, .columns = columns, .layout = layout_of_rows(columns)};
    return tensor;
}

int64_t problem_output_elements(const struct host_problem *problem) {
    int64_t elements = 0;
    for (int i = 0; i < problem->outputs; i++)
        elements += problem_output(problem, i)->rows * problem_output(problem, i)->columns;
    return elements;
}

void problem_omit_optional(struct host_problem *problem) {
    while (problem_output(problem, problem->outputs - 1)->optional)
        problem->outputs--;
}

void host_problem_free(struct host_problem *problem) {
    for (int i = 0; i < problem->inputs; i++)
        free(problem->tensor[i].values);
    memset(problem, 0, sizeof *problem);
}
