// The kernel runs in a worker process. The checking process, which computes the reference and prints the verdict, forks
// the worker before it loads CUDA or the kernel, sends inputs and receives outputs over a socket; neither can access
// the other's memory. It is an error of the check if the worker ends early.
#ifndef RUNNER_WORKER_H
#define RUNNER_WORKER_H

#include "runner/device.h"
#include "runner/finish.h"
#include "runner/kernel.h"

struct worker {
    int socket;
    int process;
    struct device device;
    // Properties of the kernel's library, read when it was loaded.
    const struct arguments *arguments;
    const struct kernel_argument *argument;
    const struct operation *operation;
    unsigned dtypes;
    bool writes_optional, repeats;
    char lacking[256]; // what this machine lacks for the kernel; "": nothing
};

struct worker worker_start(const struct arguments *arguments);

// Ends the worker and waits for it.
void worker_end(struct worker *worker);

// Like kernel_covers() and problem_fits().
bool worker_covers(const struct worker *worker, const struct problem_case *which, struct obstacle *obstacle);
bool worker_fits(const struct worker *worker, const struct problem_case *which, struct message *reason);

// The conditions of a call.
struct worker_call {
    bool optional;        // with the optional outputs
    bool delayed;         // the inputs arrive late, in a stream that no other stream waits for
    bool rerun;           // in the tensors of the previous call, with their contents
    bool limited;         // on the simulator the call is given up when the time of the step is up
    bool concurrent;      // while a second call with the same inputs, in other tensors, runs in another stream
    uint64_t budget;      // limit of warp instructions in the simulator, 0: none
    uint64_t order;       // seed of the order of blocks and warps in the simulator, 0: ascending
    uint64_t offset_seed; // see problem_create()
    const char *out;      // folder for the outputs, "": none
};

// The result of a call.
struct worker_result {
    uint64_t nonce; // of the question
    bool good;
    bool given_up; // see worker_call.limited: nothing is known of the kernel
    enum device_state state;
    struct message cause;        // "": nothing failed
    enum device_part part;       // how much of the launches was simulated
    uint64_t whole;              // warp instructions of all launches, 0: unknown
    char guard[16], changed[16]; // the tensor next to which, and the input to which the kernel wrote; "": none
    bool has[MAX_TENSORS];       // of each output: it was requested and can be read
    int first_finding;           // kind of the simulator's first finding, -1: none
};

// Calls the kernel. `receive` is called with the rows of each output, in the order of the host.
typedef void worker_receive(void *context, int output, int64_t row, int64_t rows, const float *values);
struct worker_result worker_call(struct worker *worker, const struct host_problem *host, const struct worker_call *call,
                                 worker_receive *receive, void *context);

// The main loop of the worker process: serves requests until the socket is closed, and does not return.
_Noreturn void worker_serve(int socket, const struct arguments *arguments);

#endif
