// The command line that the launcher and the runner share.
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include "message.h"
#include "shape.h"

#include <stdint.h>

enum action { ACTION_CHECK, ACTION_BENCH };
enum device_choice { DEVICE_ANY, DEVICE_GPU, DEVICE_SIMULATOR };
enum { MAX_KERNELS = 32, MAX_SIZES = 16 };

struct kernel_argument {
    const char *library; // the .so
    const char *source;  // the .cu, NULL where it was not given
    char name[128];      // "solution-02_vectorized", as results name it
};

struct arguments {
    enum action action;
    enum device_choice device;
    struct kernel_argument kernel[MAX_KERNELS]; // [kernels]; check takes one
    int kernels;
    bool has_shape;
    struct shape_argument shape;
    const char *shape_text;
    bool causal;
    enum layout layout;
    const char *inputs; // name of an input family, NULL: the matrix chooses
    const char *data;   // folder of .npy files, or NULL
    bool has_seed;
    uint64_t seed;
    int time_limit;      // seconds for one step
    const char *results; // folder, NULL: nothing is recorded
    const char *commit;  // "" where it was not given
    // Of bench alone:
    const char *ceilings; // library that measures what the GPU reaches, NULL: not asked for
    const char *state;    // folder that remembers a run which is not complete, NULL: none is continued
    bool fresh;           // starts over where a run could go on
    bool ready;           // only says whether it could run here; no kernel is needed
    int size[MAX_SIZES];  // [sizes], queries and keys in the place of 256 to 8192
    int sizes;
    bool quick; // a handful of cases
    bool small; // the simulator's cases, on a GPU too: for tools that slow a kernel down a hundredfold
    bool verbose;
};

// argv[0] is skipped. The strings stay argv's own.
bool arguments_parse(int argc, char **argv, struct arguments *arguments, struct message *error);

#endif
