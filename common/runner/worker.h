// The kernel in a process of its own. The judge, which has the reference and prints the verdict, starts it before
// anything of CUDA or of the kernel is there, gives it inputs, and gets outputs back over a socket; neither can touch
// the other's memory. A worker that ends, or that the kernel ends, is an error of the check.
#ifndef RUNNER_WORKER_H
#define RUNNER_WORKER_H

#include "runner/device.h"
#include "runner/finish.h"
#include "runner/kernel.h"

struct worker {
    int socket;
    int process;
    struct device device;
    // What the kernel's library said of itself when it was loaded.
    const struct kernel_argument *argument;
    const struct operation *operation;
    unsigned dtypes;
    bool gives_optional, repeats;
    char lacking[256]; // what this machine lacks that it needs; "": nothing
};

struct worker worker_start(const struct arguments *arguments);

// Lets it end, and waits for that.
void worker_end(struct worker *worker);

// Like kernel_covers() and problem_fits().
bool worker_covers(const struct worker *worker, const struct problem_case *which, struct obstacle *obstacle);
bool worker_fits(const struct worker *worker, const struct problem_case *which, struct message *reason);

// How a call is to be made.
struct worker_call {
    bool optional;   // with the optional outputs
    bool delayed;    // the inputs come late, in a stream that nothing else waits for
    bool again;      // in the tensors of the call before, as that left them
    bool beside;     // while another call, of the same inputs in tensors of its own, is made in another stream
    uint64_t budget; // warp instructions that the simulator runs of it, 0: all
    uint64_t order;  // in which blocks and warps begin on the simulator, 0: their own
    uint64_t places; // see problem_create()
    const char *out; // folder that the outputs are written to, "": none
};

// What came of it.
struct worker_result {
    uint64_t nonce; // of the question
    bool good;
    enum device_state state;
    struct message cause;        // "" where nothing failed
    enum device_part part;       // how much of the launches was run, and what that tells
    uint64_t whole;              // warp instructions that all of it would have taken, 0: not known
    char guard[16], changed[16]; // the tensor beside which, the input in which something was written; "": none
    bool has[MAX_TENSORS];       // of each output: it is there, and can be read
    int first_finding;           // of the simulator's, -1: none so far
};

// Calls the kernel. take is given the rows of each output, in the order of the host.
typedef void worker_take(void *context, int output, int64_t row, int64_t rows, const float *values);
struct worker_result worker_call(const struct worker *worker, const struct host_problem *host,
                                 const struct worker_call *call, worker_take *take, void *context);

// The worker's own part: serves until the judge is gone, and does not return.
_Noreturn void worker_serve(int socket, const struct arguments *arguments);

#endif
