// A chunk is 16 bytes of a row of 16-bit elements: one vectorized load or store, or one row of an ldmatrix matrix.
#pragma once

#include "attention.h"

#include <stdint.h>

constexpr int CHUNK = 8;         // elements
constexpr int PANEL = 8 * CHUNK; // columns of a panel: its rows have 128 bytes, and the swizzle permutes their chunks

// Whether all tensors begin at a multiple of 16 bytes.
static inline bool tensors_are_aligned(const struct attention_problem *p) {
    return ((uintptr_t)p->q | (uintptr_t)p->k | (uintptr_t)p->v | (uintptr_t)p->o) % 16 == 0;
}
