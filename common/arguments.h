// The command line of the launcher, which it passes on to the runner.
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include "dtype.h"
#include "message.h"
#include "shape.h"

#include <limits.h>
#include <stdint.h>

enum action { ACTION_CHECK, ACTION_BENCH };
enum device_choice { DEVICE_ANY, DEVICE_GPU, DEVICE_SIMULATOR };
// One case that stands for all: the operation names it.
enum sample { SAMPLE_NONE, SAMPLE_TRACE, SAMPLE_PROFILE, SAMPLE_EXPLORE, SAMPLE_WORK };
enum { MAX_DEVICES = 8 };
enum { MAX_KERNELS = 32, MAX_SIZES = 16 };

struct kernel_argument {
    char library[PATH_MAX]; // the .so
    char source[PATH_MAX];  // the .cu, "" where it was not given
    char name[128];         // "solution-02_vectorized", as results name it
};

// It has no pointers, so that the launcher can send it to the runner as it is. A missing text is "".
struct arguments {
    enum action action;
    enum device_choice device;
    struct kernel_argument kernel[MAX_KERNELS]; // [kernels]; check takes one
    int kernels;
    bool has_shape;
    struct shape_argument shape;
    char shape_text[64];
    int gpus; // over how many GPUs a case is split, 0: the operation chooses
    bool causal;
    struct attention_shape layout; // layout and stride alone
    enum sample sample;            // where no shape was given
    bool has_dtype;                // else the lesson chooses
    enum attention_dtype dtype;
    bool has_scale;      // else 1 / sqrt(head_dim)
    float scale;         // of the scores
    char inputs[32];     // name of an input family, "": the matrix chooses
    char data[PATH_MAX]; // folder of .npy files
    char out[PATH_MAX];  // folder that the output of the one case is written to, "": nowhere
    bool has_seed;
    uint64_t seed;
    int time_limit;         // seconds for one step
    char results[PATH_MAX]; // folder, "": nothing is recorded
    char commit[128];
    bool ready; // only reports whether the options are right and it could run here; no kernel is needed
    // Of bench alone:
    char ceilings[PATH_MAX]; // library that measures what the GPU reaches, "": not asked for
    char state[PATH_MAX];    // folder that remembers a run which is not complete, "": none is continued
    bool fresh;              // starts over instead of resuming a run
    bool lse;                // times the kernels with the log-sum-exp written
    int size[MAX_SIZES];     // [sizes], queries and keys, instead of 256 to 8192
    int sizes;
    bool quick; // a handful of cases
    bool small; // the simulator's cases, on a GPU too: for tools that slow a kernel down a hundredfold
    bool verbose;
};

// argv[0] is skipped.
bool arguments_parse(int argc, char **argv, struct arguments *arguments, struct message *error);

// The launcher sends the parsed arguments in a memory file that its child inherits, and returns the descriptor; the
// runner reads them. Both end the process with one line on failure.
int arguments_send(const struct arguments *arguments);
void arguments_receive(struct arguments *arguments);

#endif
