// What came out of one call of a kernel.
#ifndef RUNNER_JUDGE_H
#define RUNNER_JUDGE_H

#include "host/verdict.h"
#include "runner/worker.h"

// What came out of one call.
struct judgement {
    struct verdict verdict[MAX_TENSORS]; // of each output
    bool judged[MAX_TENSORS];            // it was not left away
    struct worker_result result;
    struct message cause; // of a launch that failed; "" where it did not
    const char *guard;    // the tensor beside which something was written
    const char *changed;  // the input that was written
};

// reference: of the sample. partly: what was not written was not to be.
void judge_begin(struct judgement *judgement, const struct host_problem *host, const struct row_sample *sample,
                 const void *reference, bool partly);

// The next rows of an output, as a worker_take; context: the judgement.
void judge_rows(void *context, int output, int64_t row, int64_t rows, const float *values);

// What failed, in a few words.
const char *judge_failed(const struct judgement *judgement);

// Whether of an output nothing is known, since too little of the launch was run.
bool judge_of_nothing(const struct judgement *judgement, const struct host_problem *host);

void judge_end(struct judgement *judgement, const struct host_problem *host);

#endif
