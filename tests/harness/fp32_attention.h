// Attention in single precision on the host, right or with a mistake, to try the tolerance on.
#ifndef FP32_ATTENTION_H
#define FP32_ATTENTION_H

#include "host/inputs.h"

enum fp32_kernel {
    FP32_TWO_PASS,     // scores, maximum, weights; every sum from the first key to the last
    FP32_ONLINE,       // running maximum and sum, tiles of 32 keys
    FP32_DROPS_A_KEY,  // the last key is left out
    FP32_NO_MAXIMUM,   // exp() of the bare scores
    FP32_NO_SCALE,     // softmax_scale forgotten
    FP32_TOP_LEFT,     // causal: the mask starts at the top left
    FP32_TAIL_IS_ZERO, // keys up to a multiple of 32 count with a score of 0
    FP32_HALF_WEIGHTS, // weights rounded to 11 bits, as fp16 or TF32 would
};

// Row row of [batch][heads][nq] into o, [head_dim].
void fp32_attention_row(const struct host_inputs *inputs, enum fp32_kernel kernel, int64_t row, float *o);

#endif
