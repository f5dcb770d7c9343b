#include "operations/softmax_operation.h"

#include "host/parallel.h"
#include "host/tolerance.h"
#include "operations/attention_explain.h"
#include "softmax.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double softmax_reference(const float *in, int columns, double *out) {
    double maximum = -INFINITY, sum = 0;
    for (int c = 0; c < columns; c++)
        maximum = fmax(maximum, in[c]);
    for (int c = 0; c < columns; c++)
        sum += out[c] = exp(in[c] - maximum);
    for (int c = 0; c < columns; c++)
        out[c] /= sum;
    return maximum;
}

// ---- The contract, softmax.h: another function says what the workspace is
// ---------------------------------------------

static unsigned dtypes(const void *contract) {
    (void)contract;
    return 1u << ATTENTION_FP32;
}

static bool covers(const void *contract, const char *name, const struct problem_case *which,
                   const struct device_limits *limits, struct obstacle *obstacle) {
    (void)contract;
    (void)limits;
    snprintf(obstacle->part, sizeof obstacle->part, "%s", dtype_of(which->dtype)->name);
    if (which->dtype == ATTENTION_FP32)
        return true;
    return message_set(&obstacle->reason, "%s takes fp32, not %s", name, obstacle->part);
}

static size_t workspace_bytes(const void *contract, const struct problem_case *which) {
    size_t (*softmax_workspace_bytes)(const struct softmax_problem *);
    struct softmax_problem problem = {.rows = which->matrix.rows, .columns = which->matrix.columns};
    *(const void **)&softmax_workspace_bytes = contract;
    return softmax_workspace_bytes(&problem);
}

static void describe(const struct host_problem *host, void *const *data, void *workspace, void *call) {
    *(struct softmax_problem *)call = (struct softmax_problem){.in = data[0],
                                                               .out = data[1],
                                                               .workspace = workspace,
                                                               .rows = host->which.matrix.rows,
                                                               .columns = host->which.matrix.columns};
}

static cudaError_t launch(void *forward, const void *call, cudaStream_t stream) {
    cudaError_t (*softmax_forward)(const struct softmax_problem *, cudaStream_t);
    *(void **)&softmax_forward = forward;
    return softmax_forward(call, stream);
}

// ---- Judging ----------------------------------------------------------------------------------------------------

static double row_cost(const struct problem_case *which) {
    return 20.0 * which->matrix.columns;
}

// A row is computed when it is asked for: a matrix has as many results as inputs.
static void *refer(const struct host_problem *problem, const struct row_sample *sample) {
    (void)problem;
    const struct row_sample **reference = host_allocate(1, sizeof *reference);
    *reference = sample;
    return reference;
}

static void expect(const struct host_problem *problem, const void *reference, int output, int64_t index,
                   struct expected_row *row) {
    const struct row_sample *sample = *(const struct row_sample *const *)reference;
    int columns = problem->which.matrix.columns;
    const float *in = host_row(&problem->tensor[0], sample->row[index]);
    double maximum = softmax_reference(in, columns, row->value);
    uint64_t *scratch = host_allocate(tolerance_summation_scratch(columns), sizeof *scratch);
    (void)output;
    struct summation summation = tolerance_summation(row->value, columns, 1, scratch);
    double drift = summation.drift + summation.absorbed;
    free(scratch);
    for (int c = 0; c < columns; c++) {
        row->bound[c] = tolerance_softmax(row->value[c], in[c], maximum, columns, drift);
        row->size[c] = NAN;
    }
}

static void describe_element(const struct problem_case *which, int output, int64_t row, int column, char *text,
                             size_t size) {
    (void)which;
    (void)output;
    snprintf(text, size, "[%lld][%d] (row, column)", (long long)row, column);
}

static int64_t group(const struct problem_case *which) {
    return which->matrix.rows;
}

// ---- Timing -----------------------------------------------------------------------------------------------------

static int plan(const struct arguments *a, enum attention_dtype dtype, struct problem_case *cases) {
    static const struct matrix_shape matrices[] = {{4096, 1024}, {4096, 4096}, {16384, 4096}, {32768, 8192}};
    int count = a->has_shape || a->quick ? 1 : 4;
    for (int i = 0; i < count; i++)
        cases[i] = (struct problem_case){.matrix = a->has_shape ? a->shape.matrix : matrices[i], .dtype = dtype};
    return count;
}

static double bytes(const struct problem_case *which) {
    return 8.0 * (double)which->matrix.rows * which->matrix.columns;
}

static bool column(const struct problem_case *which, const char *name, char *text, size_t size) {
    if (!strcmp(name, "rows"))
        snprintf(text, size, "%lld", (long long)which->matrix.rows);
    else if (!strcmp(name, "columns"))
        snprintf(text, size, "%d", which->matrix.columns);
    else
        return false;
    return true;
}

const struct operation softmax_operation = {
    .name = "row softmax",
    .forward = "softmax_forward",
    .contract = "softmax_workspace_bytes",
    .header = "common/softmax.h",
    .is_matrix = true,
    .trace_shape = "64,1024",
    .profile_shape = "4096,4096",
    .work_shape = "4096,4096",
    .explore_shape = "16,256",
    .no_data = "tensors of attention",
    .no_causal = "a row softmax has no causal mask",
    .dtypes = dtypes,
    .covers = covers,
    .workspace_bytes = workspace_bytes,
    .gpu_adds = "more than 2^31 elements, rows of 131,073",
    .cases = softmax_cases,
    .make = softmax_make,
    .describe = describe,
    .launch = launch,
    .row_cost = row_cost,
    .refer = refer,
    .expect = expect,
    .release = free,
    .error = ERROR_LARGEST_RELATIVE,
    .describe_element = describe_element,
    .group = group,
    .row_name = "row",
    .rows_name = "rows",
    .explain = softmax_explain,
    .plan = plan,
    .seconds = 1.0,
    .times_copy = true,
    .table = "median min p95 gb_per_s of_copy of_peak before error",
    .flops = bytes,
    .bytes = bytes,
    .file = "softmax.csv",
    .columns = "run,lesson,device,sm_count,driver,cuda,dtype,rows,columns,median_us,min_us,p95_us,repeats,"
               "sm_clock_before_mhz,sm_clock_after_mhz,gb_per_s,bytes,max_rel_error,copy_gb_per_s,date,commit,noise",
    .column = column,
};
