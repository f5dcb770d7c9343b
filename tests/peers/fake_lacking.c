// A baseline whose library is not installed.
#include "attention.h"

static const char *unavailable(void) {
    return "a library is not installed";
}

const struct attention_lesson attention_lesson = {
    .dtypes = 1u << ATTENTION_FP32, .max_head_dim = 512, .unavailable = unavailable};

cudaError_t attention_forward(const struct attention_problem *problem, cudaStream_t stream) {
    (void)problem, (void)stream;
    return cudaErrorSharedObjectInitFailed;
}
