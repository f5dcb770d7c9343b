#include "runner/problem.h"

#include "host/inputs.h"
#include "host/parallel.h"
#include "runner/cuda.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

// SPARSE_ROW_BYTES: what a row that lies alone takes the host, with what the simulator records of it.
enum { SPARSE_BYTES = 1 << 28, SPARSE_ROW_BYTES = 1 << 16 };
enum { STREAM_OFFSETS = 110, OFFSET_UNIT = 16, OFFSETS = 16, MOST_COMPARED = 1 << 28, MOST_DELAYED = 1 << 26 };

static size_t element_bytes(const struct host_tensor *tensor) {
    return dtype_of(tensor->dtype)->size;
}

static size_t bytes_of(const struct host_tensor *tensor) {
    return (size_t)tensor_span(tensor) * element_bytes(tensor);
}

// A tensor whose strides are large and whose rows are few takes the simulator hardly any memory: it is written and read
// row by row, and has no poison between its rows, where the simulator sees reads and, far from the rows, nothing else.
static bool is_sparse(const struct host_tensor *tensor, bool simulated) {
    size_t rows = (size_t)tensor->rows * ((size_t)tensor->columns * element_bytes(tensor) + SPARSE_ROW_BYTES);
    return simulated && bytes_of(tensor) > SPARSE_BYTES && rows < bytes_of(tensor) / 16;
}

static double occupied_bytes(const struct host_tensor *tensor, bool simulated) {
    return is_sparse(tensor, simulated) ? (double)tensor->rows * SPARSE_ROW_BYTES
                                        : (double)tensor_allocation_bytes(bytes_of(tensor), !simulated);
}

static size_t row_offset(const struct host_tensor *tensor, int64_t row) {
    return (size_t)layout_row(&tensor->layout, row) * element_bytes(tensor);
}

bool problem_fits(const struct kernel *kernel, const struct problem_case *which, const struct device *device,
                  int copies, struct message *reason) {
    const struct operation *operation = kernel->operation;
    struct host_problem host;
    double bytes = 0;
    operation->make(which, 0, false, &host);
    for (int i = 0; i < host.inputs + host.outputs; i++)
        if (!host.tensor[i].optional)
            bytes += occupied_bytes(&host.tensor[i], device->limits.simulated);
    host_problem_free(&host);
    // All GPUs are alike, and each has its part.
    double workspace = (double)kernel_workspace_bytes(kernel, which), parts = which->devices ? which->devices : 1;
    return device_holds(device, copies * bytes / (device->limits.simulated ? 1 : parts) + workspace,
                        case_host_bytes(operation, which), reason);
}

// A tensor as it lies in memory, in its own type, poison between its rows.
static void *scatter(const struct host_tensor *tensor) {
    size_t size = element_bytes(tensor);
    char *image = host_allocate(tensor_span(tensor), (int64_t)size);
    memset(image, POISON_BYTE, bytes_of(tensor));
    for (int64_t r = 0; r < tensor->rows; r++)
        dtype_store(tensor->dtype, host_row(tensor, r), tensor->columns,
                    image + (size_t)layout_row(&tensor->layout, r) * size);
    return image;
}

static void fill_rows(const struct device_tensor *to, const struct host_tensor *from) {
    size_t row_bytes = (size_t)from->columns * element_bytes(from);
    char *row = host_allocate((int64_t)row_bytes, 1);
    for (int64_t r = 0; r < from->rows; r++) {
        dtype_store(from->dtype, host_row(from, r), from->columns, row);
        CUDA(cudaMemcpy(to->data + row_offset(from, r), row, row_bytes, cudaMemcpyHostToDevice));
    }
    free(row);
}

static void fill(const struct device_tensor *to, const struct host_tensor *from) {
    int64_t kept = from->kept * from->columns;
    if (to->sparse) {
        fill_rows(to, from);
    } else if (!layout_is_plain(from)) {
        void *image = scatter(from);
        tensor_fill(to, image, tensor_bytes(to));
        free(image);
    } else if (from->dtype == ATTENTION_FP32) {
        tensor_fill(to, from->values, (size_t)kept * sizeof(float));
    } else {
        void *image = host_allocate(kept, (int64_t)element_bytes(from));
        dtype_store(from->dtype, from->values, kept, image);
        tensor_fill(to, image, (size_t)kept * element_bytes(from));
        free(image);
    }
}

struct device_problem problem_create(const struct host_problem *host, const struct kernel *kernel,
                                     const struct device *device, bool optional, uint64_t offset_seed) {
    struct device_problem p = {.host = host};
    bool guarded = !device->limits.simulated;
    int parts = host->which.devices ? host->which.devices : 1;
    for (int i = 0; i < host->inputs + host->outputs; i++) {
        if (host->tensor[i].optional && !optional)
            continue;
        uint64_t unit = offset_seed ? inputs_random(offset_seed, STREAM_OFFSETS, (uint64_t)i) % OFFSETS : 0;
        p.tensor[i] =
            tensor_create_parts(bytes_of(&host->tensor[i]) / (size_t)parts, guarded, (size_t)unit * OFFSET_UNIT, parts);
        p.tensor[i].sparse = is_sparse(&host->tensor[i], device->limits.simulated);
        if (i < host->inputs)
            fill(&p.tensor[i], &host->tensor[i]);
    }
    problem_poison(&p);
    size_t workspace = kernel ? kernel_workspace_bytes(kernel, &host->which) : 0;
    if (workspace) {
        p.workspace = tensor_create_parts(workspace, guarded, 0, parts);
        if (guarded) // the simulator knows by itself what was never written
            tensor_poison(&p.workspace);
    }
    return p;
}

void problem_refill(struct device_problem *p, const struct host_problem *host) {
    p->host = host;
    for (int i = 0; i < host->inputs; i++)
        fill(&p->tensor[i], &host->tensor[i]);
}

static void rest(void *unused) {
    (void)unused;
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

void problem_rest(cudaStream_t stream) {
    CUDA(cudaLaunchHostFunc(stream, rest, NULL));
}

size_t problem_bytes(const struct host_problem *host) {
    size_t bytes = 0;
    for (int i = 0; i < host->inputs; i++)
        bytes += bytes_of(&host->tensor[i]);
    return bytes;
}

void problem_delay(const struct device_problem *p, cudaStream_t stream, struct device_tensor *staging) {
    size_t bytes = 0, at = 0;
    for (int i = 0; i < p->host->inputs; i++)
        bytes += p->tensor[i].bytes;
    memset(staging, 0, sizeof *staging);
    if (bytes > MOST_DELAYED)
        return;
    *staging = tensor_create(bytes, false, 0);
    for (int i = 0; i < p->host->inputs; at += p->tensor[i++].bytes) {
        CUDA(cudaMemcpy(staging->data + at, p->tensor[i].data, p->tensor[i].bytes, cudaMemcpyDeviceToDevice));
        tensor_poison(&p->tensor[i]);
    }
    CUDA(cudaDeviceSynchronize());
    problem_rest(stream);
    at = 0;
    for (int i = 0; i < p->host->inputs; at += p->tensor[i++].bytes)
        CUDA(cudaMemcpyAsync(p->tensor[i].data, staging->data + at, p->tensor[i].bytes, cudaMemcpyDeviceToDevice,
                             stream));
}

void problem_free(struct device_problem *p) {
    for (int i = 0; i < MAX_TENSORS; i++)
        tensor_free(&p->tensor[i]);
    tensor_free(&p->workspace);
}

bool problem_has_output(const struct device_problem *p, int i) {
    return p->tensor[p->host->inputs + i].allocation;
}

static void poison_rows(const struct device_tensor *to, const struct host_tensor *tensor) {
    for (int64_t r = 0; r < tensor->rows; r++)
        CUDA(
            cudaMemset(to->data + row_offset(tensor, r), POISON_BYTE, (size_t)tensor->columns * element_bytes(tensor)));
}

void problem_poison(const struct device_problem *p) {
    for (int i = 0; i < p->host->outputs; i++) {
        const struct device_tensor *output = &p->tensor[p->host->inputs + i];
        if (problem_has_output(p, i) && output->sparse)
            poison_rows(output, problem_output(p->host, i));
        else if (problem_has_output(p, i))
            tensor_poison(output);
    }
}

cudaError_t problem_launch(const struct device_problem *p, const struct kernel *kernel,
                           const struct device_tensor *workspace, cudaStream_t stream) {
    _Alignas(16) char call[CONTRACT_BYTES];
    void *data[MOST_POINTERS] = {NULL};
    for (int i = 0; i < POINTERS_PER_DEVICE; i++) {
        const struct device_tensor *tensor = i < MAX_TENSORS ? &p->tensor[i] : workspace;
        for (int device = 0; tensor; tensor = tensor->next, device++)
            data[device * POINTERS_PER_DEVICE + i] = tensor->data;
    }
    kernel->operation->describe(p->host, data, workspace->data, call);
    return kernel->operation->launch(kernel->forward, call, stream);
}

// A tensor's bytes as they lie on the device.
static char *image_of(const struct device_tensor *tensor) {
    char *image = host_allocate((int64_t)tensor_bytes(tensor), 1);
    tensor_read(tensor, image);
    return image;
}

// The tensor's bytes, or those of its rows one behind the other.
static char *rows_of(const struct device_tensor *from, const struct host_tensor *tensor) {
    size_t row_bytes = (size_t)tensor->columns * element_bytes(tensor);
    if (!from->sparse)
        return image_of(from);
    char *rows = host_allocate(tensor->rows, (int64_t)row_bytes);
    for (int64_t r = 0; r < tensor->rows; r++)
        CUDA(cudaMemcpy(rows + (size_t)r * row_bytes, from->data + row_offset(tensor, r), row_bytes,
                        cudaMemcpyDeviceToHost));
    return rows;
}

static const char *row_in(const char *rows, const struct device_tensor *from, const struct host_tensor *tensor,
                          int64_t row) {
    return rows +
           (from->sparse ? (size_t)row * (size_t)tensor->columns * element_bytes(tensor) : row_offset(tensor, row));
}

void problem_outputs(const struct device_problem *p, float *outputs) {
    for (int i = 0; i < p->host->outputs; i++) {
        const struct host_tensor *tensor = problem_output(p->host, i);
        if (!problem_has_output(p, i))
            continue;
        const struct device_tensor *from = &p->tensor[p->host->inputs + i];
        char *rows = rows_of(from, tensor);
        for (int64_t r = 0; r < tensor->rows; r++, outputs += tensor->columns)
            dtype_load(tensor->dtype, row_in(rows, from, tensor, r), tensor->columns, outputs);
        free(rows);
    }
}

static void read_scattered(const struct device_tensor *from, const struct host_tensor *tensor, problem_receive *receive,
                           void *context) {
    char *rows = rows_of(from, tensor);
    float *row = host_allocate(tensor->columns, sizeof *row);
    for (int64_t r = 0; r < tensor->rows; r++) {
        dtype_load(tensor->dtype, row_in(rows, from, tensor, r), tensor->columns, row);
        receive(context, r, 1, row, tensor->columns);
    }
    free(row);
    free(rows);
}

static void read_in_chunks(const struct device_tensor *from, const struct host_tensor *tensor, problem_receive *receive,
                           void *context) {
    enum { CHUNK_ELEMENTS = 1 << 24 };
    int columns = tensor->columns;
    int64_t rows = tensor->rows, chunk = CHUNK_ELEMENTS / columns + 1 < rows ? CHUNK_ELEMENTS / columns + 1 : rows;
    size_t row_bytes = (size_t)columns * element_bytes(tensor);
    char *raw = host_allocate(chunk, (int64_t)row_bytes);
    float *values = host_allocate(chunk * columns, sizeof *values);
    for (int64_t row = 0; row < rows; row += chunk) {
        int64_t count = chunk < rows - row ? chunk : rows - row;
        CUDA(cudaMemcpy(raw, from->data + (size_t)row * row_bytes, (size_t)count * row_bytes, cudaMemcpyDeviceToHost));
        dtype_load(tensor->dtype, raw, count * columns, values);
        receive(context, row, count, values, columns);
    }
    free(raw);
    free(values);
}

void problem_read(const struct device_problem *p, int i, problem_receive *receive, void *context) {
    const struct host_tensor *tensor = problem_output(p->host, i);
    const struct device_tensor *from = &p->tensor[p->host->inputs + i];
    (layout_is_plain(tensor) ? read_in_chunks : read_scattered)(from, tensor, receive, context);
}

static void judge_rows(void *verdict, int64_t row, int64_t rows, const float *values, int columns) {
    (void)columns;
    verdict_rows(verdict, row, rows, values);
}

void problem_judge(const struct device_problem *p, struct verdict *verdict) {
    problem_read(p, verdict->output, judge_rows, verdict);
}

// The first bytes of an input as fill() has written them.
static void *expected_image(const struct host_tensor *tensor, size_t bytes) {
    size_t row = (size_t)tensor->columns * element_bytes(tensor), kept = (size_t)tensor->kept * row;
    if (!layout_is_plain(tensor))
        return scatter(tensor);
    char *image = host_allocate((int64_t)(bytes + row), 1);
    for (size_t at = 0; at < bytes; at += row)
        dtype_store(tensor->dtype, tensor->values + at % kept / row * (size_t)tensor->columns, tensor->columns,
                    image + at);
    return image;
}

static bool rows_unchanged(const struct device_tensor *from, const struct host_tensor *tensor) {
    size_t row_bytes = (size_t)tensor->columns * element_bytes(tensor);
    char *rows = rows_of(from, tensor), *row = host_allocate((int64_t)row_bytes, 1);
    bool same = true;
    for (int64_t r = 0; r < tensor->rows && same; r++) {
        dtype_store(tensor->dtype, host_row(tensor, r), tensor->columns, row);
        same = !memcmp(row, row_in(rows, from, tensor, r), row_bytes);
    }
    free(row);
    free(rows);
    return same;
}

const char *problem_changed_input(const struct device_problem *p) {
    bool same = true;
    for (int i = 0; i < p->host->inputs; i++) {
        if (p->tensor[i].sparse && !rows_unchanged(&p->tensor[i], &p->host->tensor[i]))
            return p->host->tensor[i].name;
        if (p->tensor[i].sparse)
            continue;
        size_t all = tensor_bytes(&p->tensor[i]),
               bytes = all < MOST_COMPARED || p->tensor[i].next ? all : MOST_COMPARED;
        void *image = expected_image(&p->host->tensor[i], bytes), *now = host_allocate((int64_t)bytes, 1);
        if (p->tensor[i].next)
            tensor_read(&p->tensor[i], now);
        else
            CUDA(cudaMemcpy(now, p->tensor[i].data, bytes, cudaMemcpyDeviceToHost));
        same = !memcmp(image, now, bytes);
        free(image);
        free(now);
        if (!same)
            return p->host->tensor[i].name;
    }
    return NULL;
}

// Whether the poison between the rows is as it was.
static bool gaps_intact(const struct device_tensor *from, const struct host_tensor *tensor) {
    size_t size = element_bytes(tensor), row_bytes = (size_t)tensor->columns * size;
    if (from->sparse || tensor_span(tensor) == tensor->rows * tensor->columns)
        return true;
    char *image = image_of(from);
    for (int64_t r = 0; r < tensor->rows; r++)
        memset(image + (size_t)layout_row(&tensor->layout, r) * size, POISON_BYTE, row_bytes);
    bool intact = true;
    for (size_t i = 0; i < from->bytes; i++)
        intact = intact && (unsigned char)image[i] == POISON_BYTE;
    free(image);
    return intact;
}

const char *problem_broken_guard(const struct device_problem *p) {
    for (int i = 0; i < p->host->inputs + p->host->outputs; i++)
        if (p->tensor[i].allocation &&
            !(tensor_guards_intact(&p->tensor[i]) && gaps_intact(&p->tensor[i], &p->host->tensor[i])))
            return p->host->tensor[i].name;
    return p->workspace.allocation && !tensor_guards_intact(&p->workspace) ? "workspace" : NULL;
}
