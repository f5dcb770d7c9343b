// Elimination: each suspect, a mistake that a kernel may have, predicts an output, and is dropped when an output
// contradicts it.
#ifndef HOST_SUSPECTS_H
#define HOST_SUSPECTS_H

#include "host/problem.h"

enum { MAX_SUSPECTS = 256, NO_MISTAKE = -1 };

struct mistake {
    const char *title;     // "the scores are not scaled"
    const char *reasoning; // a teacher's two or three sentences, which do not give the solution away
};

// Of all outputs of a problem, one after the other.
struct prediction {
    double *value; // [elements]; not finite: the kernel's is not finite either, or not the infinity that is right there
    double *bound; // [elements]; infinite: the suspect cannot tell this element
    int64_t shrunk_from; // rows of the first output from this one on may be smaller by a factor, each by its own
    bool unwritten_fits;
};

struct diagnosed; // see host/diagnosis.h

// What an operation knows of mistakes.
struct suspects {
    int count;
    const struct mistake *(*mistake)(int suspect);
    // Of the suspect, or of the right kernel where it is NO_MISTAKE.
    void (*predict)(int suspect, const struct host_problem *problem, struct prediction *prediction);
    bool (*knows_nan)(int suspect);                     // its predictions hold for inputs with NaN, too
    bool (*finite)(const struct host_problem *problem); // whether the others hold for these inputs
    bool (*usable)(const struct problem_case *which);   // small enough to be predicted by each suspect
    bool (*reduce)(struct problem_case *which);         // makes it so; false where that is not possible
    double (*work)(const struct problem_case *which);   // of one prediction
    double work_of_right;                               // how much of it may go into cases that were right
    const struct problem_case *probe;                   // [probes], cases that tell mistakes apart
    int probes;
    bool (*telling)(const struct problem_case *which); // a probe that the one mistake that is left has to fit, too
    // A closer name for the one that is left, by what else the kernel answers; the same, where there is none.
    const struct mistake *(*refine)(const struct mistake *mistake, const struct diagnosed *kernel,
                                    enum attention_dtype dtype);
};

// What is left after some outputs were heard.
struct lineup {
    const struct suspects *suspects;
    bool dropped[MAX_SUSPECTS];
    int explained[MAX_SUSPECTS]; // wrong outputs
};

// got is an output of the kernel for the problem; NULL: a right one.
void lineup_hear(struct lineup *lineup, const struct host_problem *problem, const float *got);

// True where there are suspects that explained an output, and none of them can tell what this problem gives.
bool lineup_silent(const struct lineup *lineup, const struct host_problem *problem);

// How many mistakes are left that explain at least one wrong output; *only is one of them.
int lineup_left(const struct lineup *lineup, const struct mistake **only);

#endif
