// An operation is a kind of kernel that a lesson's file can define, with all properties that the harness needs. The
// check, the bench, the diagnosis and the results loop over this table; only common/operations/ knows which operations
// exist.
#ifndef OPERATION_H
#define OPERATION_H

#include "arguments.h"
#include "host/matrix.h"
#include "host/problem.h"
#include "host/sample.h"
#include "host/verdict.h"

#include <cuda_runtime_api.h>

// The limits of the device that decide whether it can run a kernel.
struct device_limits {
    char description[160]; // "NVIDIA H200 (simulated)"
    bool simulated;
    int compute_capability; // 90 for sm_90
    size_t shared_bytes;    // per block, at most
    int devices;            // how many GPUs there are
};

// Why a kernel cannot run a case. part: the feature that the kernel does not claim, "causal masks"; "": it claims all
// features, but the device or the size does not fit.
struct obstacle {
    char part[48];
    struct message reason; // one line, "solution-02 covers ..., not ..."
};

// How the error of a right output is printed.
enum error_kind { ERROR_RELATIVE_RMS, ERROR_LARGEST_RELATIVE };

// What the rows of an output are: how many belong together, and what they are called.
struct output_rows {
    int64_t group;
    const char *row_name, *rows_name;
};

struct diagnosed;

enum { CONTRACT_BYTES = 512, MAX_PLAN = 96 };

// The device pointers that describe() gets, by device: the tensors, then the workspace. A problem of one GPU has those
// of device 0 alone.
enum { POINTERS_PER_DEVICE = MAX_TENSORS + 1, MOST_POINTERS = MAX_DEVICES * POINTERS_PER_DEVICE };

struct operation {
    const char *name;     // "attention"
    const char *forward;  // the function that a library of this operation must define,
    const char *contract; // the variable that describes how it is called,
    const char *header;   // and where both are declared
    bool is_matrix;       // its cases have the shape ROWS,COLUMNS; else B,H,N,D
    // The default SHAPE= of runs with one representative case: counting traffic in the simulator (a second or two),
    // profiling on a GPU, exploring lane by lane (a few blocks and tiles).
    const char *trace_shape, *profile_shape, *explore_shape;
    const char *work_shape; // for estimates of the time; NULL: none is made, as no measured times have validated any
    const char *no_data;    // the contents of DATA= that this operation does not use; NULL: load() reads it
    const char *no_causal;  // why CAUSAL=1 has no effect; NULL: a kernel may cover it
    bool pages;             // LAYOUT= may be one of pages

    // ---- The contract, as the library defines it -------------------------------------------------------------------

    unsigned (*dtypes)(const void *contract); // bit 1u << ATTENTION_FP32 and so on
    // One line on what this machine lacks for the kernel, NULL: nothing. A NULL function: nothing ever.
    const char *(*lacking)(const void *contract);
    bool (*covers)(const void *contract, const char *name, const struct problem_case *which,
                   const struct device_limits *limits, struct obstacle *obstacle);
    bool (*writes_optional)(const void *contract); // the optional outputs; NULL: there are none
    size_t (*workspace_bytes)(const void *contract, const struct problem_case *which); // of each GPU; NULL: 0
    bool (*repeats)(const void *contract); // the same call gives the same bits; NULL: not claimed
    bool several_devices;                  // its cases say over how many GPUs they are split
    bool one_at_a_time;                    // calls are not made concurrently

    // ---- Problems --------------------------------------------------------------------------------------------------

    const char *gpu_adds; // additional checks on a GPU
    // The simulator never runs a part of a case: its kernels read what all blocks of another one wrote.
    bool is_entangled;
    int (*cases)(enum matrix_kind kind, struct problem_case cases[MAX_CASES]);
    // Tensors and scalars of the case; with_inputs: with values drawn from the seed.
    void (*make)(const struct problem_case *which, uint64_t seed, bool with_inputs, struct host_problem *problem);
    // The same from a user's files. *output: the first output as given by the files, NULL if they have none.
    bool (*load)(const struct arguments *arguments, struct host_problem *problem, float **output,
                 struct message *error);
    // Fills the argument struct of the library's function: data has a device pointer per tensor of each GPU, NULL for
    // an optional tensor that is not requested.
    void (*describe)(const struct host_problem *problem, void *const *data, void *workspace, void *call);
    cudaError_t (*launch)(void *forward, const void *call, cudaStream_t stream);

    // ---- Judging ---------------------------------------------------------------------------------------------------

    double (*row_cost)(const struct problem_case *which); // multiply-adds of a row of the reference
    // sample: [outputs], the rows of each output; outputs with as many rows have the same ones.
    void *(*refer)(const struct host_problem *problem, const struct row_sample *sample);
    // Row `index` of the sample of an output: the expected values and the tolerance of each.
    void (*expect)(const struct host_problem *problem, const void *reference, int output, int64_t index,
                   struct expected_row *row);
    // The limit of the relative RMS error of `rows` rows of an output, or of TOLERANCE_ONE_ROW; infinite: it has none;
    // NULL: only elements are compared.
    double (*rms_limit)(const struct host_problem *problem, const void *reference, int output, int64_t rows);
    void (*release)(void *reference);
    enum error_kind error;
    // Describes the position of an element: "[0][1][33][7] (batch, head, query, element)".
    void (*describe_element)(const struct problem_case *which, int output, int64_t row, int column, char *text,
                             size_t size);
    // The number of rows that belong together (a head), and the name of such a group: "batch 1 head 0".
    int64_t (*group)(const struct problem_case *which);
    void (*group_text)(const struct problem_case *which, int64_t group, char *text, size_t size);
    const char *row_name, *rows_name, *groups_name; // "query", "queries", "heads"
    // The same of an output whose rows are others than those of the first one; NULL: there is none.
    struct output_rows (*output_rows)(const struct problem_case *which, int output);

    // Probes a kernel that was wrong in some cases, and prints what explains it. NULL: nothing does.
    void (*explain)(const struct diagnosed *kernel, const struct evidence *evidence, int count, FILE *out);

    // ---- Timing ----------------------------------------------------------------------------------------------------

    // The cases of a bench for inputs of a type, at most MAX_PLAN.
    int (*plan)(const struct arguments *arguments, enum attention_dtype dtype, struct problem_case *cases);
    double seconds;                                 // time budget for the timings of a case
    bool (*warm)(const struct problem_case *which); // also timed with inputs in the L2 cache; NULL: never
    bool times_copy;                                // a copy of the same number of bytes is timed with the kernels:
    int copied;                                     // of this input, half of what a call moves
    const char *table;                              // the columns of what is printed, by name (runner/bench_table.h)
    double (*flops)(const struct problem_case *which);
    double (*bytes)(const struct problem_case *which); // lower bound of the memory traffic

    const char *file;    // of results, "attention.csv"
    const char *columns; // the header of that file
    // The value of a column that depends on the shape; false if it is another column.
    bool (*column)(const struct problem_case *which, const char *name, char *text, size_t size);
};

static inline struct output_rows output_rows_of(const struct host_problem *problem, int output) {
    const struct operation *o = problem->operation;
    return o->output_rows ? o->output_rows(&problem->which, output)
                          : (struct output_rows){o->group(&problem->which), o->row_name, o->rows_name};
}

// Ends with NULL. If a library defines several operations, the first one is used.
extern const struct operation *const operations[];

// "SHAPE=1,2,9:70,64", "bf16", "causal", "bnhd" and "large", omitting defaults; and the variables of make that repeat
// the case.
void case_text(const struct operation *operation, const struct problem_case *which, char *text, size_t size);
void case_variables(const struct operation *operation, const struct problem_case *which, char *text, size_t size);

// "B,H,N,D = 1,16,4096,64 causal"; without the type.
void case_title(const struct operation *operation, const struct problem_case *which, char *text, size_t size);

// Host memory for inputs, reference and verdict.
double case_host_bytes(const struct operation *operation, const struct problem_case *which);

#endif
