// What the parts of attention_stages() share: the weights of a case, and which of them are not right.
#ifndef OPERATIONS_ATTENTION_STAGES_H
#define OPERATIONS_ATTENTION_STAGES_H

#include "operations/attention_observed.h"

#include <stdio.h>

struct stages {
    struct observed x;
    bool *wrong;    // [rows]
    double *factor; // [rows], of those weights that are in the right proportion to each other
    bool *odd;      // [nk], in some wrong row not of that proportion
    FILE *out;
};

static inline const double *got_of(const struct stages *s, int64_t row) {
    return s->x.got + row * s->x.which.attention.nk;
}
static inline const double *right_of(const struct stages *s, int64_t row) {
    return s->x.right + row * s->x.which.attention.nk;
}

// A line of what the kernel does.
void stages_say(const struct stages *stages, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Whether the keys that are not in proportion have no weight at all.
bool stages_left_out(const struct stages *stages);

// Which keys are not in proportion, and what they have instead; odd: how many they are.
void stages_say_keys(const struct stages *stages, int odd);

// The keys of a row are in proportion within each of a few runs of neighbouring keys, but not from one to the next.
bool stages_say_parts(const struct stages *stages);

// They are so where their numbers differ by a multiple of the threads or lanes, but not from one of those to the next.
bool stages_say_threads(const struct stages *stages);

// Keys from some number on have the values of earlier ones.
bool stages_say_moved(const struct stages *stages);

// Runs of keys of a row have the weights of other rows.
bool stages_say_mixture(const struct stages *stages);

#endif
