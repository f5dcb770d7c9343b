// Seeded inputs. A value depends only on seed, tensor and position, so that a case can be repeated, and filled by any
// number of threads.
#ifndef HOST_INPUTS_H
#define HOST_INPUTS_H

#include "host/case.h"

#include <stdint.h>

const char *inputs_name(enum input_family family);

// False and a line with all names if the name is unknown.
bool inputs_from_name(const char *name, enum input_family *family, struct message *error);

// A well-mixed 64-bit function of the seed, a stream and a counter; the only source of random numbers in the harness.
// Streams below INPUTS_STREAMS are for the tensors of an operation.
enum { INPUTS_STREAMS = 50 };
uint64_t inputs_random(uint64_t seed, uint64_t stream, uint64_t counter);

// Fills row number row_index of a tensor with N(0,1).
void inputs_normal_row(float *row, int64_t row_index, int columns, uint64_t seed, uint64_t stream);

// A tensor of more than 2^24 values repeats itself. Returns how many rows are stored: all, or an odd number, so that
// heads with a power of two keys differ.
int64_t inputs_kept(int64_t rows, int columns);

// A position next to a boundary of tiles of 16 to 128, different for each index.
int inputs_edge(int64_t index, int size);

#endif
