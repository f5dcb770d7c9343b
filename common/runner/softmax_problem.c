#include "runner/softmax_problem.h"

#include "host/parallel.h"
#include "runner/cuda.h"

#include <stdlib.h>

static size_t workspace_bytes(const struct kernel *kernel, const struct softmax_shape *shape) {
    struct softmax_problem problem = {.rows = shape->rows, .columns = shape->columns};
    return kernel ? kernel->softmax_workspace_bytes(&problem) : 0;
}

bool softmax_problem_fits(const struct kernel *kernel, const struct softmax_shape *shape, const struct device *device,
                          int copies, struct message *reason) {
    double matrix = (double)tensor_bytes(shape->rows * shape->columns, !device->simulated);
    double needed = copies * 2 * matrix + (double)workspace_bytes(kernel, shape);
    // On the host: the rows kept of the input, a chunk of the output, a row of the reference.
    return device_holds(device, needed, 0x1p28 + 16.0 * shape->columns, reason);
}

struct softmax_device_problem softmax_problem_create(const struct softmax_shape *shape, const float *in, int64_t kept,
                                                     const struct kernel *kernel, const struct device *device) {
    struct softmax_device_problem p = {.problem = {.rows = shape->rows, .columns = shape->columns}};
    bool guarded = !device->simulated;
    size_t workspace = workspace_bytes(kernel, shape);
    p.in = tensor_create(shape->rows * shape->columns, guarded);
    tensor_fill(&p.in, in, kept * shape->columns);
    p.out = tensor_create(shape->rows * shape->columns, guarded);
    tensor_poison(&p.out);
    if (workspace) {
        p.workspace = tensor_create((int64_t)((workspace + sizeof(float) - 1) / sizeof(float)), guarded);
        if (guarded)
            tensor_poison(&p.workspace);
    }
    p.problem.in = p.in.data;
    p.problem.out = p.out.data;
    p.problem.workspace = p.workspace.data;
    return p;
}

void softmax_problem_free(struct softmax_device_problem *p) {
    tensor_free(&p->in);
    tensor_free(&p->out);
    tensor_free(&p->workspace);
}

void softmax_problem_judge(const struct softmax_device_problem *p, struct softmax_verdict *verdict) {
    enum { CHUNK_ELEMENTS = 1 << 24 };
    int columns = p->problem.columns;
    int64_t rows = p->problem.rows, chunk = CHUNK_ELEMENTS / columns + 1;
    if (chunk > rows)
        chunk = rows;
    float *out = host_allocate(chunk * columns, sizeof *out);
    for (int64_t row = 0; row < rows; row += chunk) {
        int64_t count = chunk < rows - row ? chunk : rows - row;
        CUDA(cudaMemcpy(out, p->out.data + row * columns, (size_t)(count * columns) * sizeof *out,
                        cudaMemcpyDeviceToHost));
        softmax_verdict_rows(verdict, row, count, out);
    }
    free(out);
}

const char *softmax_problem_broken_guard(const struct softmax_device_problem *p) {
    if (!tensor_guards_intact(&p->in))
        return "in";
    if (!tensor_guards_intact(&p->out))
        return "out";
    return p->workspace.allocation && !tensor_guards_intact(&p->workspace) ? "workspace" : NULL;
}
