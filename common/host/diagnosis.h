// Names the mistake of a kernel whose output is wrong, where it can tell: it computes what the output would be with
// each classic mistake in it, and names the one that explains all that was seen. What no mistake of the list explains,
// or more than one, stays without a name.
#ifndef HOST_DIAGNOSIS_H
#define HOST_DIAGNOSIS_H

#include "host/matrix.h"

struct mistake {
    const char *title;     // "the scores are not scaled"
    const char *reasoning; // a teacher's two or three sentences, which do not give the solution away
};

enum diagnosis_outcome { DIAGNOSIS_RIGHT, DIAGNOSIS_WRONG };

// A case that was checked.
struct attention_evidence {
    struct attention_case which;
    uint64_t seed;
    enum diagnosis_outcome outcome;
};

struct softmax_evidence {
    struct softmax_case which;
    uint64_t seed;
    enum diagnosis_outcome outcome;
};

// Runs the kernel and writes its whole output, [batch][heads][nq][head_dim]. False where it did not end well.
typedef bool attention_run(void *context, const struct host_inputs *inputs, float *o);

// The same for [rows][columns].
typedef bool softmax_run(void *context, const struct softmax_shape *shape, const float *in, float *out);

// Runs the kernel once more on the cases that were wrong, large ones in a smaller shape, and on a few that tell
// mistakes apart: a name holds for all of them. causal says whether the kernel covers causal masks. NULL: no name.
const struct mistake *diagnosis_attention(const struct attention_evidence *evidence /* [count] */, int count,
                                          bool causal, attention_run *run, void *context);

const struct mistake *diagnosis_softmax(const struct softmax_evidence *evidence /* [count] */, int count,
                                        softmax_run *run, void *context);

// What a finding of the simulator means, by the kind that its line begins with ("race"). NULL: its line says it all.
const struct mistake *diagnosis_finding(const char *kind);

#endif
