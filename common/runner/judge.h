// What came out of one call of a kernel.
#ifndef RUNNER_JUDGE_H
#define RUNNER_JUDGE_H

#include "host/verdict.h"
#include "runner/worker.h"

// What came out of one call.
struct judgement {
    const struct host_problem *host;
    uint64_t seed;
    bool partly;                         // perhaps not all of its launches is run
    float *kept[MAX_TENSORS];            // then: each output whole, since the rows are chosen of those that are there
    struct row_sample sample;            // the rows that are compared
    void *reference;                     // of these
    struct verdict verdict[MAX_TENSORS]; // of each output
    bool judged[MAX_TENSORS];            // it was not left away, and some of it is there
    bool nothing;                        // of a part: no row is there in all outputs
    struct worker_result result;
    struct message cause; // of a launch that failed; "" where it did not
    const char *guard;    // the tensor beside which something was written
    const char *changed;  // the input that was written
};

// The seed chooses the rows.
void judge_begin(struct judgement *judgement, const struct host_problem *host, uint64_t seed, bool partly);

// Has the kernel called and judges its outputs: whether all is right, as far as it is there.
bool judge_call(struct judgement *judgement, const struct worker *worker, const struct worker_call *call);

// What failed, in a few words.
const char *judge_failed(const struct judgement *judgement);

void judge_end(struct judgement *judgement);

#endif
