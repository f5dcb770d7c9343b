// A case: one problem that a kernel is checked on, described by a few values so that it can be repeated.
#ifndef HOST_CASE_H
#define HOST_CASE_H

#include "dtype.h"
#include "shape.h"

#include <stdint.h>

// The family of the inputs. All but the first are designed to expose a particular mistake.
enum input_family {
    INPUTS_NORMAL,         // N(0,1)
    INPUTS_LARGE,          // scores of some 10^4, every other query's far below -10^4: that is no -infinity
    INPUTS_DOMINANT_FIRST, // one key takes all the weight: the first,
    INPUTS_DOMINANT_LAST,  // the last,
    INPUTS_DOMINANT_EDGE,  // or one beside a tile's edge, another one in each head
    INPUTS_RISING,         // a new maximum at every key
    INPUTS_CONSTANT_VALUE, // every key has the same value, which must come out again
    INPUTS_NAN_KEY,        // one key of one head is NaN
    INPUTS_NAN_VALUE,      // one element of one value is NaN
    INPUTS_INF_KEY,        // one element of one key is infinite: the score is +inf or -inf by the query's sign
    INPUTS_INF_VALUE,      // one element of one value is infinite
    INPUTS_OFFSET,         // a query's scores are all near 1000, the next one's near -1000; values near 100
    INPUTS_TINY,           // so small that products of two underflow in the inputs' own type
    INPUTS_CROWD,          // one key takes most of the weight, all others lie ten below it: together they count
    INPUTS_LOW,            // every other query's scores are all below -10^5
    INPUTS_STEEP,          // scores grow by 4 with each key: by more than 100 from a tile to the next
    INPUTS_FALLING,        // scores fall by 24 every 64 keys, all of them far below 0
    INPUTS_EQUAL,          // all keys of a head are the same
    INPUTS_EQUAL_BUT_ONE,  // and one of them, beside a tile's edge, is 11 above the others
    INPUTS_LATE,           // scores of the first 64 keys are near -200, the others as usual
    INPUTS_TWINS,          // two keys share the weight, some e^87 above the others; a maximum is raised between them
    INPUTS_MASKED,         // softmax: some elements are -inf, never a whole row
    INPUTS_RAGGED,   // decode: requests of any length, also of 0 and 1; every other family but the first has such, too
    INPUTS_HALVING,  // decode: a request is half as long as the one before, eight times
    INPUTS_ONE_LONG, // decode: one long request among short ones
    INPUTS_BAD_LENGTH, // decode: some lengths are negative or more than the cache has room for
    INPUTS_BAD_PAGE,   // decode: some requests have a page number that no page has
    INPUT_FAMILIES
};

// The operation determines which of the two shapes is used.
struct problem_case {
    union {
        struct attention_shape attention;
        struct matrix_shape matrix;
    };
    enum input_family family;
    enum attention_dtype dtype;
    int devices;    // the GPUs that the tensors are split over; 0: the operation knows no more than one
    bool has_scale; // else attention is scaled by 1 / sqrt(head_dim)
    float scale;
};

// The result of a case.
enum outcome { OUTCOME_RIGHT, OUTCOME_WRONG };

struct evidence {
    struct problem_case which;
    uint64_t seed;
    enum outcome outcome;
    bool optional; // the optional outputs were also checked
};

#endif
