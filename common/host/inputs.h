// Seeded inputs. A value is a function of seed, tensor and place alone, so that a case can be repeated and filled by
// any number of threads.
#ifndef HOST_INPUTS_H
#define HOST_INPUTS_H

#include "message.h"
#include "shape.h"

#include <stdint.h>

// What the inputs look like. All but the first are built to break a particular mistake.
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
    INPUTS_TINY,           // around 10^-20: products of two underflow
    INPUTS_MASKED,         // softmax: some elements are -inf, never a whole row
    INPUT_FAMILIES
};

const char *inputs_name(enum input_family family);

// False and a line with all the names where the name is unknown.
bool inputs_from_name(const char *name, enum input_family *family, struct message *error);

// q, k and v on the host in [batch][heads][n][head_dim] order, whatever the layout on the device. A tensor of more
// than 2^24 values repeats itself: row r is kept at (r % rows) * head_dim.
struct host_inputs {
    struct attention_shape shape;
    float *q, *k, *v;
    int64_t q_rows, k_rows; // rows kept of q, and of k and v
    float softmax_scale;
    bool finite; // no NaN and no infinity in any of them
};

struct host_inputs inputs_attention(const struct attention_shape *shape, enum input_family family, uint64_t seed);
void inputs_free(struct host_inputs *inputs);

static inline const float *inputs_row(const float *tensor, int64_t rows, int64_t row, int head_dim) {
    return tensor + (row % rows) * head_dim;
}

// A matrix for the row softmax: shape->rows rows, of which as many are kept as *kept says; row r is at
// (r % *kept) * columns.
float *inputs_matrix(const struct softmax_shape *shape, enum input_family family, uint64_t seed, int64_t *kept);

// A well-mixed 64-bit function of the seed, a stream and a counter; the only source of chance in the harness.
uint64_t inputs_random(uint64_t seed, uint64_t stream, uint64_t counter);

#endif
