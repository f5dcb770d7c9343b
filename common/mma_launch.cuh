// The host side of the lessons whose warps issue mma.sync and load tiles themselves; a lesson includes it at its end.
// The lesson defines attention_kernel<T>, launch<T>() and Configs<E>.
#pragma once

#include "attention.h"

constexpr int MIN_COMPUTE_CAPABILITY = 80;
constexpr int ALIGNMENT = 0;              // head_dim and strides are not restricted
constexpr int SMALLER_TILES_MAX_NQ = 512; // of causal attention

// Tensors begin at multiples of 16 bytes; rows need not.
static inline bool rows_are_supported(const struct attention_problem *) {
    return true;
}

#include "launch_16bit.cuh"
