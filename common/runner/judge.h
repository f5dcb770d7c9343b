// The verdict on one call of a kernel.
#ifndef RUNNER_JUDGE_H
#define RUNNER_JUDGE_H

#include "host/verdict.h"
#include "runner/worker.h"

// One call and its verdict.
struct judgement {
    const struct host_problem *host;
    uint64_t seed;
    bool partly;              // only part of the launches may be simulated
    float *kept[MAX_TENSORS]; // then each whole output, since the compared rows are chosen among the written ones
    struct row_sample sample[MAX_TENSORS]; // the rows of each output that are compared
    void *reference;                       // of these
    struct verdict verdict[MAX_TENSORS];   // of each output
    bool judged[MAX_TENSORS];              // it was requested, and some of it was written
    bool nothing;                          // of a partly simulated launch: no row was written in all outputs
    struct worker_result result;
    struct message cause; // of a failed launch; "": it did not fail
    const char *guard;    // the tensor next to which the kernel wrote
    const char *changed;  // the input that was written
};

// The seed chooses the rows.
void judge_begin(struct judgement *judgement, const struct host_problem *host, uint64_t seed, bool partly);

// Calls the kernel and compares its written outputs. True if all of them are right.
bool judge_call(struct judgement *judgement, struct worker *worker, const struct worker_call *call);

// A hash of all elements that were compared.
uint64_t judge_bits(const struct judgement *judgement);

// The heading of the failure, with its code.
const char *judge_failed(const struct judgement *judgement);

void judge_end(struct judgement *judgement);

#endif
