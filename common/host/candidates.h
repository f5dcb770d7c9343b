// Diagnosis by elimination: each model of a mistake predicts an output, and is dropped when an output contradicts it.
#ifndef HOST_CANDIDATES_H
#define HOST_CANDIDATES_H

#include "host/problem.h"

enum { MAX_MODELS = 256, NO_MISTAKE = -1 };

struct advice {
    const char *title;     // "the scores are not scaled"
    const char *reasoning; // a teacher's two or three sentences, which do not give the solution away
};

struct mistake {
    const char *code; // "scale-missing": tests and scripts compare it, never the title
    struct advice advice;
};

// Of all outputs of a problem, one after the other.
struct prediction {
    double *value; // [elements]; not finite: the kernel's is not finite either, or not the infinity that is right there
    double *bound; // [elements]; infinite: the model does not predict this element
    int64_t shrunk_from; // rows of the first output from this one on may be smaller, each by a factor of its own
    bool unwritten_fits;
};

struct diagnosed; // see host/diagnosis.h

// The mistakes that an operation can diagnose.
struct mistake_models {
    int count;
    const struct mistake *(*mistake)(int model);
    // The output of the model, or of the right kernel for NO_MISTAKE.
    void (*predict)(int model, const struct host_problem *problem, struct prediction *prediction);
    bool (*finite)(const struct host_problem *problem); // whether predictions hold for these inputs
    bool (*usable)(const struct problem_case *which);   // small enough for a prediction by each model
    bool (*reduce)(struct problem_case *which);         // makes it small enough; false if impossible
    double (*work)(const struct problem_case *which);   // of one prediction
    double work_of_right;                               // limit of this work for cases that were right
    const struct problem_case *probe;                   // [probes], cases that distinguish mistakes
    int probes;
    bool (*discriminates)(const struct problem_case *which); // a probe that the last remaining mistake must also fit
    // A more specific mistake than the remaining one, found by further probes; the same one if there is none.
    const struct mistake *(*refine)(const struct mistake *mistake, const struct diagnosed *kernel,
                                    enum attention_dtype dtype);
};

// The models that remain after some outputs were observed.
struct candidates {
    const struct mistake_models *mistake_models;
    bool dropped[MAX_MODELS];
    int explained[MAX_MODELS]; // wrong outputs
};

// Drops the models that contradict an output of the kernel for the problem; got NULL: a right output.
void candidates_observe(struct candidates *candidates, const struct host_problem *problem, const float *got);

// True if some models explained an output, but none of them predicts the output of this problem.
bool candidates_cannot_predict(const struct candidates *candidates, const struct host_problem *problem);

// The number of remaining mistakes that explain at least one wrong output; *only is one of them.
int candidates_left(const struct candidates *candidates, const struct mistake **only);

#endif
