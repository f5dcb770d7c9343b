// The entry of the row sum, its reference and its cases: all that a new operation adds. It stands instead of
// common/operations/operations.c where the runner of the test is linked.
#include "row_sum.h"

#include "host/diagnosis.h"
#include "host/inputs.h"
#include "host/parallel.h"
#include "operations/attention_operation.h"
#include "operations/diagnosis_models.h"
#include "operations/softmax_operation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct operation row_sum_operation;

const struct operation *const operations[] = {&attention_operation, &softmax_operation, &row_sum_operation, NULL};

static unsigned dtypes(const void *contract) {
    (void)contract;
    return 1u << ATTENTION_FP32;
}

static bool covers(const void *contract, const char *name, const struct problem_case *which,
                   const struct device_limits *limits, struct obstacle *obstacle) {
    (void)contract;
    (void)limits;
    *obstacle->part = 0;
    return which->dtype == ATTENTION_FP32 || message_set(&obstacle->reason, "%s takes fp32", name);
}

static int cases(enum matrix_kind kind, struct problem_case list[MAX_CASES]) {
    static const int columns[] = {1, 31, 32, 33, 100, 1000};
    int count = kind == MATRIX_QUICK ? 3 : 6;
    for (int i = 0; i < count; i++)
        list[i] = (struct problem_case){.matrix = {1 + i, columns[i]}};
    return count;
}

static void make(const struct problem_case *which, uint64_t seed, bool with_inputs, struct host_problem *problem) {
    int64_t rows = which->matrix.rows, kept = with_inputs ? inputs_kept(rows, which->matrix.columns) : 0;
    float *in = host_allocate(kept * which->matrix.columns, sizeof *in);
    for (int64_t r = 0; r < kept; r++)
        inputs_normal_row(in + r * which->matrix.columns, r, which->matrix.columns, seed, 0);
    *problem = (struct host_problem){.operation = &row_sum_operation, .which = *which};
    problem_add_input(problem, "in", which->dtype, rows, which->matrix.columns, in, kept);
    problem_add_output(problem, "out", which->dtype, rows, 1);
}

static void describe(const struct host_problem *host, void *const *data, void *workspace, void *call) {
    (void)workspace;
    *(struct row_sum_problem *)call =
        (struct row_sum_problem){data[0], data[1], host->which.matrix.rows, host->which.matrix.columns};
}

static cudaError_t launch(void *forward, const void *call, cudaStream_t stream) {
    cudaError_t (*row_sum_forward)(const struct row_sum_problem *, cudaStream_t);
    *(void **)&row_sum_forward = forward;
    return row_sum_forward(call, stream);
}

static double row_cost(const struct problem_case *which) {
    return which->matrix.columns;
}

static void *refer(const struct host_problem *problem, const struct row_sample *sample) {
    double *sums = host_allocate(2 * sample->count, sizeof *sums); // and of the sizes of what was added up
    for (int64_t i = 0; i < sample->count; i++) {
        const float *row = host_row(&problem->tensor[0], sample->row[i]);
        sums[2 * i] = sums[2 * i + 1] = 0;
        for (int c = 0; c < problem->which.matrix.columns; c++) {
            sums[2 * i] += row[c];
            sums[2 * i + 1] += fabs(row[c]);
        }
    }
    return sums;
}

static void expect(const struct host_problem *problem, const void *reference, int output, int64_t index,
                   struct expected_row *row) {
    const double *sums = reference;
    (void)output;
    row->value[0] = sums[2 * index];
    row->bound[0] = problem->which.matrix.columns * 0x1p-24 * sums[2 * index + 1];
    row->size[0] = NAN;
}

static void describe_element(const struct problem_case *which, int output, int64_t row, int column, char *text,
                             size_t size) {
    (void)which;
    (void)output;
    (void)column;
    snprintf(text, size, "[%lld] (row)", (long long)row);
}

static int64_t group(const struct problem_case *which) {
    return which->matrix.rows;
}

static const struct mistake last_missing = {"last-element-missing",
                                            {"the last element is not added", "Which index does the loop end with?"}};

static const struct mistake *mistake_of(int model) {
    (void)model;
    return &last_missing;
}

static void predict(int model, const struct host_problem *problem, struct prediction *prediction) {
    int columns = problem->which.matrix.columns, end = columns - (model != RIGHT_MODEL);
    for (int64_t r = 0; r < problem->which.matrix.rows; r++) {
        prediction->value[r] = 0;
        for (int c = 0; c < end; c++)
            prediction->value[r] += host_row(&problem->tensor[0], r)[c];
        prediction->bound[r] = columns * 1e-6;
    }
}

static bool always(const struct problem_case *which) {
    return which->matrix.rows > 0;
}

static void explain(const struct diagnosed *kernel, const struct evidence *evidence, int count, FILE *out) {
    static const struct mistake_models all = {1, mistake_of, predict, always, NULL, 0};
    diagnosis_by_models(kernel, evidence, count, &all, out);
}

static int plan(const struct arguments *a, enum attention_dtype dtype, struct problem_case *list) {
    list[0] = (struct problem_case){.matrix = a->has_shape ? a->shape.matrix : (struct matrix_shape){64, 1000}};
    list[0].dtype = dtype;
    return 1;
}

static double bytes(const struct problem_case *which) {
    return 4.0 * (double)which->matrix.rows * (which->matrix.columns + 1);
}

static bool column(const struct problem_case *which, const char *name, char *text, size_t size) {
    bool rows = !strcmp(name, "rows");
    snprintf(text, size, "%lld", (long long)(rows ? which->matrix.rows : which->matrix.columns));
    return rows || !strcmp(name, "columns");
}

const struct operation row_sum_operation = {
    .name = "row sum",
    .forward = "row_sum_forward",
    .contract = "row_sum_version",
    .header = "row_sum.h",
    .is_matrix = true,
    .trace_shape = "16,1000",
    .profile_shape = "4096,4096",
    .explore_shape = "16,256",
    .no_data = "tensors of attention",
    .no_causal = "a row sum has no mask",
    .dtypes = dtypes,
    .covers = covers,
    .cases = cases,
    .make = make,
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
    .explain = explain,
    .plan = plan,
    .seconds = 0.1,
    .warm = always,
    .table = "median min p95 gb_per_s of_peak error",
    .flops = bytes,
    .bytes = bytes,
    .file = "row_sum.csv",
    .column = column,
    .columns = "run,lesson,device,sm_count,driver,cuda,dtype,rows,columns,median_us,gb_per_s,max_rel_error,cache,date",
};
