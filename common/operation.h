// An operation is a kind of kernel that a lesson's file can define, with all that the harness has to know of it. The
// check, the bench, the diagnosis and the results have one loop over it each; common/operations/ has a file for each
// operation and its table, and nothing else knows which there are.
#ifndef OPERATION_H
#define OPERATION_H

#include "arguments.h"
#include "host/matrix.h"
#include "host/problem.h"
#include "host/sample.h"
#include "host/suspects.h"
#include "host/verdict.h"

#include <cuda_runtime_api.h>

// What the device can run, as far as a kernel's coverage depends on it.
struct device_limits {
    char description[160]; // "NVIDIA H200 (simulated)"
    bool simulated;
    int compute_capability; // 90 for sm_90
    size_t shared_bytes;    // that a block can have
};

// What keeps a kernel from a case. part: the kernel does not say that it covers it, "causal masks"; "": it does, but
// not here, or not so large.
struct obstacle {
    char part[48];
    struct message reason; // one line, "solution-02 covers ..., not ..."
};

// How the error of a right output is given.
enum error_kind { ERROR_RELATIVE_RMS, ERROR_LARGEST_RELATIVE };

struct diagnosed;

enum { CONTRACT_BYTES = 256, MAX_PLAN = 64 };

struct operation {
    const char *name;     // "attention"
    const char *forward;  // the function that a library must define, which makes it one of this operation,
    const char *contract; // what else it must define: how it is to be called,
    const char *header;   // and where both are declared
    bool is_matrix;       // its cases have the shape ROWS,COLUMNS; else B,H,N,D
    // What SHAPE= is where one small case stands for all: its traffic is counted by the simulator in a second or two,
    // by a GPU's profiler, and looked at lane by lane: a few blocks, a few tiles.
    const char *trace_shape, *profile_shape, *explore_shape;
    const char *work_shape; // for an estimate of the time; NULL: trace_shape
    const char *no_data;    // what DATA= holds that it has no use for; NULL: load() reads it
    const char *no_causal;  // why CAUSAL=1 changes nothing; NULL: a kernel may cover it

    // ---- The contract, as the library defines it -------------------------------------------------------------------

    unsigned (*dtypes)(const void *contract); // bit 1u << ATTENTION_FP32 and so on
    // One line on what this machine lacks that the kernel needs, NULL where nothing is; NULL: nothing ever is.
    const char *(*lacking)(const void *contract);
    bool (*covers)(const void *contract, const char *name, const struct problem_case *which,
                   const struct device_limits *limits, struct obstacle *obstacle);
    bool (*gives_optional)(const void *contract); // the outputs that are optional; NULL: it has none
    size_t (*workspace_bytes)(const void *contract, const struct problem_case *which); // NULL: 0
    bool (*repeats)(const void *contract); // the same call gives the same bits; NULL: nobody says so

    // ---- Problems --------------------------------------------------------------------------------------------------

    const char *gpu_adds; // what a check on a GPU has beyond that on the simulator
    int (*cases)(enum matrix_kind kind, struct problem_case cases[MAX_CASES]);
    // Tensors and scalars of the case; with_inputs: with values drawn from the seed.
    void (*make)(const struct problem_case *which, uint64_t seed, bool with_inputs, struct host_problem *problem);
    // The same from a user's files. *output is what they say the first output is, NULL where they do not.
    bool (*load)(const struct arguments *arguments, struct host_problem *problem, float **output,
                 struct message *error);
    // Fills the struct that the library's function takes: data has a device pointer for each tensor, NULL for an
    // optional one that nobody wants.
    void (*describe)(const struct host_problem *problem, void *const *data, void *workspace, void *call);
    cudaError_t (*launch)(void *forward, const void *call, cudaStream_t stream);

    // ---- Judging ---------------------------------------------------------------------------------------------------

    double (*row_cost)(const struct problem_case *which); // multiply-adds of a row of the reference
    void *(*refer)(const struct host_problem *problem, const struct row_sample *sample);
    // Row number index of the sample of an output: what is expected, and how far a right kernel may be off.
    void (*expect)(const struct host_problem *problem, const void *reference, int output, int64_t index,
                   struct expected_row *row);
    // The gate on the relative RMS error of so many rows of the first output, or of TOLERANCE_ONE_ROW; NULL: each
    // element is judged by itself.
    double (*rms_limit)(const struct host_problem *problem, const void *reference, int64_t rows);
    void (*release)(void *reference);
    enum error_kind error;
    // Where an element is, for people: "[0][1][33][7] (batch, head, query, element)".
    void (*place)(const struct problem_case *which, int output, int64_t row, int column, char *text, size_t size);
    // Rows of an output that belong together, a head, and the name of such a group: "batch 1 head 0".
    int64_t (*group)(const struct problem_case *which);
    void (*group_text)(const struct problem_case *which, int64_t group, char *text, size_t size);
    const char *row_name, *rows_name, *groups_name; // "query", "queries", "heads"

    const struct suspects *(*suspects)(void); // the mistakes that have a name
    // Where none of them fits: prints what follows from asking the kernel for more. NULL: nothing is asked.
    void (*ask)(const struct diagnosed *kernel, const struct evidence *evidence, int count, FILE *out);

    // ---- Timing ----------------------------------------------------------------------------------------------------

    // The cases of a bench for inputs of a type, at most MAX_PLAN.
    int (*plan)(const struct arguments *arguments, enum attention_dtype dtype, struct problem_case *cases);
    double seconds;                                 // that the timings of a case are meant to take
    bool (*warm)(const struct problem_case *which); // timed on inputs that the L2 cache holds, too; NULL: never
    bool beside_copy;                               // a copy of as many bytes is timed with the kernels
    const char *table;                              // the columns of what is printed, by name (runner/bench_table.h)
    double (*flops)(const struct problem_case *which);
    double (*bytes)(const struct problem_case *which); // that must move at least

    const char *file;    // of results, "attention.csv"
    const char *columns; // the header of that file
    // The value of one of the columns that the shape gives; false where it is none of them.
    bool (*column)(const struct problem_case *which, const char *name, char *text, size_t size);
};

// Ends in NULL. Where a library could be of several, the first one is taken.
extern const struct operation *const operations[];

// "SHAPE=1,2,9:70,64", "bf16", "causal", "bnhd" and "large", as far as they are not what goes without saying; and the
// variables of make that run the case again.
void case_text(const struct operation *operation, const struct problem_case *which, char *text, size_t size);
void case_variables(const struct operation *operation, const struct problem_case *which, char *text, size_t size);

// "B,H,N,D = 1,16,4096,64 causal"; the type is for the caller to say.
void case_title(const struct operation *operation, const struct problem_case *which, char *text, size_t size);

// The host's memory that inputs, reference and verdict take.
double case_host_bytes(const struct operation *operation, const struct problem_case *which);

#endif
