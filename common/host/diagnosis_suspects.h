// Elimination: each suspect predicts an output, and is dropped when an output contradicts it.
#ifndef HOST_DIAGNOSIS_SUSPECTS_H
#define HOST_DIAGNOSIS_SUSPECTS_H

#include "host/diagnosis.h"

enum { MAX_SUSPECTS = 192, NO_MISTAKE = -1 };

struct prediction {
    double *value; // [elements]; not finite: the kernel's is not finite either
    double *bound; // [elements]; infinite: the suspect cannot tell this element
    bool unwritten_fits;
};

struct suspects {
    int count;
    const struct mistake *(*mistake)(int suspect);
    // Of the suspect, or of the right kernel where it is NO_MISTAKE.
    void (*predict)(int suspect, const void *problem, struct prediction *prediction);
    bool (*knows_nan)(int suspect); // its predictions hold for inputs with NaN and infinities, too
    bool dropped[MAX_SUSPECTS];
    int explained[MAX_SUSPECTS]; // wrong outputs
};

// got is an output of the kernel for the problem; NULL: a right one. finite: the problem's inputs are.
void suspects_hear(struct suspects *suspects, const void *problem, int64_t elements, bool finite, const float *got);

// True where there are suspects that explained an output, and none of them can tell what this problem gives.
bool suspects_silent(const struct suspects *suspects, const void *problem, int64_t elements);

// True where got is right.
bool suspects_right(const struct suspects *suspects, const void *problem, int64_t elements, const float *got);

// How many mistakes are left that explain at least one wrong output; *only is one of them.
int suspects_left(const struct suspects *suspects, const struct mistake **only);

#endif
