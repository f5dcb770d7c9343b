// The cases that a check runs.
#ifndef HOST_MATRIX_H
#define HOST_MATRIX_H

#include "host/inputs.h"
#include "shape.h"

enum { MAX_CASES = 256 };

enum matrix_kind {
    MATRIX_GPU,
    MATRIX_SIMULATOR, // smaller shapes: on two cores lesson 01 takes 4 seconds for a million pairs of query and key
    MATRIX_QUICK,     // a few cases that find most mistakes in a second or two, also on the simulator
};

struct attention_case {
    struct attention_shape shape;
    enum input_family family;
};

// Writes the cases and returns how many there are. Which of them a lesson covers is for the caller to say.
int matrix_attention(enum matrix_kind kind, struct attention_case cases[MAX_CASES]);

struct softmax_case {
    struct softmax_shape shape;
    enum input_family family;
};

int matrix_softmax(enum matrix_kind kind, struct softmax_case cases[MAX_CASES]);

#endif
