// Attention in single precision on the host, right or with a mistake, to try the tolerance on. Where the tensors have
// 16 bits, the weights that meet the values and the results are rounded to their type, once, and nothing else is.
#ifndef FP32_ATTENTION_H
#define FP32_ATTENTION_H

#include "host/problem.h"

enum fp32_kernel {
    FP32_TWO_PASS,         // scores, maximum, weights; every sum from the first key to the last
    FP32_ONLINE,           // running maximum and sum, tiles of 32 keys
    FP32_DROPS_A_KEY,      // the last key is left out
    FP32_NO_MAXIMUM,       // exp() of the bare scores
    FP32_NO_SCALE,         // softmax_scale forgotten
    FP32_TOP_LEFT,         // causal: the mask starts at the top left
    FP32_TAIL_IS_ZERO,     // keys up to a multiple of 32 count with a score of 0
    FP32_HALF_WEIGHTS,     // weights rounded to 11 bits, as fp16 or TF32 would
    FP32_DROPS_EIGHT_KEYS, // the last eight keys are left out
    FP32_BF16_WEIGHTS,     // weights rounded to bf16, whatever the tensors are
    FP32_FP16_SCORES,      // dot products added up in fp16, a rounding at each step
    FP32_ROUNDED_SCORES,   // scores kept in the tensors' type
    FP32_ROUNDED_SUM,      // the sum of the weights kept in the tensors' type, a rounding at each step
    FP32_SUM_OF_ROUNDED,   // the weights as they meet the values are summed, in fp32
    FP32_ROUNDED_OUTPUT,   // the weighted sum kept in the tensors' type, a rounding at each step
    FP32_NOT_RESCALED,     // online, the weighted sum as it stands when the maximum grows
};

// Row row of [batch][heads][nq] into o, [head_dim]. Returns its log-sum-exp.
float fp32_attention_row(const struct host_problem *problem, enum fp32_kernel kernel, int64_t row, float *o);

#endif
