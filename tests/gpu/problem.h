// A kernel's library, and problems for it, as the programs here launch them.
#pragma once

#include "attention.h"

#include <stddef.h>

typedef cudaError_t attention_function(const struct attention_problem *, cudaStream_t);

struct shape {
    int batch, heads, kv_heads, nq, nk, head_dim, causal;
};

// One line and exit status 2 where a call has failed.
void require(cudaError_t error, const char *what);

// A problem in device memory: numbers that look random, of whole 64ths up to 2 in size, which each type holds exactly.
// *output_bytes from p.o on are output and log-sum-exp.
struct attention_problem make_problem(const struct attention_lesson *lesson, const struct shape *s,
                                      enum attention_dtype dtype, size_t *output_bytes);
void free_problem(struct attention_problem *p);

// Why the device cannot run the lesson, or NULL.
const char *obstacle(const struct attention_lesson *lesson);
