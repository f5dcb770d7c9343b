// The element types of tensors, and their properties.
#ifndef DTYPE_H
#define DTYPE_H

#include "attention_dtype.h"
#include "message.h"

#include <stddef.h>
#include <stdint.h>

enum { ATTENTION_DTYPES = 5 };

struct dtype {
    const char *name; // "bf16", in DTYPE=, in results, in what is printed
    size_t size;      // bytes
    // Half of the distance between 1 and the next number: a rounding is off by at most this share of the result.
    double unit_roundoff;
    const char *npy; // as .npy files call it
};

const struct dtype *dtype_of(enum attention_dtype dtype);

// False and one line if the name is unknown.
bool dtype_from_name(const char *name, enum attention_dtype *dtype, struct message *error);

// The names of a set of types, bit 1u << ATTENTION_FP32 and so on: "fp16 or bf16".
const char *dtype_names(unsigned set, char text[32]);

// Rounds value to the type, ties to even, as the GPU's conversions do; to e4m3 and int32 with saturation.
float dtype_round(enum attention_dtype dtype, float value);

// Stores count values in the type, and loads them. Poison is loaded as fp32 poison (is_poison()).
void dtype_store(enum attention_dtype dtype, const float *values, int64_t count, void *to);
void dtype_load(enum attention_dtype dtype, const void *from, int64_t count, float *values);

// The initial contents of an output: every bit set, as by cudaMemset() with 0xFF. This is a NaN of each type that no
// arithmetic instruction of a GPU produces.
enum { POISON_BYTE = 0xFF };
bool is_poison(float value);

#endif
